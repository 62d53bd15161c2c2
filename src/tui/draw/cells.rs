//! Puts text on the picture: the cells of an agent, and nothing but cells; or lines in the middle.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::model::{Row, Run, is_deceptive};
use crate::tui::style::{CellLook, Theme};
use crate::tui::terminal::{is_fit, link_modifier};
use crate::tui::text::{REPLACEMENT, clip, width};

/// Marks that one cell may carry on top of its character.
const CELL_CHARS_MAX: usize = 17;

/// Make one picture of several, as in the emoji of a family, or choose how one looks.
const PARTS: [char; 3] = ['\u{200d}', '\u{fe0e}', '\u{fe0f}'];

/// The Braille pattern without a dot: charts are full of it.
const BLANK: char = '\u{2800}';

/// Draws the part of a row that begins at column `skip` into an area of one line.
pub(in crate::tui) fn draw_row(
    buffer: &mut Buffer,
    line: Rect,
    row: Option<&Row>,
    skip: u16,
    theme: &Theme,
) {
    let line = line.intersection(buffer.area);
    if line.is_empty() {
        return;
    }
    let start = buffer.index_of(line.x, line.y);
    let cells = &mut buffer.content[start..start + usize::from(line.width)];
    let mut strip = Strip { cells, skip, column: 0 };
    for run in row.map_or(&[][..], |row| &row.runs) {
        if strip.is_full() {
            break;
        }
        let mut look = theme.cell(run.style);
        if let Some(target) = run.link.as_deref().filter(|target| is_fit(target)) {
            look.modifier |= link_modifier(target);
        }
        strip.put_run(run, look);
    }
    strip.fill_blank();
}

/// The cells of one line, filled from left to right.
struct Strip<'a> {
    cells: &'a mut [Cell],
    /// Columns of the row that lie to the left of the line.
    skip: u16,
    /// The column of the row that comes next.
    column: u16,
}

impl Strip<'_> {
    fn is_full(&self) -> bool {
        usize::from(self.column.saturating_sub(self.skip)) >= self.cells.len()
    }

    fn put_run(&mut self, run: &Run, look: CellLook) {
        if run.text.is_ascii() && run.text.len() == usize::from(run.columns) {
            run.text.bytes().for_each(|byte| self.put_char(char::from(byte), look));
        } else if run.is_single() {
            self.put_composed(&run.text, run.columns, look);
        } else {
            run.text.chars().for_each(|c| self.put_char(c, look));
        }
    }

    fn put_char(&mut self, c: char, look: CellLook) {
        let c = if c == BLANK { ' ' } else { c };
        let fits = c.width() == Some(1) && !is_deceptive(c);
        let safe = if fits { c } else { REPLACEMENT };
        if let Some(cell) = self.next_cell(look) {
            cell.set_char(safe);
        }
    }

    /// Puts one character of several parts or of two columns, if it is what it says it is.
    fn put_composed(&mut self, text: &str, columns: u16, look: CellLook) {
        let is_sound = matches!(columns, 1 | 2)
            && text.width() == usize::from(columns)
            && text.chars().count() <= CELL_CHARS_MAX
            && !text.chars().any(|c| is_deceptive(c) && !PARTS.contains(&c));
        let first = text.chars().next().filter(|c| !is_deceptive(*c));
        let lone = first.filter(|c| c.width() == Some(usize::from(columns)) && columns <= 2);
        let mut alone = [0; 4];
        let symbol = match lone {
            _ if is_sound => text,
            // The parts do not add up here; the character alone is the better half.
            Some(c) => c.encode_utf8(&mut alone),
            None => {
                (0..columns).for_each(|_| self.put_char(first.unwrap_or(REPLACEMENT), look));
                return;
            }
        };
        let begins = self.column;
        let ends = usize::from((begins + columns).saturating_sub(self.skip));
        let is_whole = begins >= self.skip && ends <= self.cells.len();
        if !is_whole {
            (0..columns).for_each(|_| self.put_char(' ', look));
            return;
        }
        if let Some(cell) = self.next_cell(look) {
            cell.set_symbol(symbol);
        }
        if columns == 2
            && let Some(cell) = self.next_cell(look)
        {
            cell.set_symbol("");
        }
    }

    fn next_cell(&mut self, look: CellLook) -> Option<&mut Cell> {
        let at = self.column.checked_sub(self.skip);
        self.column = self.column.saturating_add(1);
        let cell = self.cells.get_mut(usize::from(at?))?;
        (cell.fg, cell.bg, cell.modifier) = (look.text, look.back, look.modifier);
        cell.underline_color = look.line;
        Some(cell)
    }

    fn fill_blank(self) {
        let from = usize::from(self.column.saturating_sub(self.skip)).min(self.cells.len());
        self.cells[from..].fill(Cell::EMPTY);
    }
}

/// Draws lines in the middle of an area, as far as there is room.
pub(super) fn draw_centred(lines: &[String], style: Style, area: Rect, buffer: &mut Buffer) {
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let top = area.y + area.height.saturating_sub(height) / 2;
    for (line, y) in lines.iter().zip(top..area.bottom()) {
        let text = clip(line, usize::from(area.width));
        let length = u16::try_from(width(&text)).unwrap_or(area.width);
        let x = area.x + area.width.saturating_sub(length) / 2;
        buffer.set_stringn(x, y, &text, usize::from(area.width), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::fixture::{run, theme};

    fn drawn(runs: Vec<Run>, width: u16, skip: u16) -> String {
        let area = Rect::new(0, 0, width, 1);
        let mut buffer = Buffer::empty(area);
        let row = Row { runs, wrapped: false };
        draw_row(&mut buffer, area, Some(&row), skip, &theme());
        buffer.content.iter().map(Cell::symbol).collect()
    }

    #[test]
    fn a_row_is_cut_on_both_sides() {
        assert_eq!(drawn(vec![run("hello ", 6), run("world", 5)], 5, 3), "lo wo");
        assert_eq!(drawn(vec![run("hi", 2)], 5, 0), "hi   ");
        assert_eq!(drawn(vec![run("hi", 2)], 5, 9), "     ");
    }

    #[test]
    fn wide_characters_are_shown_whole_or_not_at_all() {
        let wide = || vec![run("a", 1), run("世", 2), run("b", 1)];
        assert_eq!(drawn(wide(), 5, 0), "a世b ");
        assert_eq!(drawn(wide(), 2, 0), "a ");
        assert_eq!(drawn(wide(), 3, 2), " b ");
    }

    #[test]
    fn composed_characters_stay_together() {
        assert_eq!(drawn(vec![run("e\u{301}", 1), run("x", 1)], 3, 0), "e\u{301}x ");
        // An emoji made of a narrow character and a mark that widens it.
        assert_eq!(drawn(vec![run("\u{2764}\u{fe0f}", 1), run("x", 1)], 3, 0), "\u{2764}x ");
    }

    #[test]
    fn two_characters_in_two_columns_come_out_as_they_are() {
        for text in [
            "⚠\u{fe0f}",
            "ℹ\u{fe0f}",
            "✔\u{fe0f}",
            "❤\u{fe0f}",
            "🛠\u{fe0f}",
            "👍🏽",
            "か\u{3099}",
            "\u{1100}\u{1161}",
            "🇩🇪",
        ] {
            assert_eq!(drawn(vec![run(text, 2), run("x", 1)], 4, 0), format!("{text}x "));
            assert_eq!(drawn(vec![run(text, 2), run("x", 1)], 2, 1), " x");
        }
    }

    #[test]
    fn a_cell_carries_nothing_that_reorders_or_hides() {
        assert_eq!(drawn(vec![run("a\u{202e}", 1), run("b", 1)], 2, 0), "ab");
        assert_eq!(drawn(vec![run("a\u{e0041}", 1), run("b", 1)], 2, 0), "ab");
        let family = "\u{1f468}\u{200d}\u{1f469}";
        assert_eq!(drawn(vec![run(family, 2)], 2, 0), family);
    }

    #[test]
    fn a_row_that_lies_does_no_harm() {
        for hostile in
            ["\x1b[2J", "\u{9b}2J", "\x07\x08\n\r", "\u{202e}abc", "世世世世", "\u{301}\u{301}"]
        {
            for columns in [0, 1, 2, 3, 4, 200] {
                let shown = drawn(vec![run(hostile, columns), run("z", 1)], 8, 0);
                assert!(!shown.chars().any(char::is_control), "{hostile:?} {columns}");
                assert!(shown.width() <= 8, "{hostile:?} {columns}: {shown:?}");
            }
        }
    }
}
