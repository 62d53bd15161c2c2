//! The tags of attempts: short, and never twice among those in memory.

use crate::engine::Engine;

const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
const TAG_CHARS: usize = 4;

/// Where tags come from: a number of the shell's choice, and how many were drawn since.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Tags {
    pub(in crate::engine) seed: u64,
    drawn: u64,
}

impl Engine {
    /// Returns a tag that no attempt and no prompt in memory has.
    pub fn next_tag(&mut self) -> String {
        loop {
            let tag = self.tags.draw();
            let has = |task: &crate::model::Task| task.attempts.iter().any(|one| one.tag == tag);
            let is_sent = self.dispatches().any(|one| one.tag.as_ref() == Some(&tag));
            if !is_sent && !self.tasks.values().any(has) {
                return tag;
            }
        }
    }
}

impl Tags {
    fn draw(&mut self) -> String {
        self.drawn += 1;
        let mut bits = mix(self.seed ^ mix(self.drawn));
        let mut tag = String::with_capacity(TAG_CHARS);
        for at in 0..TAG_CHARS {
            // A digit in it keeps it from being a word that an agent might write by itself.
            let letters = if at == 1 { &LETTERS[24..] } else { &LETTERS[..] };
            tag.push(char::from(
                letters[usize::try_from(bits % letters.len() as u64).unwrap_or(0)],
            ));
            bits /= letters.len() as u64;
        }
        tag
    }
}

/// Spreads a number over all bits (the finaliser of splitmix64).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_differ_by_seed_and_by_turn_and_read_as_tags() {
        let draw = |seed| {
            let mut tags = Tags { seed, drawn: 0 };
            (0..100).map(|_| tags.draw()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        for tag in draw(7) {
            let line = format!("STATUS({tag}): DONE");
            assert_eq!(crate::protocol::parse(&line).unwrap().tag, Some(tag));
        }
    }
}
