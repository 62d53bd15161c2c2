//! How a cli is made to tell what it does, and what it then says.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::manifest::optional_regular_expression;

/// What the name of the file ends in where a cli does not mind.
pub const HOOKS_FILE_KIND: &str = "json";

/// What a cli is given at its start so that it tells what it does, without touching anyone's
/// settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    pub enabled: bool,
    /// Words after the command. `{port}` is a free port of this machine's own, `{file}` the path of
    /// the file.
    #[serde(rename = "args")]
    pub arguments: Vec<String>,
    /// Variables, with the same words in them.
    #[serde(rename = "env")]
    pub environment: BTreeMap<String, String>,
    /// The content of a file that is made for the run.
    pub file: Option<String>,
    /// What the file's name ends in, where the cli minds that.
    pub file_kind: String,
    /// Beginnings of words that say, in the command, that its user has put something of their own
    /// in this place.
    pub yields_to: Vec<String>,
    /// The cli takes the file from root alone.
    pub root_only: bool,
    /// The cli serves its events at the port.
    pub stream: Option<Stream>,
    /// Keys of the same table.
    #[serde(skip)]
    pub fields: HookFields,
    /// The first that fits holds.
    pub events: Vec<HookEvent>,
}

/// Where a hook's message has what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookFields {
    pub event: String,
    pub session: String,
    pub prompt: String,
    pub message: String,
    /// The command that a dialog asks permission for, with dots between the names: `tool_input.command`.
    pub command: String,
}

/// One event that means something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookEvent {
    pub name: String,
    pub means: HookMeaning,
    /// Must match what the hook says, as JSON.
    #[serde(default, rename = "match", deserialize_with = "optional_regular_expression")]
    pub pattern: Option<String>,
    /// Must not match it.
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub unless: Option<String>,
}

/// What an event means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookMeaning {
    /// A conversation began or went on; only its id is news.
    Session,
    /// A prompt was submitted.
    Prompt,
    /// A dialog wants a person.
    Asks,
    /// The turn ended.
    Ended,
    /// The turn ended in an error.
    Failed,
    /// Nothing but the last message.
    Message,
    /// The conversation is compacted.
    Compacted,
}

/// Whose form the events at a port have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    OpenCode,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            enabled: true,
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            file: None,
            file_kind: HOOKS_FILE_KIND.to_owned(),
            yields_to: Vec::new(),
            root_only: false,
            stream: None,
            fields: HookFields::default(),
            events: Vec::new(),
        }
    }
}

impl Hooks {
    /// Says whether there is anything to give to the cli.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.environment.is_empty()
    }
}

impl fmt::Display for HookMeaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
