//! Pays for operations that touch many cells, so that no stream of bytes can take the machine.

/// What a byte of output earns, in cells: a sequence of ten bytes may touch a whole screen of
/// ordinary size, and 64 KiB stay below 50 ms whatever they say.
const CELLS_PER_BYTE: usize = 200;
/// What a chunk of output earns however short it is, in screens: a program that clears the
/// screen and prints a word once a second must never be refused.
const SCREENS_PER_CHUNK: usize = 48;
/// A program that was quiet may open with this many bytes' worth.
const SAVED_BYTES_MAX: usize = 64 * 1024;

/// Cells that may still be touched.
#[derive(Debug)]
pub(super) struct Budget {
    cells: usize,
    /// All the work that was done, paid or not: a unit is about a nanosecond.
    work: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { cells: SAVED_BYTES_MAX * CELLS_PER_BYTE, work: 0 }
    }
}

impl Budget {
    /// Earns for a chunk of output on a screen of so many cells.
    pub(super) fn earn(&mut self, bytes: usize, screen_cells: usize) {
        let saved = self.cells.min(SAVED_BYTES_MAX * CELLS_PER_BYTE / 2);
        let earned = bytes.saturating_mul(CELLS_PER_BYTE) + SCREENS_PER_CHUNK * screen_cells;
        self.cells = saved.saturating_add(earned);
    }

    /// Pays, or says that the operation must be left out.
    pub(super) fn afford(&mut self, cells: usize) -> bool {
        match self.cells.checked_sub(cells) {
            Some(rest) => {
                self.cells = rest;
                self.note_work(cells);
                true
            }
            None => false,
        }
    }

    /// Counts work that nobody has to pay for, because a byte of output causes little of it.
    pub(super) fn note_work(&mut self, units: usize) {
        self.work += units as u64;
    }

    pub(super) fn work(&self) -> u64 {
        self.work
    }
}
