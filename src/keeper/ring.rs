//! Keeps the last part of an agent's output, addressed by its offset since the start.

use std::ops::Range;

/// What a hub can still get when it comes back: many screens, little memory.
pub const RING_BYTES: usize = 1024 * 1024;

/// A ring of bytes with absolute offsets.
pub(super) struct Ring {
    bytes: Vec<u8>,
    end: u64,
}

impl Ring {
    pub(super) fn new() -> Self {
        // Zeroed memory of this size comes from the kernel and costs nothing until it is written.
        Self { bytes: vec![0; RING_BYTES], end: 0 }
    }

    /// Returns the offsets of the bytes that are still there.
    pub(super) fn kept(&self) -> Range<u64> {
        self.end.saturating_sub(RING_BYTES as u64)..self.end
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns room for at most `limit` new bytes, in one piece, over the oldest ones.
    pub(super) fn room(&mut self, limit: usize) -> &mut [u8] {
        let at = index(self.end);
        let until = RING_BYTES.min(at + limit);
        &mut self.bytes[at..until]
    }

    /// Takes in the first `count` bytes of the room.
    pub(super) fn advance(&mut self, count: usize) {
        self.end += count as u64;
    }

    /// Returns the bytes from `offset` to at most `until`, as far as they lie in one piece.
    pub(super) fn piece(&self, offset: u64, until: u64) -> &[u8] {
        let kept = self.kept();
        debug_assert!(kept.start <= offset && until <= kept.end, "{offset}..{until} of {kept:?}");
        let at = index(offset);
        let count = usize::try_from(until.saturating_sub(offset)).unwrap_or(RING_BYTES);
        &self.bytes[at..RING_BYTES.min(at + count)]
    }
}

fn index(offset: u64) -> usize {
    usize::try_from(offset % RING_BYTES as u64).expect("a remainder is smaller than its divisor")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_is_kept_is_what_was_written_last(
            writes in prop::collection::vec(1_usize..200_000, 1..30),
            from in any::<prop::sample::Index>(),
        ) {
            let mut ring = Ring::new();
            let mut all = Vec::new();
            for write in writes {
                let mut left = write;
                while left > 0 {
                    let room = ring.room(left);
                    for (place, offset) in room.iter_mut().zip(all.len()..) {
                        *place = u8::try_from(offset % 251).unwrap();
                        all.push(*place);
                    }
                    let count = room.len();
                    ring.advance(count);
                    left -= count;
                }
            }
            let kept = ring.kept();
            prop_assert_eq!(kept.end, all.len() as u64);
            let length = usize::try_from(kept.end - kept.start).unwrap();
            let mut offset = kept.start + from.index(length) as u64;
            let first = usize::try_from(offset).unwrap();
            let mut read = Vec::new();
            while offset < kept.end {
                let piece = ring.piece(offset, kept.end);
                read.extend_from_slice(piece);
                offset += piece.len() as u64;
            }
            prop_assert!(read == all[first..]);
        }
    }
}
