//! Which rows may have changed, so that the others need not be read again.

use std::ops::RangeInclusive;

/// The sequences that change nothing but the pen or the cursor's own row.
const LOCAL: &[u8] = b"mKXP@";

/// When each row last changed, counted in changes.
#[derive(Debug, Default)]
pub(super) struct Changed {
    count: u64,
    /// Rows beyond these have changed with all.
    rows: Vec<u64>,
    all: u64,
}

impl Changed {
    pub(super) fn note_all(&mut self) {
        self.count += 1;
        self.all = self.count;
    }

    pub(super) fn note_rows(&mut self, rows: RangeInclusive<u16>) {
        self.count += 1;
        let (first, last) = (usize::from(*rows.start()), usize::from(*rows.end()));
        if self.rows.len() <= last {
            self.rows.resize(last + 1, 0);
        }
        self.rows[first..=last].fill(self.count);
    }

    /// Returns a number that grows with every change.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns what the count was right after a row last changed.
    pub(super) fn at(&self, row: u16) -> u64 {
        self.rows.get(usize::from(row)).copied().unwrap_or_default().max(self.all)
    }
}

/// Says whether bytes for the emulator change only the rows from where the cursor is to where it
/// ends up, provided that nothing scrolls.
pub(super) fn is_local(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == 0x1b) {
        let Some(sequence) = rest[at + 1..].strip_prefix(b"[") else { return false };
        let length = sequence.iter().take_while(|byte| matches!(byte, b'0'..=b';')).count();
        if !sequence.get(length).is_some_and(|last| LOCAL.contains(last)) {
            return false;
        }
        rest = &sequence[length + 1..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::{HistoryLimit, Screen};
    use crate::model::{Moment, Row, Size};

    /// Pieces of output that move, scroll, erase, switch and wrap.
    const PIECES: &[&str] = &[
        "a",
        "word ",
        "wide 漢字",
        "\r",
        "\n",
        "\r\n",
        "\t",
        "\x08",
        "\x1b[K",
        "\x1b[1K",
        "\x1b[2X",
        "\x1b[31m",
        "\x1b[m",
        "\x1b[P",
        "\x1b[3@",
        "\x1b[A",
        "\x1b[2B",
        "\x1b[H",
        "\x1b[3;5H",
        "\x1b[J",
        "\x1b[2J",
        "\x1b[L",
        "\x1b[M",
        "\x1b[S",
        "\x1b[T",
        "\x1bM",
        "\x1bD",
        "\x1bE",
        "\x1b[2;4r",
        "\x1b[r",
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1b[?6h",
        "\x1b[?6l",
        "\x1bc",
        "\x1b7",
        "\x1b8",
        "\x1b[?7l",
        "\x1b[?7h",
        "\x1b[5b",
        "e\u{301}",
        "\x0b",
        "\x0c",
        "a line that is longer than the screen is wide",
        "x\ny\nz\nx\ny\nz\n",
    ];

    #[test]
    fn a_row_that_counts_as_unchanged_is_unchanged() {
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % limit as u64).unwrap()
        };
        for _ in 0..300 {
            let size = Size { rows: 6, cols: 20 };
            let mut screen = Screen::new(size, HistoryLimit::default());
            let mut story = Vec::new();
            for _ in 0..60 {
                let (count, before) = (screen.changes(), rows(&screen));
                let piece: String = (0..=below(4)).map(|_| PIECES[below(PIECES.len())]).collect();
                if below(30) == 0 {
                    let cols = 10 + u16::try_from(below(20)).unwrap();
                    screen.resize(Size { rows: 6, cols });
                }
                screen.feed(piece.as_bytes(), Moment(0));
                story.push(piece);
                for (row, (old, new)) in (0..).zip(before.iter().zip(rows(&screen))) {
                    let has_changed = screen.row_changed_at(row) > count;
                    assert!(has_changed || *old == new, "row {row} after {story:?}");
                }
            }
        }
    }

    fn rows(screen: &Screen) -> Vec<Row> {
        screen.rows()
    }

    #[test]
    fn a_spinner_changes_its_own_row_alone() {
        let mut screen = Screen::new(Size { rows: 6, cols: 40 }, HistoryLimit::default());
        screen.feed(b"one\r\ntwo\r\nthree", Moment(0));
        let count = screen.changes();
        screen.feed("\r\x1b[31m⠋\x1b[m Thinking (2s)\x1b[K".as_bytes(), Moment(0));
        let changed = |row: &u16| screen.row_changed_at(*row) > count;
        assert_eq!((0..6).filter(changed).collect::<Vec<_>>(), [2]);
    }
}
