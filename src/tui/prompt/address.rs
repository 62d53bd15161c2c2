//! `@name ` at the beginning of a prompt: whom it is for.

use crate::model::AgentName;

/// A prompt, and whom it names at its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Addressed<'a> {
    pub names: Vec<AgentName>,
    pub text: &'a str,
    /// Looks like an address, and no agent has that name.
    pub unknown: Option<&'a str>,
}

/// Takes the addresses off the beginning of a text. What cannot be a name, such as the path of a
/// file, is part of the text.
pub(crate) fn addressed<'a>(text: &'a str, known: &[AgentName]) -> Addressed<'a> {
    let mut found = Addressed { text, ..Addressed::default() };
    while let Some(rest) = found.text.strip_prefix('@') {
        let name = rest.split(char::is_whitespace).next().unwrap_or_default();
        let Ok(parsed) = name.parse::<AgentName>() else { break };
        if !known.contains(&parsed) {
            found.unknown = Some(name);
            break;
        }
        if !found.names.contains(&parsed) {
            found.names.push(parsed);
        }
        found.text = rest[name.len()..].trim_start();
    }
    found
}

/// Returns the address that is being written before the cursor, and who it could be.
pub(crate) fn candidates<'a>(
    before_cursor: &str,
    known: &'a [AgentName],
) -> Option<(usize, Vec<&'a AgentName>)> {
    let start = before_cursor.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let (before, word) = before_cursor.split_at(start);
    let prefix = word.strip_prefix('@')?;
    let earlier = addressed(before, known);
    if !earlier.text.is_empty() || earlier.unknown.is_some() {
        return None;
    }
    let fits =
        |name: &&AgentName| name.as_str().starts_with(prefix) && !earlier.names.contains(name);
    Some((prefix.len(), known.iter().filter(fits).collect()))
}

/// Returns what a name that is being written goes on with, as far as that is certain.
pub(crate) fn completion(before_cursor: &str, known: &[AgentName]) -> Option<String> {
    let (typed, names) = candidates(before_cursor, known)?;
    let first = names.first()?.as_str();
    if names.len() == 1 {
        return Some(format!("{} ", &first[typed..]));
    }
    let shares = |end: usize| names.iter().all(|name| name.as_str().starts_with(&first[..end]));
    let end = (typed..=first.len()).rev().find(|end| shares(*end)).unwrap_or(typed);
    Some(first[typed..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<AgentName> {
        text.split_whitespace().map(|name| name.parse().unwrap()).collect()
    }

    #[test]
    fn names_at_the_beginning_are_addresses_and_nothing_else_is() {
        let known = names("backend tests");
        let found = addressed("@tests @backend  fix @tests", &known);
        assert_eq!((found.names, found.text), (names("tests backend"), "fix @tests"));
        for text in ["@src/main.rs what is it", "@README.md", "ask @tests", " @tests", "@"] {
            let found = addressed(text, &known);
            assert_eq!((found.names.len(), found.text, found.unknown), (0, text, None), "{text}");
        }
        let typo = addressed("@tests @bakend x", &known);
        assert_eq!((typo.names.len(), typo.unknown), (1, Some("bakend")));
    }

    #[test]
    fn a_name_is_completed_as_far_as_it_is_certain() {
        let known = names("backend bakery tests");
        let complete = |text| completion(text, &known);
        assert_eq!(complete("@te").as_deref(), Some("sts "));
        assert_eq!(complete("@b").as_deref(), Some("a"));
        assert_eq!(complete("@ba").as_deref(), Some(""));
        assert_eq!(complete("@tests @bac").as_deref(), Some("kend "));
        assert_eq!(complete("@backend @ba").as_deref(), Some("kery "), "nobody is named twice");
        assert_eq!(complete("@x"), None);
        assert_eq!(complete("fix @te"), None, "only at the beginning");
    }
}
