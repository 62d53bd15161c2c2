//! Which of the caller's variables may pass.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// The name of a variable, or the beginning of names: `CODEX_HOME`, `ANTHROPIC_*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariablePattern(String);

/// Says why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a variable, nor the beginning of one followed by `*`")]
pub struct InvalidPattern(String);

impl VariablePattern {
    /// Says whether the pattern covers the name.
    pub fn matches(&self, name: &str) -> bool {
        covers(&self.0, name)
    }
}

impl AsRef<str> for VariablePattern {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for VariablePattern {
    type Err = InvalidPattern;

    /// A lone `*` is no pattern: it would hand every secret of the caller to the agent.
    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        let stem = text.strip_suffix('*').unwrap_or(text);
        if is_variable_name(stem) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidPattern(text.to_owned()))
        }
    }
}

impl<'de> Deserialize<'de> for VariablePattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "Write names such as `OPENAI_API_KEY`, or their beginning: `OPENAI_*`";
        let told = |error| serde::de::Error::custom(format!("{error}\nhint: {hint}"));
        String::deserialize(deserializer)?.parse().map_err(|error: InvalidPattern| told(error))
    }
}

impl fmt::Display for VariablePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Says whether a pattern covers a name.
pub(super) fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

/// Says whether the text can name a variable in every shell.
pub(super) fn is_variable_name(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_name_or_the_beginning_of_one() {
        let pattern: VariablePattern = "AWS_*".parse().unwrap();
        assert!(pattern.matches("AWS_REGION"));
        assert!(!pattern.matches("XAWS_REGION"));
        assert!("HOME".parse::<VariablePattern>().unwrap().matches("HOME"));
        assert!(!"HOME".parse::<VariablePattern>().unwrap().matches("HOMER"));
        for bad in ["", "*", "A=B", "A*B", "*_KEY", "1A", "A B"] {
            assert!(bad.parse::<VariablePattern>().is_err(), "{bad}");
        }
    }
}
