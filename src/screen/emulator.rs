//! Feeds the emulator and outlives its panics.

use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::model::Size;

use super::draw::write_csi;
use super::line::Line;
use super::look::write_pen;
use super::scrolled::{Passing, Scrolled};

/// A panic inside the emulator costs what is left of one such portion.
const PORTION_BYTES: usize = 1024;
/// While rows are followed a portion is larger: those that leave the screen within it need not be
/// printed. Plain text and colours are all there is in it.
const FOLLOWED_BYTES: usize = 16 * 1024;

/// Puts the cursor, on the last column, behind it: prints there and takes it away again.
const PENDING_WRAP: &[u8] = b"\x1b[m \x1b7\x08\x1b[X\x1b8";

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
        self.pending.len() >= self.portion()
    }

    /// Returns how much text fits before a flush is due.
    pub(super) fn room(&self) -> usize {
        self.portion().saturating_sub(self.pending.len()).max(64)
    }

    fn portion(&self) -> usize {
        let is_following = self.parser.callbacks().is_following();
        if is_following { FOLLOWED_BYTES } else { PORTION_BYTES }
    }

    /// Says whether the emulator took the pending bytes without a panic.
    #[must_use]
    pub(super) fn flush(&mut self) -> bool {
        if self.pending.is_empty() {
            return true;
        }
        let survived = self.leave_out() && self.process();
        self.scrolled().note_printed();
        self.pending.clear();
        survived
    }

    /// Leaves out the rows that would come and go within the pending bytes: scrolls all that the
    /// region shows away and goes on at its top with the rows that stay.
    fn leave_out(&mut self) -> bool {
        let Some(Passing { region, from, to }) = self.scrolled().passing() else { return true };
        let mut rest = Vec::new();
        write_csi(&[region.first, to.col + 1], b'H', &mut rest);
        if to.col == self.size.cols {
            rest.extend_from_slice(PENDING_WRAP);
        }
        write_pen(to.pen, &mut rest);
        rest.extend_from_slice(&self.pending[to.at..]);
        self.pending.truncate(from.at);
        write_csi(&[region.rows], b'S', &mut self.pending);
        let survived = self.process();
        self.scrolled().pass();
        self.pending = rest;
        survived
    }

    fn process(&mut self) -> bool {
        let (parser, bytes) = (&mut self.parser, &self.pending);
        catch_unwind(AssertUnwindSafe(|| parser.process(bytes))).is_ok()
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
