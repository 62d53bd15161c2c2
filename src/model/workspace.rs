//! Where an agent works: the project itself, or a directory of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{AgentName, Moment, Runner};

/// Whose files an agent works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WorkspaceKind {
    /// The project as it is.
    #[default]
    Shared,
    /// A working tree of git, on a branch of its own.
    Worktree,
    /// A copy of the project, without git's help.
    Copy,
}

impl fmt::Display for WorkspaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Shared => "shared",
            Self::Worktree => "worktree",
            Self::Copy => "copy",
        })
    }
}

/// How a workspace is made, and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plot {
    /// Never `Shared`: the project needs no making.
    pub kind: WorkspaceKind,
    pub project: PathBuf,
    /// The directory that is made.
    pub root: PathBuf,
    /// Where the project lies in it, if the repository is larger than the project.
    #[serde(default)]
    pub place: PathBuf,
    /// Where in the project its agent runs.
    #[serde(default)]
    pub cwd: PathBuf,
    /// The branch that it gets, and the commit that it begins at; a copy has neither.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub branch: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base: String,
    /// Local files of the project that it gets, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy: Vec<String>,
    /// Run in the pane before the agent, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Run before it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teardown: Option<String>,
    /// Ignored files that nobody will miss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disposable: Vec<String>,
    /// From where on ports are given out, and how many it gets.
    #[serde(default)]
    pub port_base: u16,
    #[serde(default)]
    pub port_count: u16,
    /// Where its agent works, if that is elsewhere: what is made here then shows what is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Box<Runner>>,
    /// The rescue that it is made from again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restores: Option<String>,
}

impl Plot {
    /// Returns the directory that stands for the project.
    pub fn project_root(&self) -> PathBuf {
        self.root.join(&self.place).components().collect()
    }

    /// Returns the directory that its agent runs in.
    pub fn agent_cwd(&self) -> PathBuf {
        self.project_root().join(&self.cwd).components().collect()
    }

    /// Returns the directory that its agent runs in, where the place elsewhere has it.
    pub fn cwd_there(&self, outpost: &Outpost) -> PathBuf {
        outpost.root.join(&self.place).join(&self.cwd).components().collect()
    }

    /// Returns its branch by its full name.
    pub fn branch_ref(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// Where a workspace lies in the place where its agent runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Outpost {
    pub root: PathBuf,
    /// Says there that the set-up command has succeeded.
    pub setup_mark: PathBuf,
}

/// How far a workspace has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceState {
    /// It is being made; nobody has worked in it.
    Making,
    Ready,
    /// It is being removed, unless there is a reason to keep it.
    Clearing(Clearing),
}

impl fmt::Display for WorkspaceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Making => "making",
            Self::Ready => "ready",
            Self::Clearing(_) => "clearing",
        })
    }
}

/// On which terms a workspace is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "each is a term by itself")]
pub struct Clearing {
    /// What is in it is put into a rescue ref first; else it must hold no work.
    pub rescues: bool,
    /// Files that git was told to ignore are not worth keeping.
    #[serde(default)]
    pub drops_ignored: bool,
    /// It was never made whole, and nobody has worked in it: tracked files that are missing are no
    /// work, and neither is a directory that is missing.
    #[serde(default)]
    pub is_unfinished: bool,
    /// A hub that died had begun to remove it, and its git may still be at work in it.
    #[serde(default)]
    pub is_repeated: bool,
    /// Its directory is gone for good: what git still has of it is put into a rescue ref, and the rest
    /// is given up.
    #[serde(default)]
    pub accepts_missing: bool,
}

impl Clearing {
    /// Says whether this removes what the other keeps.
    pub fn goes_further_than(self, other: Self) -> bool {
        (self.rescues && !other.rescues)
            || (self.drops_ignored && !other.drops_ignored)
            || (self.accepts_missing && !other.accepts_missing)
    }
}

/// A workspace that was made for an agent. It outlives the agent while there is work in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Workspace {
    pub agent: AgentName,
    #[serde(flatten)]
    pub plot: Plot,
    pub state: WorkspaceState,
    pub since: Moment,
    /// The first of its ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The local files that it was given, with what was in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub copied: BTreeMap<String, String>,
    /// What was set for the repository when it was made: names, and what stands for the values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Settings of the repository that have changed since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_settings: Vec<String>,
    /// Files that differ from its base, or from what was brought back last; the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The commit of it that was brought back last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// How often in a row its work could not be brought back.
    #[serde(default)]
    pub returns: u32,
    /// Why it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where its agent works, once that is made, if it is elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outpost: Option<Box<Outpost>>,
}

impl Workspace {
    pub fn new(agent: AgentName, plot: Plot, now: Moment) -> Self {
        Self {
            agent,
            plot,
            state: WorkspaceState::Making,
            since: now,
            port: None,
            copied: BTreeMap::new(),
            settings: BTreeMap::new(),
            changed_settings: Vec::new(),
            files: Vec::new(),
            merged: None,
            returns: 0,
            note: None,
            outpost: None,
        }
    }

    /// Says whether the part that its agent works in, elsewhere, was never made.
    pub fn is_half(&self) -> bool {
        self.plot.runner.is_some() && self.outpost.is_none()
    }

    /// Returns where its agent works.
    pub fn place_in_words(&self) -> String {
        match (&self.outpost, &self.plot.runner) {
            (Some(outpost), Some(runner)) => format!("{} on {runner}", outpost.root.display()),
            (Some(_) | None, _) => self.plot.root.display().to_string(),
        }
    }

    /// Returns the commit against which its work shows: where it began, or what was brought back.
    pub fn compared_with(&self) -> &str {
        self.merged.as_deref().unwrap_or(&self.plot.base)
    }
}

/// What making a workspace came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    pub port: Option<u16>,
    pub copied: BTreeMap<String, String>,
    pub settings: BTreeMap<String, String>,
    pub outpost: Option<Box<Outpost>>,
}

/// What someone asks about workspaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceCommand {
    /// Removes workspaces; without names, all whose agents do not run.
    Clean { agents: Vec<AgentName>, clearing: Clearing },
    /// Puts all that is in these workspaces into rescue refs, and leaves them as they are.
    Rescue { agents: Vec<AgentName> },
    /// Makes a workspace again as it was when it was rescued.
    Restore { agent: AgentName, plot: Box<Plot> },
    /// Brings work back.
    Merge { agent: AgentName, terms: super::MergeTerms },
}
