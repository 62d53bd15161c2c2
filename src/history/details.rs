//! Holds the parts of a history: agents, tasks, attempts, claims, and what people did.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::run_summary::JournalItem;
use crate::model::{AgentName, AgentState, GateResult, Moment, Outcome, Role, TaskId, TaskState};

/// A stretch of time in which an agent did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StateSpan {
    pub from: Moment,
    pub to: Moment,
    /// Nothing: no hub was there to see it.
    pub state: Option<AgentState>,
}

/// How an agent's time went, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Time {
    #[serde(rename = "working_ms", serialize_with = "millis")]
    pub working: Duration,
    /// It waited for a person, for someone else, or for a quota.
    #[serde(rename = "waiting_ms", serialize_with = "millis")]
    pub waiting: Duration,
    /// It counted as stuck; this is part of the others.
    #[serde(rename = "stuck_ms", serialize_with = "millis")]
    pub stuck: Duration,
    /// It ran, and did none of this.
    #[serde(rename = "idle_ms", serialize_with = "millis")]
    pub idle: Duration,
    /// Nobody was there to see what it did.
    #[serde(rename = "unseen_ms", serialize_with = "millis")]
    pub unseen: Duration,
}

/// One agent's part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentHistory {
    pub name: AgentName,
    pub cli: String,
    pub role: Role,
    pub team: String,
    /// How often it was started.
    pub starts: usize,
    pub time: Time,
    /// How its last run ended, if it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// What it used, where that is on record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    pub stretches: Vec<StateSpan>,
    /// When it counted as stuck.
    pub stuck: Vec<(Moment, Moment)>,
}

/// One task's part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskHistory {
    pub id: TaskId,
    pub title: String,
    pub prompt: String,
    pub needs: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verifies: Option<TaskId>,
    pub gates: Vec<String>,
    pub state: TaskState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub attempts: Vec<AttemptHistory>,
}

/// One try at a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptHistory {
    pub agent: AgentName,
    pub started: Moment,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    pub summary: String,
    pub steps: Vec<String>,
    pub artifacts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<bool>,
    pub turns: u32,
    /// Every claim that it was done, and how each was checked.
    pub claims: Vec<ClaimHistory>,
}

/// A claim, and what was seen of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClaimHistory {
    pub at: Moment,
    pub text: String,
    pub is_concrete: bool,
    pub gates: Vec<GateResult>,
    /// The tasks of those who looked at it.
    pub verifications: Vec<TaskId>,
}

/// An interface that was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContractHistory {
    pub publisher: AgentName,
    pub title: String,
    pub version: u32,
    pub at: Moment,
}

/// Something that somebody did, or that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryEvent {
    pub seq: u64,
    pub at: Moment,
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub text: String,
}

impl From<&JournalItem> for HistoryEvent {
    fn from(told: &JournalItem) -> Self {
        let JournalItem { seq, at, entry, .. } = told;
        Self {
            seq: *seq,
            at: *at,
            kind: entry.kind.clone(),
            agent: entry.agent.clone(),
            task: entry.task.clone(),
            text: entry.text.clone(),
        }
    }
}

impl StateSpan {
    pub fn lasted(&self) -> Duration {
        self.to.since(self.from)
    }
}

impl Time {
    pub(super) fn of(stretches: &[StateSpan], stuck: &[(Moment, Moment)]) -> Self {
        let mut time = Self::default();
        for stretch in stretches {
            let sum = match stretch.state {
                Some(AgentState::Working) => &mut time.working,
                Some(AgentState::Waiting | AgentState::Blocked | AgentState::Limited) => {
                    &mut time.waiting
                }
                Some(
                    AgentState::Starting
                    | AgentState::Idle
                    | AgentState::Done
                    | AgentState::Error
                    | AgentState::Unknown,
                ) => &mut time.idle,
                Some(AgentState::Exited) => continue,
                None => &mut time.unseen,
            };
            *sum += stretch.lasted();
        }
        time.stuck = stuck.iter().map(|(from, to)| to.since(*from)).sum();
        time
    }
}

fn millis<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
