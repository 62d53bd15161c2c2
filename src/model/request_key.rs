//! Words by which a request is known again when its answer was lost.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Long enough for whatever number or name a script has at hand; each is kept for a while.
const CHARS_MAX: usize = 128;

/// A word of whoever asks: the same word again means the same request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestKey(String);

/// Says why a text is no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no key: use up to {CHARS_MAX} letters, digits and `-_.:`")]
pub struct InvalidKey(String);

impl FromStr for RequestKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        if !text.is_empty() && text.len() <= CHARS_MAX && text.chars().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidKey(text.chars().filter(|c| !c.is_control()).take(64).collect()))
        }
    }
}

impl TryFrom<String> for RequestKey {
    type Error = InvalidKey;

    fn try_from(text: String) -> Result<Self, InvalidKey> {
        text.parse()
    }
}

impl From<RequestKey> for String {
    fn from(key: RequestKey) -> Self {
        key.0
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request that is known by a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyed {
    pub key: RequestKey,
    /// Stands for all that it asks for: another request has another one.
    pub print: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_short_plain_word() {
        for good in ["a", "job-17", "2026-11-18T08:00:00.123", &"x".repeat(CHARS_MAX)] {
            assert_eq!(good.parse::<RequestKey>().unwrap().to_string(), good);
        }
        for bad in ["", "two words", "a/b", "ü", "a\n", &"x".repeat(CHARS_MAX + 1)] {
            let said = bad.parse::<RequestKey>().unwrap_err().to_string();
            assert!(said.contains("is no key: use up to 128"), "{said}");
        }
    }
}
