//! The fingerprint of a content.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes, as 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hash(String);

impl Hash {
    /// Returns the hash of the bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
        let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
        Self(Sha256::digest(bytes).iter().flat_map(digits).collect())
    }

    /// Returns the first eight digits: enough to tell projects apart, not to prove anything.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_well_known_one() {
        let hash = Hash::of(b"abc");
        assert!(hash.to_string().starts_with("ba7816bf8f01cfea"));
        assert_eq!(hash.short(), "ba7816bf");
    }
}
