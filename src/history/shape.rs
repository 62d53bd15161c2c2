//! The whole of a story.

use serde::Serialize;

use super::chapter::Chapter;
use super::part::{AgentPart, ContractPart, Deed, TaskPart};
use crate::model::Need;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Story {
    pub run: Chapter,
    /// What was asked beside its tasks: a playbook, and what filled it.
    pub asked: Vec<String>,
    pub agents: Vec<AgentPart>,
    pub tasks: Vec<TaskPart>,
    pub needs: Vec<Need>,
    pub contracts: Vec<ContractPart>,
    /// What people did beside starting it.
    pub by_hand: Vec<Deed>,
    /// What happened, without the beats of every pulse.
    pub events: Vec<Deed>,
    /// How many more events there were; the newest are kept.
    pub events_left_out: usize,
}
