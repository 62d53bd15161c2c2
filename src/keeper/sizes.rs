//! Remembers which size the terminal had at which offset of the output.

use std::collections::VecDeque;

use crate::model::Size;

/// More resizes than this within one ring are merged: the oldest output is then read at the width
/// that followed it.
const SIZES_MAX: usize = 64;

/// The sizes of a terminal in the order of its output; never empty.
pub(super) struct Sizes {
    changes: VecDeque<(u64, Size)>,
}

impl Sizes {
    pub(super) fn new(size: Size) -> Self {
        Self { changes: VecDeque::from([(0, size)]) }
    }

    pub(super) fn current(&self) -> Size {
        self.changes.back().expect("the last size is never forgotten").1
    }

    /// Notes a new size from this offset on, and forgets what lies before the `oldest` byte.
    pub(super) fn change(&mut self, offset: u64, size: Size, oldest: u64) {
        if self.changes.back().is_some_and(|last| last.0 == offset) {
            self.changes.pop_back();
        }
        self.changes.push_back((offset, size));
        let is_past =
            |changes: &VecDeque<(u64, Size)>| changes.get(1).is_some_and(|c| c.0 <= oldest);
        while self.changes.len() > SIZES_MAX || is_past(&self.changes) {
            self.changes.pop_front();
        }
    }

    /// Returns the size in force at this offset.
    pub(super) fn at(&self, offset: u64) -> Size {
        let earlier = self.changes.iter().rev().find(|change| change.0 <= offset);
        earlier.or(self.changes.front()).expect("the last size is never forgotten").1
    }

    /// Returns the first change after this offset.
    pub(super) fn next_after(&self, offset: u64) -> Option<(u64, Size)> {
        self.changes.iter().find(|change| change.0 > offset).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_has_the_size_it_was_printed_at() {
        let mut sizes = Sizes::new(wide(80));
        sizes.change(100, wide(90), 0);
        sizes.change(100, wide(95), 0);
        sizes.change(200, wide(120), 0);
        assert_eq!(sizes.at(0), wide(80));
        assert_eq!(sizes.at(99), wide(80));
        assert_eq!(sizes.at(100), wide(95));
        assert_eq!(sizes.next_after(100), Some((200, wide(120))));
        assert_eq!(sizes.next_after(200), None);
        assert_eq!(sizes.current(), wide(120));
    }

    #[test]
    fn endless_resizing_is_bounded() {
        let mut sizes = Sizes::new(wide(80));
        for offset in 1..1000 {
            sizes.change(offset, wide(80 + u16::try_from(offset % 7).unwrap()), 0);
        }
        assert_eq!(sizes.changes.len(), SIZES_MAX);
        sizes.change(1000, wide(10), 995);
        assert_eq!(sizes.changes.front().unwrap().0, 995);
    }

    fn wide(cols: u16) -> Size {
        Size { rows: 24, cols }
    }
}
