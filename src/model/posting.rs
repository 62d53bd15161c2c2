//! Where an agent works and within which bounds, as far as its own description says so.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Confinement, Role, Runner, WorkspaceKind};

/// Which workspace an agent gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceChoice {
    Shared,
    Worktree,
    Copy,
    /// A worktree for those who write, where one can be made of what they work on; else the project
    /// itself.
    Auto,
}

impl WorkspaceChoice {
    /// Returns what it comes to for an agent with this role.
    pub fn kind(self, role: Role, has_ground: impl Fn() -> bool) -> WorkspaceKind {
        match self {
            Self::Shared => WorkspaceKind::Shared,
            Self::Worktree => WorkspaceKind::Worktree,
            Self::Copy => WorkspaceKind::Copy,
            Self::Auto => match role {
                Role::Worker | Role::Lead if has_ground() => WorkspaceKind::Worktree,
                Role::Worker | Role::Lead | Role::Orchestrator | Role::Verifier => {
                    WorkspaceKind::Shared
                }
            },
        }
    }
}

impl fmt::Display for WorkspaceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Shared => "shared",
            Self::Worktree => "worktree",
            Self::Copy => "copy",
            Self::Auto => "auto",
        })
    }
}

/// Where an agent works, and within which bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Posting {
    /// Nothing: as `[workspace]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceChoice>,
    /// Where it runs, if that is not this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Box<Runner>>,
    #[serde(default, skip_serializing_if = "Confinement::is_none")]
    pub confinement: Confinement,
    /// Run in its workspace before it, once; nothing: as `[workspace]` says. Empty: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Run in its workspace before that is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teardown: Option<String>,
}

impl Posting {
    /// Says whether nothing is said.
    pub fn is_unsaid(&self) -> bool {
        *self == Self::default()
    }
}
