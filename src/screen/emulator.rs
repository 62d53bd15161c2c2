//! Feeds the emulator, outlives its panics and catches the rows that leave it.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use vt100::capture::{BasicFormattedCaptureState, RowContents};

use crate::model::Size;

use super::line::{BLANK, Line};
use super::look::{LookId, write_pen};

/// A panic inside the emulator costs what is left of one such portion.
const PORTION_BYTES: usize = 1024;

/// The emulator with the bytes that wait for it.
pub(super) struct Emulator {
    parser: vt100::Parser<Scrolled>,
    size: Size,
    pending: Vec<u8>,
}

impl Emulator {
    pub(super) fn new(size: Size) -> Self {
        let length = |length: u16| NonZeroU16::new(length).unwrap_or(NonZeroU16::MIN);
        let (rows, cols) = (length(size.rows), length(size.cols));
        let parser = vt100::Parser::new_with_callbacks(rows, cols, 0, Scrolled::default());
        Self { parser, size, pending: Vec::new() }
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// Returns the bytes that go to the emulator with the next flush.
    pub(super) fn pending(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    pub(super) fn is_due(&self) -> bool {
        self.pending.len() >= PORTION_BYTES
    }

    /// Returns how much text fits before a flush is due.
    pub(super) fn room(&self) -> usize {
        PORTION_BYTES.saturating_sub(self.pending.len()).max(64)
    }

    /// Says whether the emulator took the pending bytes without a panic.
    #[must_use]
    pub(super) fn flush(&mut self) -> bool {
        if self.pending.is_empty() {
            return true;
        }
        let (parser, bytes) = (&mut self.parser, &self.pending);
        let result = catch_unwind(AssertUnwindSafe(|| parser.process(bytes)));
        self.pending.clear();
        result.is_ok()
    }

    pub(super) fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// Returns the row and the column; a column past the last one means that a wrap is pending.
    pub(super) fn cursor(&self) -> (u16, u16) {
        let (row, col) = self.screen().cursor_position();
        (row.min(self.size.rows - 1), col.min(self.size.cols))
    }

    pub(super) fn lines(&self) -> Vec<Line> {
        (0..self.size.rows).map(|row| Line::read(self.screen(), row)).collect()
    }

    /// Reads what a panic left behind.
    pub(super) fn salvage(&self) -> Vec<Line> {
        let read = |row| catch_unwind(AssertUnwindSafe(|| Line::read(self.screen(), row)));
        (0..self.size.rows).map(|row| read(row).unwrap_or_default()).collect()
    }

    pub(super) fn scrolled(&mut self) -> &mut Scrolled {
        self.parser.callbacks_mut()
    }
}

/// A row whose content is known without the emulator, in the form in which rows are captured.
#[derive(Default)]
struct KnownRow {
    raw: Vec<u8>,
    is_wrapped: bool,
}

/// The rows that left the primary screen since they were last collected.
#[derive(Default)]
pub(super) struct Scrolled {
    raw: Raw,
    /// Where each row ends in `raw`, and whether it goes on in the next.
    ends: Vec<(usize, bool)>,
    /// How many rows at the top of the screen must be captured when they leave.
    unknown: u16,
    /// The rows below those, down to the one that is being printed.
    known: VecDeque<KnownRow>,
    /// Rows that left, kept for their memory.
    spare: Vec<KnownRow>,
}

impl Scrolled {
    /// Begins to write rows down, below the rows that the screen has.
    pub(super) fn follow(&mut self, rows: u16) {
        self.forget();
        self.unknown = rows;
    }

    pub(super) fn forget(&mut self) {
        self.unknown = 0;
        self.known.clear();
        self.spare.clear();
    }

    /// Begins a row, after one that wrapped or ended.
    pub(super) fn begin(&mut self, pen: LookId, wraps: bool) {
        if let Some(last) = self.known.back_mut() {
            last.is_wrapped = wraps;
        }
        let mut row = self.spare.pop().unwrap_or_default();
        row.raw.clear();
        row.is_wrapped = false;
        if pen != 0 {
            write_pen(pen, &mut row.raw);
        }
        self.known.push_back(row);
    }

    /// Returns the row that is being printed, if it is one that is known.
    pub(super) fn current(&mut self) -> Option<&mut Vec<u8>> {
        self.known.back_mut().map(|row| &mut row.raw)
    }

    /// Takes the row that leaves the screen, if it is known.
    fn take_known(&mut self) -> bool {
        if self.unknown > 0 {
            self.unknown -= 1;
            return false;
        }
        let Some(row) = self.known.pop_front() else { return false };
        self.raw.0.extend_from_slice(&row.raw);
        self.ends.push((self.raw.0.len(), row.is_wrapped));
        self.spare.push(row);
        true
    }

    /// Hands over each row as captured, and whether it wrapped.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&[u8], bool)) {
        let mut start = 0;
        for (end, wrapped) in self.ends.drain(..) {
            take(&self.raw.0[start..end], wrapped);
            start = end;
        }
        self.raw.0.clear();
        self.raw.0.shrink_to(64 * PORTION_BYTES);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl vt100::Callbacks for Scrolled {
    /// Fails on a sequence that the guard never lets through.
    #[cfg(test)]
    fn unhandled_escape(&mut self, _: &mut vt100::Screen, _: Option<u8>, _: Option<u8>, byte: u8) {
        assert!(byte != b'~', "a failure for the tests");
    }

    fn on_scroll(&mut self, contents: RowContents<'_>, alternate_screen: bool) {
        if alternate_screen || self.take_known() {
            return;
        }
        let mut state = BasicFormattedCaptureState::new();
        let written = contents.write_formatted_basic(&mut self.raw, &mut state);
        debug_assert!(written.is_ok(), "writing to memory does not fail");
        let mut probe = Probe { is_new_line: false };
        // The probe stops with an error at the first character.
        let stopped = contents.write_formatted_basic(&mut probe, &mut state).is_err();
        self.ends.push((self.raw.0.len(), !(stopped && probe.is_new_line)));
    }
}

/// Collects a captured row, with its blank cells marked.
#[derive(Default)]
struct Raw(Vec<u8>);

impl fmt::Write for Raw {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        match u8::try_from(c) {
            Ok(b' ') => self.0.push(BLANK),
            Ok(byte) if byte.is_ascii() => self.0.push(byte),
            _ => self.write_str(c.encode_utf8(&mut [0; 4]))?,
        }
        Ok(())
    }
}

/// Learns whether a row ended its line: then the capture puts a line end before what follows.
struct Probe {
    is_new_line: bool,
}

impl fmt::Write for Probe {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Err(fmt::Error)
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        self.is_new_line = c == '\n';
        Err(fmt::Error)
    }
}
