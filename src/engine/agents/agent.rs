//! Describes one agent: its run, its state, and what waits for it.

use serde::{Deserialize, Serialize};

use crate::engine::agents::reachability::Unreachable;
use crate::engine::agents::readiness::Readiness;
use crate::engine::agents::stuck::Pace;
use crate::model::{
    AgentState, Ending, Launch, Member, Moment, Plot, ProcessId, Reset, RunId, Source, TaskId,
};

/// One agent's place on the team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub member: Member,
    pub run: RunId,
    pub phase: Phase,
    pub state: AgentState,
    /// Who says so.
    #[serde(default = "by_process")]
    pub source: Source,
    /// Since when it is in this state.
    pub since: Moment,
    /// How it gets on.
    #[serde(default)]
    pub pace: Pace,
    /// It is to be interrupted, and was not seen to rest since.
    #[serde(default)]
    pub(in crate::engine) is_to_stop: bool,
    /// Until when its dialog is left to the rules that may answer it, and nobody is called.
    #[serde(skip)]
    pub(in crate::engine) rules_until: Option<Moment>,
    /// When it may get its next prompt.
    #[serde(skip)]
    pub readiness: Readiness,
    /// How many of this run's reports the rest of the record takes into account.
    #[serde(default)]
    pub reports: u64,
    /// Something was said to this run beside what its team says first.
    #[serde(default = "yes")]
    pub is_used: bool,
    /// Tokens that this run was seen to use; nothing, if its cli shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// When the limit ends that holds it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
    /// The task for which it begins anew; nothing of this outlives the hub.
    #[serde(skip)]
    pub(in crate::engine) renews_for: Option<TaskId>,
    /// Why it cannot begin anew.
    #[serde(skip)]
    pub(in crate::engine) no_renewal: Option<String>,
    /// Present while nobody reaches the place where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<Unreachable>,
    pub keeper: Option<ProcessId>,
    pub process: Option<ProcessId>,
    /// What went wrong, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What to start once this run has ended. Holds an environment, so it is never written down: a
    /// crash in the middle of a restart leaves the agent stopped.
    #[serde(skip)]
    pub(in crate::engine) next: Option<(Member, Launch)>,
    /// What to start once its workspace is there; nothing of it outlives the hub either.
    #[serde(skip)]
    pub(in crate::engine) held: Option<(Plot, Launch)>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Its start is on record, and its keeper has not been seen yet.
    Starting,
    Running,
    Stopping,
    /// Its tree is proven empty; its keeper has yet to let go of the agent's lock.
    Leaving(Ending),
    /// Its keeper was lost; what that may have left behind is being looked for.
    Sweeping(Ending),
    /// Nothing of it is left, and the agent's lock is free.
    Ended(Ending),
}

fn by_process() -> Source {
    Source::Process
}

/// Of a run that an older record tells of, nobody knows.
fn yes() -> bool {
    true
}

impl Seat {
    /// Says whether the agent's tree is proven empty.
    pub fn is_gone(&self) -> bool {
        match self.phase {
            Phase::Leaving(_) | Phase::Ended(_) => true,
            Phase::Starting | Phase::Running | Phase::Stopping | Phase::Sweeping(_) => false,
        }
    }

    /// Says whether something of this run may still be there, its keeper included.
    pub fn is_live(&self) -> bool {
        match self.phase {
            Phase::Starting
            | Phase::Running
            | Phase::Stopping
            | Phase::Leaving(_)
            | Phase::Sweeping(_) => true,
            Phase::Ended(_) => false,
        }
    }
}
