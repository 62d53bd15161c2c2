//! Catches the rows that leave the emulator, and holds those whose content is known without it.

use std::fmt;

use vt100::capture::{BasicFormattedCaptureState, RowContents};

use super::line::BLANK;
use super::look::{LookId, write_pen};

/// What is kept allocated of each store between two collections.
const KEPT_BYTES: usize = 64 * 1024;
/// Known rows that were collected are forgotten once they are this many.
const COLLECTED_ROWS_MAX: usize = 256;

/// The rows that left the primary screen since they were last collected.
#[derive(Default)]
pub(super) struct Scrolled {
    raw: Raw,
    /// Where each captured row ends in `raw`, and whether it goes on in the next.
    ends: Vec<(usize, bool)>,
    /// The rows that are followed, if any are.
    region: Option<Region>,
    /// How many rows at the top of the region must be captured when they leave.
    unknown: u16,
    /// The rows below those, down to the one that is being printed.
    known: Known,
}

/// The part of the screen that scrolls.
#[derive(Clone, Copy)]
pub(super) struct Region {
    /// The number of its first row, as a cursor position counts it.
    pub(super) first: u16,
    pub(super) rows: u16,
    /// Rows that leave it go to the history.
    pub(super) is_kept: bool,
}

/// Rows whose content is known without the emulator, oldest first.
#[derive(Default)]
struct Known {
    /// All of them, in the form in which rows are captured.
    bytes: Vec<u8>,
    rows: Vec<KnownRow>,
    /// How many were collected, and how many have left the screen.
    collected: usize,
    left: usize,
    /// How many the emulator has been given.
    printed: usize,
}

#[derive(Clone, Copy)]
struct KnownRow {
    /// Where it begins in the bytes of its store.
    start: usize,
    begin: Begin,
    is_wrapped: bool,
}

/// How a row begins.
#[derive(Clone, Copy)]
pub(super) struct Begin {
    /// Where, in the bytes that wait for the emulator.
    pub(super) at: usize,
    pub(super) col: u16,
    pub(super) pen: LookId,
}

/// The rows from one up to another, which come and go unseen.
#[derive(Clone, Copy)]
pub(super) struct Passing {
    pub(super) region: Region,
    pub(super) from: Begin,
    pub(super) to: Begin,
}

impl Scrolled {
    /// Begins to write rows down, below the rows that a region has.
    pub(super) fn follow(&mut self, region: Region) {
        self.forget();
        self.region = Some(region);
        self.unknown = if region.is_kept { region.rows } else { 0 };
    }

    pub(super) fn forget(&mut self) {
        self.region = None;
        self.unknown = 0;
        self.known.clear();
    }

    pub(super) fn is_following(&self) -> bool {
        self.region.is_some()
    }

    fn is_kept(&self) -> bool {
        self.region.is_some_and(|region| region.is_kept)
    }

    /// Begins a row, after one that wrapped or ended.
    pub(super) fn begin(&mut self, begin: Begin, wraps: bool) {
        let Known { bytes, rows, .. } = &mut self.known;
        if let Some(last) = rows.last_mut() {
            last.is_wrapped = wraps;
        }
        rows.push(KnownRow { start: bytes.len(), begin, is_wrapped: false });
        if begin.pen != 0
            && let Some(row) = self.current()
        {
            write_pen(begin.pen, row);
        }
    }

    /// Returns where the row that is being printed is written down, if it is one that is known.
    pub(super) fn current(&mut self) -> Option<&mut Vec<u8>> {
        let is_wanted = self.is_kept() && !self.known.rows.is_empty();
        is_wanted.then_some(&mut self.known.bytes)
    }

    /// Returns which rows that the emulator was not given yet need not be printed at all.
    pub(super) fn passing(&self) -> Option<Passing> {
        let region = self.region?;
        let Known { rows: known, printed, .. } = &self.known;
        let last = known.len().checked_sub(usize::from(region.rows))?;
        // The row before the first may be one that must be captured: it is printed to its end.
        let first = printed + 1;
        (first < last).then(|| Passing { region, from: known[first].begin, to: known[last].begin })
    }

    /// Notes that all the rows above the last ones, as many as the region has, have left it.
    pub(super) fn pass(&mut self) {
        if let Some(region) = self.region.filter(|region| region.is_kept) {
            let Known { rows: known, left, .. } = &mut self.known;
            *left = known.len().saturating_sub(usize::from(region.rows)).max(*left);
        }
    }

    pub(super) fn note_printed(&mut self) {
        self.known.printed = self.known.rows.len();
        if !self.is_kept() {
            self.known.clear();
        }
    }

    /// Takes the row that leaves the screen, if it is known.
    fn take_known(&mut self) -> bool {
        if self.unknown > 0 {
            self.unknown -= 1;
            return false;
        }
        let is_known = self.known.left < self.known.rows.len();
        self.known.left += usize::from(is_known);
        is_known
    }

    /// Hands over each row as captured, and whether it wrapped.
    pub(super) fn drain(&mut self, mut take: impl FnMut(&[u8], bool)) {
        let mut start = 0;
        for (end, wrapped) in self.ends.drain(..) {
            take(&self.raw.0[start..end], wrapped);
            start = end;
        }
        self.raw.0.clear();
        self.raw.0.shrink_to(KEPT_BYTES);
        // Rows that must be captured stand above those that are known, and so leave before them.
        self.known.drain(take);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.known.collected == self.known.left
    }
}

impl Known {
    fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
        (self.collected, self.left, self.printed) = (0, 0, 0);
    }

    fn drain(&mut self, mut take: impl FnMut(&[u8], bool)) {
        for at in self.collected..self.left {
            let row = &self.rows[at];
            take(&self.bytes[row.start..self.start(at + 1)], row.is_wrapped);
        }
        self.collected = self.left;
        if self.collected > COLLECTED_ROWS_MAX || self.start(self.collected) > KEPT_BYTES {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let start = self.start(self.collected);
        self.bytes.drain(..start);
        self.bytes.shrink_to(KEPT_BYTES);
        self.rows.drain(..self.collected);
        self.rows.shrink_to(COLLECTED_ROWS_MAX);
        self.rows.iter_mut().for_each(|row| row.start -= start);
        self.printed = self.printed.saturating_sub(self.collected);
        (self.collected, self.left) = (0, 0);
    }

    fn start(&self, row: usize) -> usize {
        self.rows.get(row).map_or(self.bytes.len(), |row| row.start)
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
