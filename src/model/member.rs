//! Who an agent is, apart from what it does right now.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{AgentName, Kit, Letter, Plot, Posting, Role, Runner};

/// An agent as the record knows it: enough to say who it is, and no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: AgentName,
    /// The team that it was started with.
    pub team: String,
    /// Its place in the team, counted from zero.
    #[serde(default)]
    pub place: usize,
    pub cli: String,
    pub role: Role,
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// The directory whose files it works on, if that is not the same.
    #[serde(default)]
    pub workspace: PathBuf,
    /// The paths that are its own, as patterns relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owns: Vec<String>,
    /// What kinds of work it can take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Its words may reach anyone in its team without a person's consent.
    #[serde(default)]
    pub speaks_freely: bool,
    /// Its words may reach these without a person's consent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub speaks_to: Vec<AgentName>,
    /// The conversation's name in the cli, where it has one, so that it can be taken up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// How its run begins, until it is seen to have begun so.
    #[serde(default, skip_serializing_if = "Opening::is_over")]
    pub opening: Opening,
    /// How this run of it speaks to us beside its terminal.
    #[serde(default)]
    pub contact: Contact,
    /// What it works with, as its team and its role ask for it.
    #[serde(default, skip_serializing_if = "Kit::is_unsaid")]
    pub kit: Kit,
    /// Where it runs, if that is not this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Box<Runner>>,
    /// Present where no file names this agent: it was added while its team ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Added>,
    /// The workspace that it is to be started in, if that is not the project itself.
    #[serde(skip)]
    pub plot: Option<Box<Plot>>,
}

impl Member {
    /// Returns the agent that started it, if one did.
    pub fn started_by(&self) -> Option<&AgentName> {
        self.added.as_ref().and_then(|added| added.by.as_ref())
    }

    /// Returns the directory whose files it works on.
    pub fn root(&self) -> &Path {
        if self.workspace.as_os_str().is_empty() { &self.cwd } else { &self.workspace }
    }
}

/// How a run begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The id that its cli was told to give to a new conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// It takes the conversation up that is on record, and has yet to show that it could.
    #[serde(default)]
    pub is_resumed: bool,
    /// What the agent is told first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<Letter>,
}

impl Opening {
    fn is_over(&self) -> bool {
        *self == Self::default()
    }
}

/// How a run speaks to us beside its terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// The SHA-256 of its token, which itself is kept nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_hash: Option<String>,
    /// It speaks to us through a door of its own, and sees no other.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_door: bool,
    /// The SHA-256 of the name under which reporters made for another tool speak for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_hash: Option<String>,
    /// Where it serves its events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Why its cli was given no hooks, though there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_hooks: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What only the record knows of an agent that was added to a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// What it runs instead of its cli's own command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The variables that were set for it: their names. A value may be a secret, and is never
    /// written down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// The agent that started it, and so leads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
    /// Where it works, and within which bounds.
    #[serde(default, skip_serializing_if = "Posting::is_unsaid")]
    pub posting: Posting,
}
