//! How large a terminal is.

use serde::{Deserialize, Serialize};

/// The rows and columns of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Size {
    pub rows: u16,
    pub cols: u16,
}

impl Size {
    /// Emulators and programs misbehave below this.
    const LEAST: u16 = 2;
    /// No terminal on earth is larger; a pane costs memory by the cell.
    const MOST: u16 = 1000;

    /// Returns the size brought into the range that every part of the program can handle.
    #[must_use]
    pub fn clamped(self) -> Self {
        let clamp = |length: u16| length.clamp(Self::LEAST, Self::MOST);
        Self { rows: clamp(self.rows), cols: clamp(self.cols) }
    }
}

impl Default for Size {
    fn default() -> Self {
        Self { rows: 24, cols: 80 }
    }
}
