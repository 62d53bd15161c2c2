//! Remembers secrets, and finds them again where nothing but themselves tells them, or in pieces.

use std::collections::BTreeSet;
use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::secrets::{looks_random, secrets};

/// What was a secret once is one everywhere, unless it is as short as a word.
const CHARS_MIN: usize = 8;
/// So many letters in a row of something random are a piece of it, and never chance.
const PIECE_BYTES: usize = 6;
/// So many different ones are looked for again.
const WORDS_MAX: usize = 500;
/// What the pattern of all of them may cost.
const PATTERN_BYTES_MAX: usize = 64 << 20;

/// Secrets that were seen.
#[derive(Debug, Default)]
pub(super) struct Known {
    words: BTreeSet<String>,
}

/// What finds them again.
#[derive(Debug)]
pub(super) struct Finder {
    words: Option<Regex>,
    pieces: BTreeSet<[u8; PIECE_BYTES]>,
}

impl Known {
    /// Remembers the secrets in a text.
    pub(super) fn learn(&mut self, text: &str) {
        for range in secrets(text) {
            let words = text[range].split_whitespace();
            let is_long = |word: &&str| word.chars().count() >= CHARS_MIN;
            let room = WORDS_MAX.saturating_sub(self.words.len());
            self.words.extend(words.filter(is_long).take(room).map(str::to_owned));
        }
    }

    pub(super) fn finder(&self) -> Finder {
        let words: Vec<String> = self.words.iter().map(|word| regex::escape(word)).collect();
        let pattern = RegexBuilder::new(&words.join("|")).size_limit(PATTERN_BYTES_MAX).build();
        let random = self.words.iter().filter(|word| looks_random(word));
        let pieces = random.flat_map(|word| word.as_bytes().windows(PIECE_BYTES));
        let pieces = pieces.filter_map(|piece| piece.try_into().ok()).collect();
        Finder { words: pattern.ok().filter(|_| !words.is_empty()), pieces }
    }
}

impl Finder {
    /// Returns where in the text a known secret or a piece of one is.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let words = self.words.iter().flat_map(|words| words.find_iter(text));
        let mut found: Vec<Range<usize>> = words.map(|word| word.range()).collect();
        if !self.pieces.is_empty() {
            let windows = text.as_bytes().windows(PIECE_BYTES).enumerate();
            let known = windows.filter(|(_, piece)| {
                <[u8; PIECE_BYTES]>::try_from(*piece)
                    .is_ok_and(|piece| self.pieces.contains(&piece))
            });
            found.extend(known.map(|(at, _)| at..at + PIECE_BYTES));
        }
        found
    }
}
