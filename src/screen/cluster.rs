//! Gives a character of its own to what is one picture to a reader but several to the emulator.
//!
//! The emulator draws a family or a skin tone as several pictures, and can fail when a
//! variation selector widens a cell. It is given one wide stand-in instead, from a plane that
//! Unicode leaves empty, and whoever reads a cell puts the text back.

use std::collections::BTreeMap;

/// Every code point from here on is unassigned and wide.
const FIRST: u32 = 0x3_4000;
/// More pictures than a large screen shows at once, so that few are looked for in vain.
const CLUSTERS_MAX: u32 = 16_384;
/// Marks on one character, its own bytes included: a family of four with skin tones takes 41.
pub(super) const CLUSTER_BYTES_MAX: usize = 64;
pub(super) const CLUSTER_CHARS_MAX: usize = 17;
/// Stands for U+FFFD, which the emulator refuses to print.
const REPLACEMENT: char = '\u{10fffd}';

/// The table of stand-ins.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    texts: Vec<Box<str>>,
    numbers: BTreeMap<Box<str>, u32>,
    free: Vec<u32>,
    text_bytes: usize,
    /// How often a text was looked for that was not there.
    missed: u64,
}

impl Clusters {
    /// Returns the stand-in for a text, or nothing if all are in use.
    pub(super) fn intern(&mut self, text: &str) -> Option<char> {
        if let Some(number) = self.numbers.get(text) {
            return char::from_u32(FIRST + number);
        }
        self.missed += 1;
        let number = if let Some(number) = self.free.pop() {
            let place = &mut self.texts[usize::try_from(number).ok()?];
            self.text_bytes -= place.len();
            *place = text.into();
            number
        } else {
            let number = u32::try_from(self.texts.len()).ok().filter(|n| *n < CLUSTERS_MAX)?;
            self.texts.push(text.into());
            number
        };
        self.text_bytes += text.len();
        self.numbers.insert(text.into(), number);
        char::from_u32(FIRST + number)
    }

    /// Returns what a stand-in means, or nothing if the character is an ordinary one.
    pub(super) fn meaning(&self, c: char) -> Option<&str> {
        if c == REPLACEMENT {
            return Some("\u{fffd}");
        }
        let number = u32::from(c).checked_sub(FIRST).filter(|number| *number < CLUSTERS_MAX)?;
        let text = usize::try_from(number).ok().and_then(|at| self.texts.get(at));
        Some(text.map_or("\u{fffd}", |text| text))
    }

    /// Frees the stand-ins that are not in use; `used` is asked for each.
    pub(super) fn sweep(&mut self, used: impl Fn(char) -> bool) {
        let mut freed = Vec::new();
        self.numbers.retain(|_, number| {
            let keep = char::from_u32(FIRST + *number).is_some_and(&used);
            if !keep {
                freed.push(*number);
            }
            keep
        });
        self.free.append(&mut freed);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        2 * self.text_bytes + self.texts.capacity() * 48
    }

    pub(super) fn missed(&self) -> u64 {
        self.missed
    }
}

/// Says whether a character could be taken for a stand-in.
pub(super) fn is_reserved(c: char) -> bool {
    c == REPLACEMENT || is_cluster(c)
}

/// Says whether a character stands for a cluster.
pub(super) fn is_cluster(c: char) -> bool {
    (FIRST..FIRST + CLUSTERS_MAX).contains(&u32::from(c))
}

/// Returns what the emulator must be given for a character.
pub(super) fn printable(c: char) -> char {
    if c == '\u{fffd}' || is_reserved(c) { REPLACEMENT } else { c }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthChar as _;

    use super::*;

    #[test]
    fn stand_ins_have_the_width_of_what_they_stand_for() {
        assert_eq!(REPLACEMENT.width(), Some(1));
        for number in 0..CLUSTERS_MAX {
            assert_eq!(char::from_u32(FIRST + number).unwrap().width(), Some(2));
        }
    }

    #[test]
    fn the_table_is_bounded_and_a_sweep_makes_room() {
        let mut clusters = Clusters::default();
        for number in 0..CLUSTERS_MAX {
            assert!(clusters.intern(&number.to_string()).is_some());
        }
        assert_eq!(clusters.intern("x"), None);
        let kept = clusters.intern("7").unwrap();
        clusters.sweep(|c| c == kept);
        let new = clusters.intern("x").unwrap();
        assert_eq!(clusters.meaning(new), Some("x"));
        assert_eq!(clusters.meaning(kept), Some("7"));
        assert_eq!(clusters.meaning('a'), None);
    }
}
