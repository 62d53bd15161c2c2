//! What is selected in a pane, and its text.

use std::ops::RangeInclusive;

use super::state::{PaneReading, TextPlace, TextSpan};
use crate::model::is_deceptive;

/// A selection from its anchor to the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub anchor: TextPlace,
    pub shape: SelectionShape,
}

/// What belongs to a selection between its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectionShape {
    Chars,
    Lines,
    Block,
}

impl PaneReading {
    /// Begins to select at the cursor, changes the shape of what is selected, or ends it.
    pub(crate) fn select(&mut self, shape: SelectionShape) {
        self.selection = match self.selection {
            Some(selection) if selection.shape == shape => None,
            Some(selection) => Some(Selection { shape, ..selection }),
            None => Some(Selection { anchor: self.cursor, shape }),
        };
    }

    /// Selects a stretch; the cursor goes to its end.
    pub(crate) fn select_span(&mut self, span: TextSpan) {
        self.selection = Some(Selection { anchor: span.from, shape: SelectionShape::Chars });
        (self.cursor, self.goal) = (span.to, span.to.col);
    }

    /// Returns the word under a place, as a double click takes it.
    pub(crate) fn word_at(&self, place: TextPlace) -> Option<TextSpan> {
        let (from, to) = self.cells(place.line).clicked_word(place.col)?;
        let on_line = |col| TextPlace { line: place.line, col };
        Some(TextSpan { from: on_line(from), to: on_line(to) })
    }

    /// Returns the line of a place, as a triple click takes it: all rows that the terminal made of it.
    pub(crate) fn line_at(&self, place: TextPlace) -> TextSpan {
        let (mut first, mut last) = (place.line, place.line);
        while first > self.kept_from() && self.is_wrapped(first - 1) {
            first -= 1;
        }
        while self.is_wrapped(last) && last + 1 < self.end() {
            last += 1;
        }
        let to = TextPlace { line: last, col: self.cells(last).last_col() };
        TextSpan { from: TextPlace { line: first, col: 0 }, to }
    }

    /// Returns the columns of a line that are selected.
    pub(crate) fn selected_on(&self, line: u64) -> Option<RangeInclusive<u16>> {
        let Selection { anchor, shape } = self.selection?;
        let (from, to) = (anchor.min(self.cursor), anchor.max(self.cursor));
        if !(from.line..=to.line).contains(&line) {
            return None;
        }
        Some(match shape {
            SelectionShape::Lines => 0..=u16::MAX,
            SelectionShape::Block => {
                anchor.col.min(self.cursor.col)..=anchor.col.max(self.cursor.col)
            }
            SelectionShape::Chars => {
                let first = if line == from.line { from.col } else { 0 };
                let last = if line == to.line { to.col } else { u16::MAX };
                first..=last
            }
        })
    }

    /// Returns the text that is selected. Rows that the terminal made of one line are one again, and
    /// blanks at the ends of lines are left out.
    pub(crate) fn selected_text(&self) -> Option<String> {
        let Selection { anchor, shape } = self.selection?;
        let (from, to) = (anchor.min(self.cursor), anchor.max(self.cursor));
        Some(self.text_of(from.line, to.line, shape != SelectionShape::Block, |line| {
            self.selected_on(line)
        }))
    }

    /// Returns the text of every line that is here.
    pub(crate) fn whole_text(&self) -> String {
        let last = self.last_text_line();
        self.text_of(self.kept_from(), last, true, |_| Some(0..=u16::MAX))
    }

    fn text_of(
        &self,
        first: u64,
        last: u64,
        joins: bool,
        columns: impl Fn(u64) -> Option<RangeInclusive<u16>>,
    ) -> String {
        let mut text = String::new();
        for line in first..=last {
            let Some(columns) = columns(line) else { continue };
            let cells = self.cells(line);
            let part = cells.text_between(*columns.start(), *columns.end());
            let goes_on = joins && self.is_wrapped(line) && line < last;
            text.push_str(if goes_on { part } else { part.trim_end() });
            if !goes_on && line < last {
                text.push('\n');
            }
        }
        text.chars().map(|c| if c == BLANK { ' ' } else { c }).filter(|c| is_copied(*c)).collect()
    }
}

/// The Braille pattern without a dot: charts are full of it.
const BLANK: char = '\u{2800}';

/// Make one picture of several, as in the emoji of a family, or choose how one looks.
const PARTS: [char; 3] = ['\u{200d}', '\u{fe0e}', '\u{fe0f}'];

/// Says whether a character was there to be seen: nothing else is copied.
fn is_copied(c: char) -> bool {
    c == '\n' || !is_deceptive(c) || PARTS.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::{VIEW, reading};
    use super::*;
    use crate::model::Row;
    use crate::tui::tests::fixture::row;

    fn at(line: u64, col: u16) -> TextPlace {
        TextPlace { line, col }
    }

    fn selected(lines: &[&str], shape: SelectionShape, from: TextPlace, to: TextPlace) -> String {
        let mut reading = reading(0, lines);
        reading.move_to(from, VIEW);
        reading.select(shape);
        reading.move_to(to, VIEW);
        reading.selected_text().unwrap()
    }

    #[test]
    fn characters_lines_and_blocks_are_taken_in_either_direction() {
        use SelectionShape::{Block, Chars, Lines};
        let lines = ["one two  ", "three four", "five six"];
        assert_eq!(selected(&lines, Chars, at(0, 4), at(1, 4)), "two\nthree");
        assert_eq!(selected(&lines, Chars, at(1, 4), at(0, 4)), "two\nthree");
        assert_eq!(selected(&lines, Lines, at(1, 7), at(0, 2)), "one two\nthree four");
        assert_eq!(selected(&lines, Block, at(0, 4), at(2, 6)), "two\ne f\n si");
        assert_eq!(selected(&lines, Block, at(2, 6), at(0, 4)), "two\ne f\n si");
    }

    #[test]
    fn a_broken_line_is_whole_again() {
        let mut reading = reading(2, &["live"]);
        reading.want_all();
        reading.add(0, 0, vec![Row { wrapped: true, ..row("cargo bui") }, row("ld --all")]);
        let line = reading.line_at(at(1, 3));
        assert_eq!((line.from, line.to), (at(0, 0), at(1, 7)));
        reading.select_span(line);
        assert_eq!(reading.selected_text().unwrap(), "cargo build --all");
        assert_eq!(reading.whole_text(), "cargo build --all\nlive");
    }

    #[test]
    fn the_same_key_ends_a_selection_and_another_changes_its_shape() {
        let mut reading = reading(0, &["text"]);
        reading.select(SelectionShape::Chars);
        reading.select(SelectionShape::Lines);
        assert_eq!(reading.selection.unwrap().shape, SelectionShape::Lines);
        reading.select(SelectionShape::Lines);
        assert_eq!(reading.selection, None);
    }
}
