//! What one decision changed: words for the story, and rows for the state.

use serde::{Deserialize, Serialize};

use super::{AgentName, TaskId};

/// Everything that one decision changed. It is kept before anything is done about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub entries: Vec<Entry>,
    pub rows: Vec<RowChange>,
}

/// One sentence of the story, for people and scripts that read it later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What kind of thing happened, such as `dispatch.accepted`.
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default)]
    pub text: String,
}

/// A row as it is from now on. The state is the last value of every row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowChange {
    pub table: String,
    pub key: String,
    /// Nothing: the row is gone.
    pub value: Option<serde_json::Value>,
}

impl Entry {
    /// Returns an entry of this kind that names nobody yet.
    pub fn new(kind: &str, text: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), agent: None, task: None, text: text.into() }
    }

    /// Says whom it is about.
    #[must_use]
    pub fn of(mut self, agent: &AgentName) -> Self {
        self.agent = Some(agent.clone());
        self
    }

    /// Says which task it is about.
    #[must_use]
    pub fn about(mut self, task: TaskId) -> Self {
        self.task = Some(task.to_string());
        self
    }
}
