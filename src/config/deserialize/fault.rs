//! What can be wrong with a value, in words.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

use super::key_path::KeyPath;
use crate::config::problem::suggest;

/// Stands at the beginning of a message for the key and its table.
pub(in crate::config) const KEY: &str = "{key}";

/// Why a value cannot be had.
#[derive(Debug)]
pub(super) enum ValueFault {
    /// In words, with a hint after `\nhint: `.
    Wrong(String),
    UnknownWord {
        what: Option<&'static str>,
        word: String,
        known: &'static [&'static str],
    },
    WrongType {
        wanted: Wanted,
        found: &'static str,
    },
    Missing(&'static str),
    /// All that is wrong with it is told, and it cannot be used.
    Broken,
    /// Something is left out now: read it again.
    Again,
    /// Nothing is wrong: this is what would have been right.
    Asked(Wanted),
}

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Text,
    Flag,
    WholeNumber,
    Number,
    Table,
    /// Of what there are several.
    List(&'static str),
    TableOf(&'static str),
}

impl Wanted {
    /// Returns the words for one, and for several.
    pub(super) fn words(self) -> (String, &'static str) {
        let (one, many) = match self {
            Self::Text => ("a string", "strings"),
            Self::Flag => ("true or false", "switches"),
            Self::WholeNumber => ("a whole number", "whole numbers"),
            Self::Number => ("a number", "numbers"),
            // Of tables in a table nothing more is said.
            Self::Table | Self::TableOf("tables") => ("a table", "tables"),
            Self::List(items) => return (format!("a list of {items}"), "lists"),
            Self::TableOf(entries) => return (format!("a table of {entries}"), "tables"),
        };
        (one.to_owned(), many)
    }
}

impl ValueFault {
    /// Returns the message and the hint.
    pub(super) fn in_words(&self, place: &KeyPath) -> (String, Option<String>) {
        let (key, within) = (place.key(), place.within());
        match self {
            Self::Wrong(text) => {
                let text = match text.strip_prefix(KEY) {
                    Some(rest) => format!("`{key}`{within}{rest}"),
                    None => text.clone(),
                };
                match text.split_once("\nhint: ") {
                    Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
                    None => (text, None),
                }
            }
            Self::UnknownWord { what, word, known } => {
                let (what, within) = match (what, place) {
                    (Some(what), _) => (*what, place.within_itself()),
                    // One of `states` is a state.
                    (None, KeyPath::Item(_)) => (key.strip_suffix('s').unwrap_or(key), within),
                    (None, _) => (key, within),
                };
                let hint = suggest(word, known.iter().copied());
                (format!("Unknown {what} `{word}`{within}"), Some(hint))
            }
            Self::WrongType { wanted, found } => {
                let (one, many) = wanted.words();
                let (key, wanted) = match place {
                    KeyPath::Item(_) => (key.to_owned(), Wanted::List(many).words().0),
                    KeyPath::Entry(..) if *wanted == Wanted::Table => (place.path(), one),
                    KeyPath::Entry(..) => (key.to_owned(), Wanted::TableOf(many).words().0),
                    KeyPath::Table(_) | KeyPath::Key(..) => (key.to_owned(), one),
                };
                (format!("`{key}`{within} must be {wanted}, and is of type `{found}`"), None)
            }
            Self::Missing(field) => {
                let message = format!("No `{field}`{}", place.within_itself());
                (message, Some(example(field)))
            }
            Self::Broken | Self::Again | Self::Asked(_) => (String::new(), None),
        }
    }

    /// Returns what is wrong with a key itself.
    pub(super) fn of_a_key(mut self) -> Self {
        if let Self::UnknownWord { what, .. } = &mut self {
            *what = Some("key");
        }
        self
    }
}

/// Says what to add where a key is missing.
fn example(field: &str) -> String {
    match field {
        "command" => {
            "Add the program and its arguments: `command = [\"program\", \"argument\"]`".to_owned()
        }
        "clis" => "Name what may be started, such as `clis = [\"claude\"]`".to_owned(),
        "kind" => "Add `kind = \"ssh\"`, or `docker`, `podman` or `kubectl`".to_owned(),
        "means" => "Add `means = \"ended\"` or another".to_owned(),
        "pattern" => "Add `pattern = \"hub\"`, or pipeline, swarm, chain or mesh".to_owned(),
        "state" => "Add `state = \"working\"` or another".to_owned(),
        _ => format!("Add `{field} = \"…\"`"),
    }
}

impl Display for ValueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&KeyPath::Table("")).0)
    }
}

impl std::error::Error for ValueFault {}

impl Error for ValueFault {
    fn custom<T: Display>(text: T) -> Self {
        Self::Wrong(text.to_string())
    }

    fn invalid_value(_: Unexpected, wanted: &dyn Expected) -> Self {
        let wanted = wanted.to_string();
        // What is not said by us is the name of a type.
        let hint = if wanted.starts_with("a number") {
            format!("\nhint: Use {wanted}")
        } else {
            String::new()
        };
        Self::Wrong(format!("{KEY} is out of range{hint}"))
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::UnknownWord { what: None, word: word.to_owned(), known }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}
