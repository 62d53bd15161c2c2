//! What is asked about tasks and about what waits for a person, and how they are told.

use serde::{Deserialize, Serialize};

use super::DialogStatus;
use crate::model::{Attention, AttentionKind, Ruling, Task, TaskState};

/// A task at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskStatus {
    pub id: String,
    pub title: String,
    pub state: TaskState,
    /// Who has it, or had it last.
    pub agent: Option<String>,
    /// How many attempts there were.
    pub attempt: usize,
    pub needs: Vec<String>,
    pub note: Option<String>,
    /// In the form of RFC 3339.
    pub since: String,
    /// The run that it belongs to, and what its playbook calls it.
    #[serde(default)]
    pub run: Option<String>,
    #[serde(default)]
    pub key: Option<String>,
}

impl TaskStatus {
    /// Returns what it waits for: what its note says, or those of all tasks that come first.
    pub fn waits_for(&self, all: &[Self]) -> Option<String> {
        if let Some(note) = &self.note {
            return Some(note.clone());
        }
        let is_open = |need: &&String| {
            let known = all.iter().find(|known| known.id == **need);
            known.is_none_or(|known| known.state != TaskState::Done)
        };
        let needs: Vec<&str> = self.needs.iter().filter(is_open).map(String::as_str).collect();
        let is_waiting = !self.state.is_final() && !needs.is_empty();
        is_waiting.then(|| format!("needs {}", needs.join(", ")))
    }
}

impl From<&Task> for TaskStatus {
    fn from(task: &Task) -> Self {
        Self {
            id: task.id.to_string(),
            title: task.title.clone(),
            state: task.state,
            agent: task.attempts.last().map(|last| last.agent.to_string()),
            attempt: task.attempts.len(),
            needs: task.needs.iter().map(ToString::to_string).collect(),
            note: task.note.clone(),
            since: task.since.to_rfc3339(),
            run: task.play.map(|play| play.to_string()),
            key: task.key.clone(),
        }
    }
}

/// One thing that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AttentionStatus {
    pub id: String,
    pub kind: AttentionKind,
    pub agent: Option<String>,
    pub task: Option<String>,
    pub text: String,
    /// What to type about it.
    pub hint: Option<String>,
    /// The dialog that it is about, with its options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<DialogStatus>,
    /// What a person can say about it, which is also what the hint says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
    /// In the form of RFC 3339.
    pub since: String,
    pub read: bool,
}

impl From<&Attention> for AttentionStatus {
    fn from(item: &Attention) -> Self {
        Self {
            id: item.id.to_string(),
            kind: item.kind,
            agent: item.agent.as_ref().map(ToString::to_string),
            task: item.task.map(|task| task.to_string()),
            text: item.text.clone(),
            hint: item.hint.clone(),
            dialog: None,
            ruling: item.ruling.clone(),
            since: item.since.to_rfc3339(),
            read: item.is_read,
        }
    }
}
