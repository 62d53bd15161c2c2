//! Gives rows that scroll in, or are inserted, the background of the pen, as programs expect that
//! count on `bce`. The emulator leaves them without one.

use std::ops::RangeInclusive;

use unicode_width::UnicodeWidthStr as _;

use super::look::Look;
use super::terminal::Terminal;

/// What it costs to fill a column of a row, with the reading back of the row when it scrolls off.
const CELLS_PER_COLUMN: usize = 64;

impl Terminal {
    pub(super) fn has_background(&self) -> bool {
        self.pen.style.background != Look::default().style.background
    }

    /// Prints text of which each row that scrolls in has the background.
    pub(super) fn print_on_background(&mut self, text: &str) {
        for part in text.split_inclusive(['\n', '\r']) {
            let words = part.trim_end_matches(['\n', '\r']);
            if !words.is_empty() {
                let scrolls = self.wraps_over_bottom(words);
                self.print_anywhere(words);
                let cols = self.canvas.size().cols;
                if scrolls && self.canvas.cursor().1 < cols && self.afford_rows(1) {
                    self.canvas.erase(self.pen, &[0], b'K');
                }
            }
            match &part[words.len()..] {
                "" => {}
                "\n" => self.line_feed(),
                returns => self.print_anywhere(returns),
            }
        }
    }

    /// Goes to the next row, and fills it if it scrolled in.
    pub(super) fn feed_on_background(&mut self, line_end: &str) {
        let is_at_bottom = self.canvas.cursor().0 == self.canvas.margins().bottom;
        self.canvas.plain_text(line_end);
        if is_at_bottom && self.afford_rows(1) {
            self.canvas.erase(self.pen, &[2], b'K');
        }
    }

    /// Goes to the row above, and fills it if it scrolled in.
    pub(super) fn reverse_feed(&mut self) {
        let scrolls = self.has_background() && self.canvas.cursor().0 == self.canvas.margins().top;
        self.canvas.out().extend_from_slice(b"\x1bM");
        if scrolls && self.afford_rows(1) {
            self.canvas.erase(self.pen, &[2], b'K');
        }
    }

    /// Fills rows of the screen; the cursor stays where it is.
    pub(super) fn fill_rows(&mut self, rows: RangeInclusive<u16>) {
        let count = usize::from(rows.end().saturating_sub(*rows.start())) + 1;
        if rows.is_empty() || !self.has_background() || !self.afford_rows(count) {
            return;
        }
        let (row, col) = self.canvas.cursor();
        for row in rows {
            self.canvas.go_to(row, 0);
            self.canvas.erase(self.pen, &[2], b'K');
        }
        self.canvas.go_to(row, col.min(self.canvas.size().cols - 1));
    }

    /// Returns the rows that a sequence which moves so many lines leaves blank.
    pub(super) fn rows_left_blank(&mut self, count: u16, last: u8) -> RangeInclusive<u16> {
        let (row, _) = self.canvas.cursor();
        let margins = self.canvas.margins();
        let (top, bottom) = (margins.top, margins.bottom);
        let is_inside = (top..=bottom).contains(&row);
        let less = count.saturating_sub(1);
        match last {
            b'S' => bottom.saturating_sub(less).max(top)..=bottom,
            b'T' => top..=(top + less).min(bottom),
            b'L' if is_inside => row..=(row + less).min(bottom),
            b'M' if is_inside => bottom.saturating_sub(less).max(row)..=bottom,
            _ => RangeInclusive::new(1, 0),
        }
    }

    /// Says whether text that wraps makes the rows scroll.
    fn wraps_over_bottom(&mut self, text: &str) -> bool {
        let (row, col) = self.canvas.cursor();
        let (cols, bottom) = (usize::from(self.canvas.size().cols), self.canvas.margins().bottom);
        // A character takes no more columns than bytes, so most text need not be measured.
        let needed = |columns: usize| (usize::from(col) + columns).saturating_sub(1) / cols;
        let below = usize::from(bottom.saturating_sub(row));
        self.wraps && row <= bottom && needed(text.len()) > below && needed(text.width()) > below
    }

    fn afford_rows(&mut self, count: usize) -> bool {
        let cols = usize::from(self.canvas.size().cols);
        self.canvas.budget.afford(CELLS_PER_COLUMN * cols * count)
    }
}
