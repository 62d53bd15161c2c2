//! Knows what the terminal shows and what it should show, and writes only the difference.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::abilities::{Abilities, WindowLinks, is_linked};
use super::pen::Pen;
use crate::model::Size;

/// Blank cells in a row from which erasing is shorter than writing them.
const ERASE_CELLS_MIN: u16 = 6;

/// Unchanged cells that are cheaper to write again than to jump over.
const GAP_CELLS_MAX: u16 = 2;

/// Frames from this size on are worth the sixteen bytes that keep them from tearing.
const SYNCHRONIZED_BYTES_MIN: usize = 2048;

/// Stands for what a cell shows where a terminal may have drawn over it: no picture has it.
const UNKNOWN: &str = "\0";

const BEGIN_SYNCHRONIZED: &[u8] = b"\x1b[?2026h";
const END_SYNCHRONIZED: &[u8] = b"\x1b[?2026l";

/// The picture and the part of it that has not reached the terminal.
#[derive(Debug)]
pub(crate) struct TerminalCanvas {
    /// What should be seen; whoever changes it marks where.
    pub picture: Buffer,
    /// Where the cursor should be seen, if at all.
    pub cursor: Option<(u16, u16)>,
    /// The number of the cursor's shape, as the application chose it.
    pub cursor_shape: u8,
    /// Where the cells lead that are marked as links.
    pub links: WindowLinks,
    shown_shape: u8,
    shown: Buffer,
    shows_cursor: bool,
    /// For each row the columns that may differ.
    marks: Vec<Option<(u16, u16)>>,
    is_unknown: bool,
    pen: Pen,
    out: Vec<u8>,
}

impl TerminalCanvas {
    /// Returns a blank canvas.
    pub(crate) fn new(size: Size) -> Self {
        let area = Rect::new(0, 0, size.cols, size.rows);
        Self {
            picture: Buffer::empty(area),
            cursor: None,
            cursor_shape: 0,
            links: WindowLinks::default(),
            shown_shape: 0,
            shown: Buffer::empty(area),
            shows_cursor: false,
            marks: vec![None; usize::from(size.rows)],
            is_unknown: true,
            pen: Pen::default(),
            out: Vec::new(),
        }
    }

    /// Says what the terminal can show.
    pub(crate) fn set_abilities(&mut self, abilities: Abilities) {
        self.pen.abilities = abilities;
    }

    /// Returns the whole area.
    pub(crate) fn area(&self) -> Rect {
        self.picture.area
    }

    /// Says that cells may have changed.
    pub(crate) fn mark(&mut self, area: Rect) {
        let area = area.intersection(self.picture.area);
        for row in area.rows() {
            let mark = &mut self.marks[usize::from(row.y)];
            let (left, right) = mark.unwrap_or((row.left(), row.right()));
            *mark = Some((left.min(row.left()), right.max(row.right())));
        }
    }

    /// Says that anything may have changed.
    pub(crate) fn mark_all(&mut self) {
        self.mark(self.picture.area);
    }

    /// Returns the bytes that bring the terminal up to date: none, if it is.
    pub(crate) fn flush(&mut self) -> &[u8] {
        self.out.clear();
        self.out.extend_from_slice(BEGIN_SYNCHRONIZED);
        if std::mem::take(&mut self.is_unknown) {
            self.pen = Pen::new(self.pen.abilities);
            self.out.extend_from_slice(b"\x1b[?25l\x1b[m\x1b[2J");
            self.shown = Buffer::empty(self.picture.area);
            self.mark_all();
        }
        for y in 0..self.marks.len() {
            let Some((left, right)) = self.marks[y].take() else { continue };
            self.paint_row(u16::try_from(y).unwrap_or(u16::MAX), left, right);
        }
        self.pen.lead(&mut self.out, None);
        self.paint_cursor();
        self.framed()
    }

    /// Leaves the terminal's marks of a frame away where they would cost more than they give.
    fn framed(&mut self) -> &[u8] {
        if self.out.len() - BEGIN_SYNCHRONIZED.len() < SYNCHRONIZED_BYTES_MIN {
            return &self.out[BEGIN_SYNCHRONIZED.len()..];
        }
        self.out.extend_from_slice(END_SYNCHRONIZED);
        &self.out
    }

    fn paint_row(&mut self, y: u16, left: u16, mut right: u16) {
        let columns = self.picture.area.width;
        let start = self.picture.index_of(0, y);
        let at = |x: u16| start + usize::from(x);
        let mut x = left;
        while x < right {
            let (cell, width) = self.wanted(at(x), columns - x);
            if *cell == self.shown.content[at(x)] {
                x += width;
                continue;
            }
            let blanks = self.blanks(at(x), right - x);
            if blanks >= ERASE_CELLS_MIN {
                self.pen.go(&mut self.out, x, y);
                self.pen.erase(&mut self.out, blanks);
                self.shown.content[at(x)..at(x + blanks)].fill(Cell::EMPTY);
                x += blanks;
                continue;
            }
            let cell = cell.clone();
            self.approach(x, y);
            let target = is_linked(cell.modifier).then(|| self.links.at(x, y)).flatten();
            self.pen.lead(&mut self.out, target);
            if width == 2 {
                let end = self.write_wide(&cell, x, columns);
                self.shown.content[at(x + 2)..at(end)].fill(Cell::new(UNKNOWN));
                right = right.max(end);
                self.shown.content[at(x + 1)].reset();
                self.shown.content[at(x + 1)].set_symbol("");
            } else {
                self.pen.write(&mut self.out, &cell, width);
            }
            self.shown.content[at(x)] = cell;
            x += width;
        }
    }

    /// Writes a cell of two columns, and returns the column up to which a terminal that draws it
    /// otherwise may have written.
    fn write_wide(&mut self, cell: &Cell, x: u16, columns: u16) -> u16 {
        let mut parts = cell.symbol().chars().map(|c| c.width().unwrap_or(0));
        let first = parts.next().unwrap_or(0);
        let is_composed = cell.symbol().chars().nth(1).is_some();
        if !is_composed {
            self.pen.write(&mut self.out, cell, 2);
            return x + 2;
        }
        if first < 2 {
            // Some terminals take the first part alone: nothing old may stay beside it.
            self.pen.blank_two(&mut self.out, cell);
        }
        self.pen.write(&mut self.out, cell, 2);
        self.pen.forget_place();
        let most = u16::try_from(first + parts.sum::<usize>()).unwrap_or(u16::MAX);
        x.saturating_add(most.max(2)).min(columns)
    }

    /// Returns what a cell should show and its width; half a wide character shows nothing.
    fn wanted(&self, index: usize, room: u16) -> (&Cell, u16) {
        let cell = &self.picture.content[index];
        if cell_width(cell) == 1 {
            return (cell, 1);
        }
        let next = self.picture.content.get(index + 1).filter(|_| room > 1);
        let is_whole = next.is_some_and(|next| matches!(next.symbol(), "" | " "));
        if is_whole { (cell, 2) } else { (&Cell::EMPTY, 1) }
    }

    /// Goes to a cell, by writing what lies between if that is shorter than a jump.
    fn approach(&mut self, x: u16, y: u16) {
        if let Some((from, row)) = self.pen.place()
            && row == y
            && from < x
            && x - from <= GAP_CELLS_MAX
        {
            let between = self.shown.index_of(from, y)..self.shown.index_of(x, y);
            let cells = &self.shown.content[between];
            let is_plain = |cell: &Cell| {
                cell.symbol().len() == 1
                    && self.pen.looks_like(cell)
                    && !is_linked(cell.modifier)
                    && *cell != Cell::new(UNKNOWN)
            };
            if !self.pen.leads() && cells.iter().all(is_plain) {
                for cell in cells {
                    self.pen.write(&mut self.out, cell, 1);
                }
            }
        }
        self.pen.go(&mut self.out, x, y);
    }

    /// Counts the blank cells from an index on.
    fn blanks(&self, from: usize, count_max: u16) -> u16 {
        let cells = self.picture.content[from..].iter().take(usize::from(count_max));
        let blank = cells.take_while(|cell| is_blank(cell)).count();
        u16::try_from(blank).unwrap_or(count_max)
    }

    fn paint_cursor(&mut self) {
        match self.cursor {
            Some((x, y)) => {
                self.pen.go(&mut self.out, x, y);
                let can_shape = self.pen.abilities.cursor_shapes;
                let shape = if can_shape { self.cursor_shape.min(6) } else { 0 };
                if std::mem::replace(&mut self.shown_shape, shape) != shape {
                    self.out.extend_from_slice(format!("\x1b[{shape} q").as_bytes());
                }
                if !self.shows_cursor {
                    self.out.extend_from_slice(b"\x1b[?25h");
                }
            }
            None if self.shows_cursor => self.out.extend_from_slice(b"\x1b[?25l"),
            None => {}
        }
        self.shows_cursor = self.cursor.is_some();
    }
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " "
        && cell.modifier.is_empty()
        && cell.fg == Cell::EMPTY.fg
        && cell.bg == Cell::EMPTY.bg
}

fn cell_width(cell: &Cell) -> u16 {
    let symbol = cell.symbol();
    if symbol.len() == 1 || symbol.width() < 2 { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier, Style};

    use super::*;

    fn canvas() -> TerminalCanvas {
        let mut canvas = TerminalCanvas::new(Size { rows: 4, cols: 20 });
        canvas.flush();
        canvas
    }

    fn flushed(canvas: &mut TerminalCanvas) -> String {
        canvas.mark_all();
        String::from_utf8(canvas.flush().to_vec()).unwrap()
    }

    #[test]
    fn only_cells_that_changed_are_written() {
        let mut canvas = canvas();
        canvas.picture.set_string(2, 1, "hello", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[2;3H\x1b[mhello");
        assert_eq!(flushed(&mut canvas), "");
        canvas.picture.set_string(2, 1, "hallo", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[2;4Ha");
    }

    #[test]
    fn cells_that_nobody_marked_are_not_even_compared() {
        let mut canvas = canvas();
        canvas.picture.set_string(0, 0, "seen", Style::new());
        canvas.picture.set_string(0, 2, "unseen", Style::new());
        canvas.mark(Rect::new(0, 0, 20, 1));
        assert_eq!(canvas.flush(), b"\x1b[1H\x1b[mseen");
        assert_eq!(flushed(&mut canvas), "\x1b[3Hunseen");
    }

    #[test]
    fn small_gaps_are_written_and_wide_ones_jumped() {
        let mut canvas = canvas();
        canvas.picture.set_string(0, 0, "a b c    d", Style::new());
        flushed(&mut canvas);
        canvas.picture.set_string(0, 0, "A B C    D", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[1HA B C\x1b[4CD");
    }

    #[test]
    fn long_blanks_are_erased() {
        let mut canvas = canvas();
        canvas.picture.set_string(0, 0, "long enough to erase", Style::new());
        flushed(&mut canvas);
        canvas.picture.set_string(0, 0, "long                ", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[1;6H\x1b[15X");
    }

    #[test]
    fn half_of_a_wide_character_is_never_left_behind() {
        let mut canvas = canvas();
        canvas.picture.set_string(0, 0, "世界", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[1H\x1b[m世界");
        canvas.picture.set_string(0, 0, "x", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[1Hx ");
    }

    #[test]
    fn half_of_a_wide_character_is_never_shown() {
        let mut canvas = canvas();
        canvas.picture.set_string(17, 0, "a世", Style::new());
        canvas.picture.set_string(4, 1, "世世", Style::new());
        canvas.picture.set_string(3, 1, "│", Style::new());
        canvas.picture.set_string(5, 1, "│", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[1;18H\x1b[ma世\x1b[2;4H│ │世");
    }

    /// A terminal that does not join the parts writes further, and one that does not widen a letter
    /// writes less far; what stands behind must come out at its place.
    #[test]
    fn what_terminals_draw_in_different_widths_moves_nothing() {
        let mut canvas = canvas();
        canvas.picture.set_string(0, 0, "0123456789", Style::new());
        flushed(&mut canvas);
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        canvas.picture.set_string(2, 0, family, Style::new());
        let place = "\x1b[1;5H";
        assert_eq!(flushed(&mut canvas), format!("\x1b[1;3H{family}{place}4567"));
        canvas.picture.set_string(6, 0, "\u{26a0}\u{fe0f}", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[1;7H  \x1b[2D\u{26a0}\u{fe0f}");
        canvas.picture.set_string(8, 0, "x", Style::new());
        assert_eq!(flushed(&mut canvas), "\x1b[1;9Hx");
        canvas.picture.set_string(16, 0, format!("{family}ab"), Style::new());
        assert_eq!(flushed(&mut canvas), format!("\x1b[7C{family}\x1b[1;19Hab"));
    }

    #[test]
    fn the_cursor_is_shown_moved_and_hidden_without_waste() {
        let mut canvas = canvas();
        canvas.cursor = Some((3, 2));
        assert_eq!(flushed(&mut canvas), "\x1b[3;4H\x1b[?25h");
        assert_eq!(flushed(&mut canvas), "");
        canvas.picture.set_string(3, 2, "x", Style::new());
        canvas.cursor = Some((4, 2));
        assert_eq!(flushed(&mut canvas), "\x1b[mx");
        canvas.cursor = None;
        assert_eq!(flushed(&mut canvas), "\x1b[?25l");
    }

    #[test]
    fn the_shape_of_the_cursor_is_that_of_the_application() {
        let mut canvas = canvas();
        (canvas.cursor, canvas.cursor_shape) = (Some((0, 0)), 5);
        assert_eq!(flushed(&mut canvas), "\x1b[1H\x1b[?25h", "an old terminal");
        canvas.set_abilities(Abilities { cursor_shapes: true, ..Abilities::default() });
        assert_eq!(flushed(&mut canvas), "\x1b[5 q");
        canvas.cursor_shape = 0;
        assert_eq!(flushed(&mut canvas), "\x1b[0 q");
    }

    #[test]
    fn a_large_frame_is_kept_from_tearing() {
        let mut canvas = TerminalCanvas::new(Size { rows: 50, cols: 100 });
        canvas.flush();
        for y in 0..50 {
            canvas.picture.set_string(0, y, "x".repeat(100), Style::new());
        }
        let frame = flushed(&mut canvas);
        assert!(frame.starts_with("\x1b[?2026h") && frame.ends_with("\x1b[?2026l"));
    }

    /// Whatever is drawn in whatever order, an emulator shows the picture in the end.
    #[test]
    fn a_terminal_that_was_only_told_differences_shows_the_whole() {
        use std::num::NonZeroU16;
        const TEXTS: [&str; 7] = ["a", "hello world", "世界", "          ", "─┼─", "é", "x世y"];
        let (rows, cols) = (8, 30);
        let size = |length: u16| NonZeroU16::new(length).unwrap();
        let mut terminal = vt100::Parser::new(size(rows), size(cols), 0);
        let mut canvas = TerminalCanvas::new(Size { rows, cols });
        let mut seed = 7_u32;
        let mut random = move |below: u16| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u16::try_from(seed >> 16).unwrap() % below
        };
        for turn in 0..600 {
            for _ in 0..=random(4) {
                let (x, y) = (random(cols), random(rows));
                let text = TEXTS[usize::from(random(7))];
                let mut style =
                    Style::new().fg([Color::Reset, Color::Indexed(3)][usize::from(random(2))]);
                style = style.bg([Color::Reset, Color::Rgb(9, 8, 7)][usize::from(random(2))]);
                style = [style, style.add_modifier(Modifier::BOLD)][usize::from(random(2))];
                canvas.picture.set_style(Rect::new(x, y, 1, 1), Style::reset());
                canvas.picture.set_stringn(x, y, text, usize::from(cols - x), style);
                canvas.mark(Rect::new(0, y, cols, 1));
            }
            terminal.process(canvas.flush());
            for index in 0..canvas.picture.content.len() {
                let (x, y) = canvas.picture.pos_of(index);
                let (wanted, width) = canvas.wanted(index, cols - x);
                let shown = terminal.screen().cell(y, x).unwrap();
                if shown.is_wide_continuation() {
                    continue;
                }
                let text = if shown.has_contents() { shown.contents() } else { " " };
                let expected = if wanted.symbol().is_empty() { " " } else { wanted.symbol() };
                assert_eq!(text, expected, "turn {turn}, column {x}, row {y}");
                assert_eq!(shown.is_wide(), width == 2, "turn {turn}, column {x}, row {y}");
                assert_eq!(shown.bold(), wanted.modifier.contains(Modifier::BOLD));
                let fg = if wanted.fg == Color::Reset {
                    vt100::Color::Default
                } else {
                    vt100::Color::Idx(3)
                };
                assert_eq!(shown.fgcolor(), fg, "turn {turn}, column {x}, row {y}");
            }
        }
    }
}
