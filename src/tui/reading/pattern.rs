//! What is looked for in lines: a regular expression, in smart case.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

/// A pattern without capital letters finds them, too.
#[derive(Clone, Debug)]
pub struct SearchPattern {
    source: String,
    regex: Regex,
}

impl PartialEq for SearchPattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for SearchPattern {}

impl SearchPattern {
    /// Reads a regular expression.
    pub fn new(source: &str) -> Result<Self, regex::Error> {
        let regex = RegexBuilder::new(source).case_insensitive(!has_capital(source)).build()?;
        Ok(Self { source: source.to_owned(), regex })
    }

    /// Reads what a person types, letter by letter: what is no regular expression is looked for as it
    /// stands.
    pub(crate) fn typed(source: &str) -> Option<Self> {
        if source.is_empty() {
            return None;
        }
        let escaped = || Self::new(&regex::escape(source)).ok();
        let pattern = Self::new(source).ok().or_else(escaped)?;
        Some(Self { source: source.to_owned(), ..pattern })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns where a line has it; what is empty counts for nothing.
    pub fn matches(&self, line: &str) -> impl Iterator<Item = Range<usize>> {
        self.regex.find_iter(line).map(|found| found.range()).filter(|range| !range.is_empty())
    }
}

/// Says whether there is a capital letter that is not the name of a class, such as `\W`.
fn has_capital(source: &str) -> bool {
    let mut is_escaped = false;
    source.chars().any(|c| {
        let counts = !is_escaped && c.is_uppercase();
        is_escaped = c == '\\' && !is_escaped;
        counts
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_matters_where_a_capital_letter_is_asked_for() {
        let count = |pattern: &str, line: &str| {
            SearchPattern::typed(pattern).map_or(0, |pattern| pattern.matches(line).count())
        };
        assert_eq!(count("error", "Error error ERROR"), 3);
        assert_eq!(count("Error", "Error error ERROR"), 1);
        assert_eq!(count(r"\S+r\W", "Error error. ERROR!"), 3);
        assert_eq!(count("panic!(", "panic!(\"x\")"), 1, "as it stands");
        assert_eq!(count("x*", "aaa"), 0, "nothing is found everywhere");
        assert_eq!(count("", "aaa"), 0);
    }
}
