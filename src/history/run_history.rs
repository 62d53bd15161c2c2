//! Holds the whole history of a run.

use serde::Serialize;

use super::details::{AgentHistory, ContractHistory, HistoryEvent, TaskHistory};
use super::run_summary::RunSummary;
use crate::model::Need;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunHistory {
    pub run: RunSummary,
    /// What was asked beside its tasks: a playbook, and what filled it.
    pub asked: Vec<String>,
    pub agents: Vec<AgentHistory>,
    pub tasks: Vec<TaskHistory>,
    pub needs: Vec<Need>,
    pub contracts: Vec<ContractHistory>,
    /// What people did beside starting it.
    pub by_hand: Vec<HistoryEvent>,
    /// What happened, without the beats of every pulse.
    pub events: Vec<HistoryEvent>,
    /// How many more events there were; the newest are kept.
    pub events_left_out: usize,
}
