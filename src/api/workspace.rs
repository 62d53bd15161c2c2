//! What is asked about workspaces, and what is told of them.

use serde::{Deserialize, Serialize};

use crate::model::{Merge, MergeFile, MergeForm, MergeState, WorkspaceKind};

/// A workspace at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorkspaceStatus {
    pub agent: String,
    pub kind: WorkspaceKind,
    /// `making`, `ready` or `clearing`.
    pub state: String,
    /// Whether its agent runs.
    pub in_use: bool,
    /// The directory that stands for the project.
    pub root: String,
    /// The runner on which its agent works, and where it lies there: the directory here then shows
    /// what is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_there: Option<String>,
    pub branch: Option<String>,
    /// The commit that it began at.
    pub base: Option<String>,
    /// The commit of it that was brought back last.
    pub merged: Option<String>,
    pub port_base: Option<u16>,
    pub port_count: u16,
    /// What differs from what it began with, or from what was brought back last.
    pub files: Vec<String>,
    pub overlaps: Vec<OverlapStatus>,
    /// Settings of the repository that have changed since it was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_settings: Vec<String>,
    /// The last attempt to bring its work back.
    pub merge: Option<MergeStatus>,
    /// Why it was kept.
    pub note: Option<String>,
    /// In the form of RFC 3339.
    pub since: String,
}

/// Files in which the work of two agents will meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverlapStatus {
    pub with: String,
    /// The other owns them, and has not necessarily changed them.
    pub owned: bool,
    pub files: Vec<String>,
}

/// An attempt to bring work back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MergeStatus {
    pub id: String,
    pub agent: String,
    pub task: Option<String>,
    pub state: MergeState,
    pub form: MergeForm,
    pub into: String,
    /// Nothing was to move.
    pub trial: bool,
    pub commit: Option<String>,
    pub files: Vec<MergeFile>,
    pub note: Option<String>,
    /// In the form of RFC 3339.
    pub since: String,
}

impl From<&Merge> for MergeStatus {
    fn from(merge: &Merge) -> Self {
        Self {
            id: merge.id.to_string(),
            agent: merge.agent.to_string(),
            task: merge.task.map(|task| task.to_string()),
            state: merge.state,
            form: merge.terms.form,
            into: merge.terms.into.clone(),
            trial: merge.terms.is_trial,
            commit: merge.commit.clone(),
            files: merge.files.clone(),
            note: merge.note.clone(),
            since: merge.since.to_rfc3339(),
        }
    }
}

/// A rescue ref.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RescueStatus {
    pub name: String,
    pub commit: String,
}
