//! Identifiers that cannot be mixed up.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest name of an agent.
const AGENT_NAME_CHARS_MAX: usize = 32;

/// Names an agent within its project: `[a-z][a-z0-9_-]{0,31}`.
///
/// The name becomes part of file names, socket names and process titles, so nothing else is let in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = r"^[a-z][a-z0-9_-]{0,31}$", "examples" = ["one"])))]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// Says why a text is not the name of an agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a name: use a lower-case letter, then up to 31 of `a-z`, `0-9`, `_` and `-`")]
pub struct InvalidName(pub String);

impl AgentName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let starts_well = text.starts_with(|first: char| first.is_ascii_lowercase());
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        if starts_well && text.chars().all(plain) && text.len() <= AGENT_NAME_CHARS_MAX {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidName(text.chars().filter(|c| !c.is_control()).take(64).collect()))
        }
    }
}

impl TryFrom<String> for AgentName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names a project's hub, its directories and its processes, such as `shop-3f9a2c1d`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionName(pub String);

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Counts the times that an agent of one name was started: each start is another run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunId(pub u64);

impl RunId {
    /// Returns the run that follows this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Names one request, so that its answer finds the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_lower_case_word() {
        for good in ["a", "backend", "w1", "front-end_2", &"a".repeat(32)] {
            assert!(good.parse::<AgentName>().is_ok(), "{good}");
        }
        for bad in ["", "1a", "-a", "A", "a b", "a/b", "..", "ä", "a\n", &"a".repeat(33)] {
            assert!(bad.parse::<AgentName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_refused_name_is_quoted_without_its_control_characters() {
        let error = "\x1b[31mred".parse::<AgentName>().unwrap_err();
        assert!(!error.to_string().contains('\x1b'));
    }
}
