//! Follows plain output line by line, so that a row need not be read back when it scrolls off.
//!
//! Reading a row out of the emulator costs more than printing it. While output is nothing but
//! text, line ends and colours at the bottom of the screen, what each new row holds is known
//! beforehand and written down beside it. Anything else ends this; then rows are read back.

use super::canvas::Canvas;
use super::line::{BLANK, width};
use super::look::write_pen;

/// Where in the bottom row the next character goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The number of columns means that a wrap is pending.
    col: u16,
    /// The cursor went back to the start of a row with text in it.
    is_over_text: bool,
}

impl Canvas {
    /// Prints text without marks that join the character before them, `\r` and `\n`.
    pub(super) fn plain_text(&mut self, text: &str) {
        let known = self.follow(text);
        self.send(&text[..known]);
        if known < text.len() {
            self.leave_flow();
            self.send(&text[known..]);
            self.enter_flow(text);
        }
    }

    /// Notes a change of the pen.
    pub(super) fn pen_in_flow(&mut self) {
        if self.flow.is_some()
            && let Some(row) = self.emulator.scrolled().current()
        {
            write_pen(self.pen, row);
        }
    }

    /// Says whether a tab was followed, to the next of the usual stops.
    pub(super) fn tab_in_flow(&mut self) -> bool {
        let cols = self.size().cols;
        let Some(flow) = self.flow.as_mut().filter(|flow| !flow.is_over_text) else { return false };
        let col = (flow.col / 8 * 8 + 8).min(cols - 1);
        if flow.col >= cols - 1 {
            return false;
        }
        let skipped = usize::from(col - flow.col);
        flow.col = col;
        if let Some(row) = self.emulator.scrolled().current() {
            row.resize(row.len() + skipped, BLANK);
        }
        self.emulator.pending().push(b'\t');
        true
    }

    /// Says whether it is known that nothing stands to the right of the cursor.
    pub(super) fn is_blank_ahead(&self) -> bool {
        self.flow.is_some_and(|flow| !flow.is_over_text)
    }

    /// Ends the following: what the rows hold is no longer known.
    pub(super) fn leave_flow(&mut self) {
        if self.flow.take().is_some() {
            self.flush();
            self.emulator.scrolled().forget();
        }
    }

    /// Begins to follow if the text ended a line at the bottom of the screen.
    fn enter_flow(&mut self, text: &str) {
        let size = self.size();
        if !text.ends_with('\n') || self.is_alternate() || !self.margins().is_whole(size) {
            return;
        }
        let (row, col) = self.cursor();
        if row == size.rows - 1 && col < size.cols {
            self.emulator.scrolled().follow(size.rows);
            self.flow = Some(Flow { col, is_over_text: false });
        }
    }

    /// Writes down the rows of a text and returns how much of it could be followed.
    fn follow(&mut self, text: &str) -> usize {
        let (cols, pen) = (self.size().cols, self.pen);
        let Some(flow) = self.flow.as_mut() else { return 0 };
        let rows = self.emulator.scrolled();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'\n' if flow.col < cols => {
                    rows.begin(pen, false);
                    if let Some(row) = rows.current() {
                        row.resize(row.len() + usize::from(flow.col), BLANK);
                    }
                    flow.is_over_text = false;
                    at += 1;
                }
                b'\r' => {
                    flow.is_over_text |= flow.col > 0;
                    flow.col = 0;
                    at += 1;
                }
                b'\n' => break,
                _ if flow.is_over_text => break,
                _ => {
                    let (length, columns) = stretch(&text[at..], cols - flow.col);
                    if length == 0 {
                        // A row that a wide character leaves one column short has not wrapped.
                        rows.begin(pen, flow.col == cols);
                        flow.col = 0;
                        continue;
                    }
                    if let Some(row) = rows.current() {
                        row.extend_from_slice(&bytes[at..at + length]);
                    }
                    flow.col += columns;
                    at += length;
                }
            }
        }
        at
    }
}

/// Returns the bytes and the columns of the text up to the end of the line or of the room.
fn stretch(text: &str, room: u16) -> (usize, u16) {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(usize::from(room));
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n') || !byte.is_ascii();
    let plain = bytes[..limit].iter().position(is_end).unwrap_or(limit);
    let mut columns = u16::try_from(plain).unwrap_or(room);
    let mut length = plain;
    for c in text[plain..].chars().take_while(|c| !matches!(c, '\r' | '\n')) {
        let wide = u16::try_from(width(c)).unwrap_or(1);
        if columns + wide > room {
            break;
        }
        columns += wide;
        length += c.len_utf8();
    }
    (length, columns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::history::HistoryLimit;
    use super::super::scanner::Scanner;
    use super::super::terminal::Terminal;
    use crate::model::{Row, Size};

    const PARTS: [&str; 15] = [
        "word",
        "\r\n",
        "\r\n",
        "\n",
        "\r",
        "\t",
        " ",
        "\x1b[31m",
        "\x1b[m",
        "\x1b[K",
        "a longer text that wraps",
        "\x1b[44m",
        "é 中文字",
        "⚠\u{fe0f}👍🏽",
        "\x1b[1;4m",
    ];

    fn rows(parts: &[usize], follows: bool) -> (Vec<Row>, bool) {
        let mut terminal = Terminal::new(Size { rows: 3, cols: 11 }, HistoryLimit::default());
        let mut scanner = Scanner::default();
        let mut followed = false;
        for part in parts {
            scanner.scan(PARTS[*part].as_bytes(), &mut terminal);
            followed |= terminal.canvas.flow.is_some();
            if !follows {
                terminal.canvas.leave_flow();
            }
        }
        terminal.canvas.flush();
        let history = &terminal.canvas.history;
        let mut rows: Vec<Row> = history.range().filter_map(|n| history.row(n)).collect();
        rows.extend((0..3).map(|row| terminal.canvas.row(row)));
        (rows, followed)
    }

    proptest! {
        #[test]
        fn a_row_that_was_followed_is_the_row_that_would_be_read_back(
            parts in prop::collection::vec(0..PARTS.len(), 0..80)
        ) {
            prop_assert_eq!(rows(&parts, true).0, rows(&parts, false).0);
        }
    }

    #[test]
    fn a_log_is_followed() {
        assert!(rows(&[0, 1, 1, 1, 0, 1], true).1);
    }
}
