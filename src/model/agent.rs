//! What an agent is and what it is doing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Moment;

/// What an agent may do and is asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    #[default]
    Worker,
    Lead,
    Orchestrator,
    Verifier,
}

/// What an agent is doing, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// Its process is coming up and has shown nothing yet.
    Starting,
    Idle,
    Working,
    /// A dialog wants a person.
    Waiting,
    /// It reported BLOCKED.
    Blocked,
    Done,
    Error,
    /// A quota or rate limit holds it up.
    Limited,
    /// It runs, and no rule says what it does. Never read as idle.
    Unknown,
    /// Its process tree is gone.
    Exited,
}

impl AgentState {
    /// Says whether only an agent that has come up is in this state.
    pub fn has_come_up(self) -> bool {
        match self {
            Self::Idle | Self::Waiting | Self::Blocked | Self::Done | Self::Limited => true,
            // Any output may look like work, and what keeps it from coming up is an error.
            Self::Starting | Self::Working | Self::Error | Self::Unknown | Self::Exited => false,
        }
    }

    /// Says whether ending the agent now could cut off work.
    pub fn may_be_working(self) -> bool {
        match self {
            Self::Starting | Self::Working | Self::Waiting | Self::Blocked | Self::Unknown => true,
            Self::Idle | Self::Done | Self::Error | Self::Limited | Self::Exited => false,
        }
    }
}

impl fmt::Display for AgentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Starting => "starting",
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Error => "error",
            Self::Limited => "limited",
            Self::Unknown => "unknown",
            Self::Exited => "exited",
        })
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Worker => "worker",
            Self::Lead => "lead",
            Self::Orchestrator => "orchestrator",
            Self::Verifier => "verifier",
        })
    }
}

/// When a limit of an agent ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// As its screen tells it.
    pub text: String,
    /// When that is, where it can be told.
    pub at: Option<Moment>,
}

/// Who said so: the sources of a state, most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Report,
    Line,
    Hook,
    Signal,
    Screen,
    Process,
    Silence,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Report => "report",
            Self::Line => "line",
            Self::Hook => "hook",
            Self::Signal => "signal",
            Self::Screen => "screen",
            Self::Process => "process",
            Self::Silence => "silence",
        })
    }
}
