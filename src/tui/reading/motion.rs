//! Where the cursor goes: motions as in vi.

use super::cells::{CharClass, LineCells};
use super::state::{PaneReading, TextPlace};
use crate::model::Size;
use crate::tui::keys::CursorMotion;

impl PaneReading {
    /// Moves the cursor, so often.
    pub(crate) fn step(&mut self, motion: CursorMotion, count: Option<u32>, view: Size) {
        let times = count.unwrap_or(1).max(1);
        let cursor = self.cursor;
        match motion {
            CursorMotion::Up => return self.move_lines(-i64::from(times), view),
            CursorMotion::Down => return self.move_lines(i64::from(times), view),
            CursorMotion::Oldest => {
                let line = self.kept_from() + count.map_or(0, |count| u64::from(count) - 1);
                self.want(line);
                return self.move_to(TextPlace { line, col: 0 }, view);
            }
            CursorMotion::Newest => {
                let last = self.last_text_line();
                let line = count.map_or(last, |count| self.kept_from() + u64::from(count) - 1);
                self.scroll_by(if count.is_none() { i64::MAX } else { 0 }, view);
                return self.move_to(TextPlace { line: line.min(last), col: 0 }, view);
            }
            CursorMotion::WindowTop => {
                let line = self.top + u64::from(times) - 1;
                return self.move_to_line(line, view);
            }
            CursorMotion::WindowMiddle => {
                return self.move_to_line(self.top + u64::from(view.rows / 2), view);
            }
            CursorMotion::WindowBottom => {
                let bottom = self.top + u64::from(view.rows.saturating_sub(1));
                return self.move_to_line(bottom.saturating_sub(u64::from(times) - 1), view);
            }
            CursorMotion::LineStart => {
                return self.move_to(TextPlace { col: 0, ..cursor }, view);
            }
            CursorMotion::TextStart => {
                let col = self.cells(cursor.line).first_text_col();
                return self.move_to(TextPlace { col, ..cursor }, view);
            }
            CursorMotion::LineEnd => {
                let col = self.cells(cursor.line).last_col();
                self.move_to(TextPlace { col, ..cursor }, view);
                // Up and down go on along the ends of lines.
                self.goal = u16::MAX;
                return;
            }
            CursorMotion::Left
            | CursorMotion::Right
            | CursorMotion::WordNext
            | CursorMotion::WordBack
            | CursorMotion::WordEnd
            | CursorMotion::BigWordNext
            | CursorMotion::BigWordBack
            | CursorMotion::BigWordEnd
            | CursorMotion::ParagraphBack
            | CursorMotion::ParagraphNext => {}
        }
        let mut walker = Walker::new(self, cursor);
        for _ in 0..times.min(STEPS_MAX) {
            let before = walker.place();
            walker.go(motion);
            if walker.place() == before {
                break;
            }
        }
        let place = walker.place();
        self.move_to(place, view);
    }

    fn move_lines(&mut self, lines: i64, view: Size) {
        let line = self.cursor.line.saturating_add_signed(lines);
        let last = self.end().saturating_sub(1);
        self.want(line);
        self.move_to_line(line.clamp(self.kept_from(), last), view);
    }
}

/// More than anybody counts.
const STEPS_MAX: u32 = 10_000;

/// Walks through the text, cell by cell.
struct Walker<'a> {
    reading: &'a PaneReading,
    line: u64,
    cells: LineCells,
    index: usize,
}

impl<'a> Walker<'a> {
    fn new(reading: &'a PaneReading, place: TextPlace) -> Self {
        let cells = reading.cells(place.line);
        let index = cells.index(place.col).min(cells.count().saturating_sub(1));
        Self { reading, line: place.line, cells, index }
    }

    fn place(&self) -> TextPlace {
        TextPlace { line: self.line, col: self.cells.col(self.index) }
    }

    fn go(&mut self, motion: CursorMotion) {
        match motion {
            CursorMotion::Left => self.index = self.index.saturating_sub(1),
            CursorMotion::Right => {
                self.index = (self.index + 1).min(self.cells.count().saturating_sub(1));
            }
            CursorMotion::WordNext => self.word_next(false),
            CursorMotion::BigWordNext => self.word_next(true),
            CursorMotion::WordBack => self.word_back(false),
            CursorMotion::BigWordBack => self.word_back(true),
            CursorMotion::WordEnd => self.word_end(false),
            CursorMotion::BigWordEnd => self.word_end(true),
            CursorMotion::ParagraphBack => self.paragraph(false),
            CursorMotion::ParagraphNext => self.paragraph(true),
            CursorMotion::Up
            | CursorMotion::Down
            | CursorMotion::Oldest
            | CursorMotion::Newest
            | CursorMotion::WindowTop
            | CursorMotion::WindowMiddle
            | CursorMotion::WindowBottom
            | CursorMotion::LineStart
            | CursorMotion::TextStart
            | CursorMotion::LineEnd => {}
        }
    }

    /// Returns what stands under the walker; with big words, all signs are letters.
    fn class(&self, is_big: bool) -> CharClass {
        match self.cells.class(self.index) {
            _ if self.cells.is_blank() => CharClass::Blank,
            CharClass::Sign if is_big => CharClass::Word,
            class @ (CharClass::Blank | CharClass::Word | CharClass::Sign) => class,
        }
    }

    fn go_to_line(&mut self, line: u64) {
        (self.line, self.cells) = (line, self.reading.cells(line));
    }

    /// Goes to the next cell; says whether that begins another line, or nothing if there is none.
    fn forward(&mut self) -> Option<bool> {
        if self.index + 1 < self.cells.count() {
            self.index += 1;
            return Some(false);
        }
        let next = Some(self.line + 1).filter(|next| *next < self.reading.end())?;
        let is_another = !self.reading.is_wrapped(self.line);
        self.go_to_line(next);
        self.index = 0;
        Some(is_another)
    }

    /// Goes to the cell before; says whether that ends another line, or nothing if there is none.
    fn backward(&mut self) -> Option<bool> {
        if self.index > 0 {
            self.index -= 1;
            return Some(false);
        }
        let oldest = self.reading.loaded_from().max(self.reading.kept_from());
        let before = self.line.checked_sub(1).filter(|before| *before >= oldest)?;
        self.go_to_line(before);
        self.index = self.cells.count().saturating_sub(1);
        Some(!self.reading.is_wrapped(before))
    }

    fn word_next(&mut self, is_big: bool) {
        let mut class = self.class(is_big);
        while let Some(is_another) = self.forward() {
            let here = self.class(is_big);
            if (is_another || here != class) && (here != CharClass::Blank || self.cells.is_blank())
            {
                return;
            }
            class = here;
        }
    }

    fn word_back(&mut self, is_big: bool) {
        let Some(_) = self.backward() else { return };
        while self.class(is_big) == CharClass::Blank && !self.cells.is_blank() {
            let Some(_) = self.backward() else { return };
        }
        self.go_to_edge(is_big, Self::backward);
    }

    fn word_end(&mut self, is_big: bool) {
        let Some(_) = self.forward() else { return };
        while self.class(is_big) == CharClass::Blank {
            let Some(_) = self.forward() else { return };
        }
        self.go_to_edge(is_big, Self::forward);
    }

    /// Goes on to the last cell of the word that it stands in.
    fn go_to_edge(&mut self, is_big: bool, step: fn(&mut Self) -> Option<bool>) {
        let class = self.class(is_big);
        loop {
            let (line, index) = (self.line, self.index);
            let is_inside = step(self).is_some_and(|is_another| !is_another);
            if !is_inside || self.class(is_big) != class {
                self.go_to_line(line);
                self.index = index;
                return;
            }
        }
    }

    /// Goes to the blank line before or after the paragraph.
    fn paragraph(&mut self, is_forward: bool) {
        let (first, last) = (self.reading.kept_from(), self.reading.last_text_line());
        let mut has_text = !self.cells.is_blank();
        loop {
            let next = if is_forward { self.line + 1 } else { self.line.saturating_sub(1) };
            if next < first.max(self.reading.loaded_from()) || next > last || next == self.line {
                self.index = if is_forward { self.cells.count().saturating_sub(1) } else { 0 };
                return;
            }
            self.go_to_line(next);
            self.index = 0;
            if self.cells.is_blank() && has_text {
                return;
            }
            has_text |= !self.cells.is_blank();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::{VIEW, reading};
    use super::*;

    /// Returns where motions end that begin at the first cell.
    fn walked(lines: &[&str], motions: &[CursorMotion]) -> (u64, u16) {
        let mut reading = reading(0, lines);
        reading.move_to(TextPlace::default(), VIEW);
        for motion in motions {
            reading.step(*motion, None, VIEW);
        }
        (reading.cursor.line, reading.cursor.col)
    }

    #[test]
    fn words_are_those_of_vi() {
        use CursorMotion::{BigWordBack, BigWordEnd, BigWordNext, WordBack, WordEnd, WordNext};
        let lines = ["let x = foo.bar(1);", "", "  end"];
        assert_eq!(walked(&lines, &[WordNext]), (0, 4));
        assert_eq!(walked(&lines, &[WordNext, WordNext, WordNext]), (0, 8));
        assert_eq!(walked(&lines, &[WordNext; 4]), (0, 11), "a sign is a word of its own");
        assert_eq!(walked(&lines, &[BigWordNext; 4]), (1, 0), "so is an empty line");
        assert_eq!(walked(&lines, &[BigWordNext; 5]), (2, 2));
        assert_eq!(walked(&lines, &[WordEnd; 2]), (0, 4));
        assert_eq!(walked(&lines, &[WordEnd; 4]), (0, 10));
        assert_eq!(walked(&lines, &[BigWordEnd; 5]), (2, 4));
        assert_eq!(walked(&lines, &[BigWordNext, BigWordNext, WordBack]), (0, 4));
        assert_eq!(
            walked(&lines, &[BigWordEnd, BigWordEnd, BigWordEnd, BigWordEnd, BigWordBack]),
            (0, 8)
        );
    }

    #[test]
    fn lines_paragraphs_and_the_window_have_their_ends() {
        use CursorMotion::{
            Down, LineEnd, Newest, Oldest, ParagraphBack, ParagraphNext, TextStart, Up,
            WindowBottom, WindowMiddle, WindowTop,
        };
        let lines = ["  one", "two long", "", "three", "four", "", "five"];
        assert_eq!(walked(&lines, &[LineEnd]), (0, 4));
        assert_eq!(walked(&lines, &[LineEnd, Down]), (1, 7), "along the ends");
        assert_eq!(walked(&lines, &[TextStart]), (0, 2));
        assert_eq!(walked(&lines, &[ParagraphNext]), (2, 0));
        assert_eq!(walked(&lines, &[ParagraphNext; 2]), (5, 0));
        assert_eq!(walked(&lines, &[ParagraphNext; 3]), (6, 3));
        assert_eq!(walked(&lines, &[Newest, ParagraphBack]), (5, 0));
        assert_eq!(walked(&lines, &[Newest]), (6, 0), "not the blank rows below");
        assert_eq!(walked(&lines, &[Newest, Oldest]), (0, 0));
        assert_eq!(walked(&lines, &[Down, Down, Down, Up]), (2, 0));
        assert_eq!(walked(&lines, &[WindowBottom]), (9, 0));
        assert_eq!(walked(&lines, &[WindowMiddle]), (5, 0));
        assert_eq!(walked(&lines, &[WindowMiddle, WindowTop]), (0, 0));
    }

    #[test]
    fn a_motion_is_done_as_often_as_was_said() {
        let mut reading = reading(0, &["a b c d e f"]);
        reading.move_to(TextPlace::default(), VIEW);
        reading.step(CursorMotion::WordNext, Some(3), VIEW);
        assert_eq!(reading.cursor.col, 6);
        reading.step(CursorMotion::Left, Some(99), VIEW);
        assert_eq!(reading.cursor.col, 0);
        reading.step(CursorMotion::Down, Some(99), VIEW);
        assert_eq!(reading.cursor.line, 23);
        reading.step(CursorMotion::Newest, Some(5), VIEW);
        assert_eq!(reading.cursor.line, 0, "no further than the text");
    }
}
