//! Output that tries the patience of whoever reads it.

use std::io::{self, Write};

use super::random::Random;
use super::script::Flood;

/// What is written at once.
const CHUNK_BYTES: usize = 16 << 10;

/// Writes exactly so many bytes of the kind, and an end to any control string it opened.
pub(super) fn flood(out: &mut impl Write, kind: Flood, bytes: u64, seed: u64) -> io::Result<()> {
    let mut random = Random::new(seed);
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut line = 0_u64;
    let mut chunk = Vec::with_capacity(2 * CHUNK_BYTES);
    if kind == Flood::Osc {
        out.write_all(b"\x1b]0;")?;
    }
    while left > 0 {
        chunk.clear();
        while chunk.len() < CHUNK_BYTES {
            line += 1;
            match kind {
                Flood::Lines => write!(chunk, "{line:>8} the quick brown fox jumps\r\n")?,
                Flood::Line | Flood::Osc => chunk.extend_from_slice(b"abcdefghijklmnop"),
                Flood::Marks => chunk.extend_from_slice("\u{301}\u{308}\u{331}".as_bytes()),
                Flood::Bytes => chunk.extend_from_slice(&random.next().to_le_bytes()),
            }
        }
        chunk.truncate(left);
        out.write_all(&chunk)?;
        left -= chunk.len();
    }
    match kind {
        Flood::Osc => out.write_all(b"\x07")?,
        // Random bytes may have opened a string or changed a mode; this ends and resets it.
        Flood::Bytes => out.write_all(b"\x18\x1b\\\x1bc")?,
        Flood::Lines | Flood::Line | Flood::Marks => {}
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_has_its_size_and_is_the_same_for_the_same_seed() {
        let made = |kind, seed| {
            let mut out = Vec::new();
            flood(&mut out, kind, 100_000, seed).unwrap();
            out
        };
        assert_eq!(made(Flood::Lines, 1).len(), 100_000);
        assert!(!made(Flood::Line, 1).contains(&b'\n'));
        assert_eq!(made(Flood::Bytes, 1), made(Flood::Bytes, 1));
        assert_ne!(made(Flood::Bytes, 1), made(Flood::Bytes, 2));
        assert!(made(Flood::Osc, 1).ends_with(b"\x07"));
    }
}
