//! A run of a playbook: who takes part, on which tasks, and how far it has come.
//!
//! In code it is a *play*: a run is one life of one agent's process.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{AgentName, Kit, Moment, Posting, Role, TaskId, TaskSpec};

/// Names one run of a playbook for ever, such as `r1`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = r"^r[0-9]+$", "examples" = ["r1"])))]
#[serde(try_from = "String", into = "String")]
pub struct PlayId(pub u64);

/// Says why a text is not the name of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a run is named `r` and a number, such as `r1`")]
pub struct InvalidPlay;

impl FromStr for PlayId {
    type Err = InvalidPlay;

    fn from_str(text: &str) -> Result<Self, InvalidPlay> {
        let digits = text.strip_prefix('r').filter(|rest| rest.chars().all(|c| c.is_ascii_digit()));
        digits.and_then(|digits| digits.parse().ok()).map(Self).ok_or(InvalidPlay)
    }
}

impl TryFrom<String> for PlayId {
    type Error = InvalidPlay;

    fn try_from(text: String) -> Result<Self, InvalidPlay> {
        text.parse()
    }
}

impl From<PlayId> for String {
    fn from(id: PlayId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for PlayId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// How the agents of a run work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    Hub,
    Pipeline,
    Swarm,
    Chain,
    Mesh,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Hub => "hub",
            Self::Pipeline => "pipeline",
            Self::Swarm => "swarm",
            Self::Chain => "chain",
            Self::Mesh => "mesh",
        })
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlayState {
    Running,
    /// Report that the task cannot go on unless a person does something; it stands where it is.
    NeedsPerson,
    /// Every task is done.
    Done,
    /// It has come to its end, and some of its tasks were skipped or reduced.
    Partial,
    Failed,
    /// A person ended it.
    Cancelled,
}

impl PlayState {
    /// Says whether nothing more will happen to it.
    pub fn is_over(self) -> bool {
        match self {
            Self::Running | Self::NeedsPerson => false,
            Self::Done | Self::Partial | Self::Failed | Self::Cancelled => true,
        }
    }
}

impl fmt::Display for PlayState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::NeedsPerson => "needs_person",
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        })
    }
}

/// What a run is made of, beside its tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cast {
    pub playbook: String,
    /// The SHA-256 of the playbook's text.
    pub hash: String,
    pub vars: BTreeMap<String, String>,
    pub pattern: Pattern,
    /// The team that its agents belong to.
    pub team: String,
    pub agents: Vec<Player>,
    #[serde(default)]
    pub stages: Vec<PlayStage>,
    #[serde(default)]
    pub teams: Vec<Troop>,
    #[serde(default)]
    pub locks: Vec<LockTerms>,
}

/// One who takes part in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Player {
    pub name: AgentName,
    pub cli: String,
    pub role: Role,
    #[serde(default)]
    pub owns: Vec<String>,
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// What it is told before its first task.
    #[serde(default)]
    pub prompt: Option<String>,
    /// What it runs instead of its cli's own command.
    #[serde(default)]
    pub command: Vec<String>,
    /// What it works with.
    #[serde(default, skip_serializing_if = "Kit::is_unsaid")]
    pub kit: Kit,
    /// Where it works, and within which bounds.
    #[serde(default, skip_serializing_if = "Posting::is_unsaid")]
    pub posting: Posting,
}

/// A part of a pipeline: what comes after it waits until its gates have passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayStage {
    pub name: String,
    /// The keys of its tasks.
    pub tasks: Vec<String>,
    pub gates: Vec<String>,
    #[serde(default)]
    pub has_passed: bool,
    /// Its gates run.
    #[serde(default)]
    pub is_checking: bool,
    /// How often its gates did not pass.
    #[serde(default)]
    pub refusals: u32,
}

/// A part of a chain: a lead, and those whom it leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Troop {
    pub name: String,
    pub lead: AgentName,
    pub members: Vec<AgentName>,
}

/// A lock that a run brings along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockTerms {
    pub name: String,
    /// How long one agent may hold it.
    #[serde(default)]
    pub limit_ms: Option<u64>,
}

/// A run as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayOrder {
    /// A random word: the same one again is the same run, asked for because the answer was lost.
    pub call: String,
    pub cast: Cast,
    pub tasks: Vec<TaskSpec>,
    /// What scripted agents play, by agent.
    #[serde(default)]
    pub scripts: BTreeMap<AgentName, String>,
}

/// A run of a playbook, as the record knows it. Its tasks carry its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Play {
    pub id: PlayId,
    pub call: String,
    #[serde(flatten)]
    pub cast: Cast,
    pub state: PlayState,
    /// Why it stands there, in words.
    #[serde(default)]
    pub note: Option<String>,
    pub started: Moment,
    pub ended: Option<Moment>,
    /// The agents that it started itself, and that end with it.
    #[serde(default)]
    pub own: BTreeSet<AgentName>,
    /// Since when nothing of it moves; nothing of this outlives the hub.
    #[serde(skip)]
    pub stalled: Option<Moment>,
    /// What its tasks were, once it is over and some of them have left memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<(String, TaskId)>,
}

impl Play {
    /// Says whether an agent takes part.
    pub fn casts(&self, agent: &AgentName) -> bool {
        self.cast.agents.iter().any(|player| player.name == *agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_written_as_a_letter_and_a_number() {
        assert_eq!("r12".parse(), Ok(PlayId(12)));
        for bad in ["", "r", "12", "t1", "r-1", "r1 "] {
            assert!(bad.parse::<PlayId>().is_err(), "{bad}");
        }
    }
}
