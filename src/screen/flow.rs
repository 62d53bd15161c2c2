//! Follows plain output line by line, so that a row need not be read back when it scrolls off.
//!
//! Reading a row out of the emulator costs more than printing it. While output is nothing but
//! text, line ends and colours at the bottom of the screen, what each new row holds is known
//! beforehand and written down beside it. Anything else ends this; then rows are read back.
//! A row that scrolls off before anyone could look at it is not even printed.

use super::canvas::Canvas;
use super::draw::write_csi;
use super::line::{BLANK, width};
use super::look::write_pen;
use super::scrolled::{Begin, Region};

/// Where in the bottom row the next character goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The number of columns means that a wrap is pending.
    col: u16,
    /// The blank cells before it that are not written down yet.
    gap: u16,
    /// Something was printed in this row.
    has_text: bool,
    /// The cursor went back in a row with text in it.
    is_over_text: bool,
    /// The row was blank when it began.
    is_new: bool,
}

impl Flow {
    /// Returns the flow at the start of a row.
    fn at(col: u16) -> Self {
        Self { col, gap: col, has_text: false, is_over_text: false, is_new: true }
    }

    /// Goes back to a column on the left.
    fn go_back(&mut self, col: u16) {
        self.is_over_text |= self.has_text && self.col > col;
        self.gap = if self.has_text { self.gap } else { col };
        self.col = col;
    }
}

impl Canvas {
    /// Prints text without marks that join the character before them, `\r` and `\n`.
    pub(super) fn plain_text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let part = &rest[..rest.floor_char_boundary(self.emulator.room())];
            let taken = match self.flow {
                Some(flow) => self.follow(flow, part),
                None => self.lead(part, part.len() == rest.len()),
            };
            rest = &rest[taken..];
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
        if col < flow.col {
            // A tab ends a pending wrap.
            flow.go_back(col);
        } else {
            flow.gap += col - flow.col;
            flow.col = col;
        }
        self.emulator.pending().push(b'\t');
        true
    }

    /// Says whether a backspace was followed.
    pub(super) fn backspace_in_flow(&mut self) -> bool {
        let cols = self.size().cols;
        let Some(flow) = self.flow.as_mut().filter(|flow| flow.col < cols) else { return false };
        flow.go_back(flow.col.saturating_sub(1));
        self.emulator.pending().push(0x08);
        true
    }

    /// Says whether it is known that nothing stands to the right of the cursor.
    pub(super) fn is_blank_ahead(&self) -> bool {
        self.flow.is_some_and(|flow| !flow.is_over_text)
    }

    /// Says whether so many columns of the row that is being printed are known to be blank.
    pub(super) fn has_blank_ahead(&mut self, columns: u16) -> bool {
        if self.flow.is_some_and(|flow| !flow.is_new) {
            let (row, _) = self.cursor();
            let is_new = self.line(row).spots.is_empty();
            self.flow = self.flow.map(|flow| Flow { is_new, ..flow });
        }
        let has_room = |flow: Flow| flow.is_new && flow.col + columns <= self.size().cols;
        self.is_blank_ahead() && self.flow.is_some_and(has_room)
    }

    /// Ends a pending wrap on a row that is blank.
    pub(super) fn forget_wrap_in_flow(&mut self) {
        let cols = self.size().cols;
        let is_pending = |flow: &&mut Flow| flow.col == cols && !flow.has_text;
        if let Some(flow) = self.flow.as_mut().filter(is_pending) {
            flow.go_back(cols - 1);
            write_csi(&[cols], b'G', self.emulator.pending());
        }
    }

    /// Ends the following: what the rows hold is no longer known.
    pub(super) fn leave_flow(&mut self) {
        if self.flow.take().is_some() {
            self.flush();
            self.emulator.scrolled().forget();
        }
    }

    /// Prints text that is not followed, begins to follow after the end of a line, and returns how
    /// much was printed.
    fn lead(&mut self, text: &str, is_last: bool) -> usize {
        let line_end = text.rfind('\n').map_or(text.len(), |at| at + 1);
        let text = if is_last { text } else { &text[..line_end] };
        self.send(text);
        if text.trim_end_matches('\r').ends_with('\n') {
            self.enter_flow();
        }
        text.len()
    }

    /// Begins to follow at the bottom of what scrolls.
    fn enter_flow(&mut self) {
        let margins = self.margins();
        let (row, col) = self.cursor();
        if row == margins.bottom {
            let region = Region {
                first: margins.top + 1 - margins.above(),
                rows: margins.bottom - margins.top + 1,
                is_kept: margins.top == 0 && !self.is_alternate(),
            };
            self.emulator.scrolled().follow(region);
            self.flow = Some(Flow { is_new: false, ..Flow::at(col) });
        }
    }

    /// Prints text and writes its rows down, as far as it can be followed, and returns how far.
    fn follow(&mut self, mut flow: Flow, text: &str) -> usize {
        let (cols, pen) = (self.size().cols, self.pen);
        let pending = self.emulator.pending().len();
        let rows = self.emulator.scrolled();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'\n' => {
                    at += 1;
                    rows.begin(Begin { at: pending + at, col: flow.col, pen }, false);
                    flow = Flow::at(flow.col);
                }
                b'\r' => {
                    flow.go_back(0);
                    at += 1;
                }
                _ if flow.is_over_text => break,
                _ => {
                    let (length, columns) = stretch(&text[at..], cols - flow.col);
                    if length == 0 {
                        // A row that has nothing in its last column has not wrapped.
                        let wraps = flow.has_text && flow.col == cols;
                        rows.begin(Begin { at: pending + at, col: 0, pen }, wraps);
                        flow = Flow::at(0);
                        continue;
                    }
                    if let Some(row) = rows.current() {
                        row.resize(row.len() + usize::from(flow.gap), BLANK);
                        row.extend_from_slice(&bytes[at..at + length]);
                    }
                    flow.has_text = true;
                    flow.gap = 0;
                    flow.col += columns;
                    at += length;
                }
            }
        }
        self.flow = Some(flow);
        self.emulator.pending().extend_from_slice(&bytes[..at]);
        if at < bytes.len() {
            self.leave_flow();
        } else if self.emulator.is_due() {
            self.flush();
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

    const PARTS: [&str; 31] = [
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
        "\x08",
        "\x0b",
        "\n\n\n\n\n\n\n\n",
        "a\r\nb\r\n\nlong enough to wrap\nc\nd\r\ne",
        "\x1b[1;2r\x1b[2H",
        "\x1b[2;3r\x1b[?6h\x1b[2H",
        "\x1b[?6l\x1b[2;4r\x1b[4H",
        "\x1b[r\x1b[4H",
        "\x1b[?1049h\x1b[4H",
        "\x1b[?1049l",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[?7l",
        "\x1b[?7h",
        "\x1b[20h",
        "\x1b[20l\x1b[2H",
    ];

    fn rows(parts: &[usize], follows: bool) -> (Vec<Row>, bool) {
        let mut terminal = Terminal::new(Size { rows: 4, cols: 11 }, HistoryLimit::default());
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
        rows.extend((0..4).map(|row| terminal.canvas.row(row)));
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

    /// What is not followed costs the emulator twenty times as much for each line feed.
    #[test]
    fn a_flood_of_line_feeds_is_followed_whatever_is_between_them() {
        for opening in ["", "\x1b[4h", "\x1b[?7l", "\x1b[20h", "\x1b(0", "\x1b[1;2r\x1b[2H"] {
            for flood in ["\n", "x\n", "y\r\n", "\n\r", "\x08\n", "\x0b", "\x1bD", "\tx\n"] {
                let mut terminal =
                    Terminal::new(Size { rows: 3, cols: 11 }, HistoryLimit::default());
                let mut scanner = Scanner::default();
                scanner.scan(opening.as_bytes(), &mut terminal);
                scanner.scan(flood.repeat(40).as_bytes(), &mut terminal);
                assert!(terminal.canvas.flow.is_some(), "{flood:?} after {opening:?}");
            }
        }
    }

    #[test]
    fn a_log_is_followed() {
        assert!(rows(&[0, 1, 1, 1, 0, 1], true).1);
    }
}
