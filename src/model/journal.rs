//! What one decision changed: words for the story, and rows for the state.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AgentName, TaskId};

/// Everything that one decision changed. It is kept before anything is done about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub entries: Vec<Entry>,
    pub rows: Vec<RowChange>,
}

/// One sentence of the story, for people and scripts that read it later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What kind of thing happened, as `subject.event`: `dispatch.accepted`.
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(default)]
    pub text: String,
    /// More of it, for scripts.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// A row as it is from now on. The state is the last value of every row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowChange {
    pub table: String,
    pub key: String,
    /// Nothing: the row is gone.
    pub value: Option<Value>,
}

impl Entry {
    /// Returns an entry of this kind that names nobody yet.
    pub fn new(kind: &str, text: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), text: text.into(), ..Self::default() }
    }

    /// Says whether it tells only how someone gets on: what is lost of that is found out again.
    pub fn is_heartbeat(&self) -> bool {
        matches!(self.kind.as_str(), "agent.state" | "report.progress" | "person.keys")
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
