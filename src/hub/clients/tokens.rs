//! Makes the secret that a run is given, and finds whose one is.

use std::fs::File;
use std::io::{self, Read};

use crate::config::Hash;
use crate::engine::{Engine, Seat};
use crate::model::{AgentName, RunId, Token};

/// Nobody guesses so many bytes.
const TOKEN_BYTES: usize = 32;

/// Returns a secret that nobody else has.
pub(in crate::hub) fn new_token() -> io::Result<Token> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    Ok(Token(digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()))
}

/// Returns all that is kept of a token.
pub(in crate::hub) fn hash(token: &Token) -> String {
    Hash::of(token.0.as_bytes()).to_string()
}

/// Returns whose token it is; it is nobody's once its run is over.
pub(in crate::hub) fn holder(engine: &Engine, token: &Token) -> Option<(AgentName, RunId)> {
    holder_of(engine, token, |seat| seat.member.contact.token_hash.as_deref())
}

/// Returns for whose reporters a pane has this name, which is a secret of the run.
pub(in crate::hub) fn holder_of_pane(engine: &Engine, pane: &str) -> Option<(AgentName, RunId)> {
    let pane = Token(pane.to_owned());
    holder_of(engine, &pane, |seat| seat.member.contact.pane_hash.as_deref())
}

fn holder_of(
    engine: &Engine,
    token: &Token,
    kept: impl Fn(&Seat) -> Option<&str>,
) -> Option<(AgentName, RunId)> {
    let hash = hash(token);
    let is_its =
        |seat: &&Seat| !seat.is_gone() && kept(seat).is_some_and(|one| is_equal(one, &hash));
    let seat = engine.seats().find(is_its)?;
    Some((seat.member.name.clone(), seat.run))
}

/// Compares in a time that does not depend on where the two differ.
fn is_equal(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_never_the_same() {
        let (one, two) = (new_token().unwrap(), new_token().unwrap());
        assert_eq!(one.0.len(), 2 * TOKEN_BYTES);
        assert_ne!(one, two);
        assert!(is_equal(&hash(&one), &hash(&one)) && !is_equal(&hash(&one), &hash(&two)));
        assert!(!is_equal("ab", "abc"));
    }
}
