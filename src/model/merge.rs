//! Bringing the work of a workspace back onto a branch that others see.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AgentName, Moment, TaskId};

/// Names one attempt to bring work back, such as `m1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MergeId(pub u64);

impl fmt::Display for MergeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

/// In which form work comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MergeForm {
    /// A merge commit, with the branch as it is behind it.
    #[default]
    Merge,
    /// Squash the work into one commit.
    Squash,
    /// Rebase its commits.
    Rebase,
}

impl fmt::Display for MergeForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Merge => "merge",
            Self::Squash => "squash",
            Self::Rebase => "rebase",
        })
    }
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MergeTerms {
    pub form: MergeForm,
    /// The branch that it is brought onto, by its short name.
    pub into: String,
    /// What must pass on the merged tree before the branch moves.
    #[serde(default)]
    pub gates: Vec<String>,
    #[serde(default)]
    pub message: Option<String>,
    /// What is not committed stays behind.
    #[serde(default)]
    pub committed_only: bool,
    /// Only says what would come of it.
    #[serde(default)]
    pub is_trial: bool,
    /// If it cannot be brought back, its agent is told why.
    #[serde(default)]
    pub sends_back: bool,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MergeState {
    Queued,
    Merging,
    Done,
    /// Files conflict; nothing has moved.
    Conflict,
    /// A gate does not pass on the merged tree; nothing has moved.
    Broken,
    Failed,
}

impl MergeState {
    pub fn is_final(self) -> bool {
        match self {
            Self::Queued | Self::Merging => false,
            Self::Done | Self::Conflict | Self::Broken | Self::Failed => true,
        }
    }
}

impl fmt::Display for MergeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Queued => "queued",
            Self::Merging => "merging",
            Self::Done => "done",
            Self::Conflict => "conflict",
            Self::Broken => "broken",
            Self::Failed => "failed",
        })
    }
}

/// One attempt to bring work back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Merge {
    pub id: MergeId,
    pub agent: AgentName,
    /// The task whose end it follows from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    pub terms: MergeTerms,
    pub state: MergeState,
    pub since: Moment,
    /// Where the branch stands now, or would stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What it changes, or where it conflicts; the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<MergeFile>,
    /// Why it could not be done, or what else there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A file that is changed by it, or stands in its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MergeFile {
    pub path: String,
    /// Whose file it is, and who else has changed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<AgentName>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The branch stands at this commit, with this commit of the workspace in it; nothing, if that was
    /// so before. In a trial: it would.
    Done {
        commit: String,
        tip: String,
        files: Vec<String>,
        was_there: bool,
    },
    Conflict {
        files: Vec<String>,
        onto: String,
    },
    /// A gate did not pass; it may not pass without this work either.
    Broken {
        gate: String,
        output: String,
        fails_without: bool,
    },
    Failed {
        reason: String,
        hint: Option<String>,
    },
}
