//! A sign for each state, so that colour is never the only one to tell.

use crate::model::{AgentState, TaskState};

/// Returns the sign of a state, one column wide.
pub(crate) fn sign(state: AgentState) -> &'static str {
    match state {
        AgentState::Starting => "◌",
        AgentState::Idle => "○",
        AgentState::Working => "●",
        AgentState::Waiting => "◆",
        AgentState::Blocked => "■",
        AgentState::Done => "✓",
        AgentState::Error => "✗",
        AgentState::Limited => "◷",
        AgentState::Unknown => "?",
        AgentState::Exited => "∅",
    }
}

/// Returns the state of an agent whose sign and colour a task has.
pub(crate) fn as_of_agent(state: TaskState) -> AgentState {
    match state {
        TaskState::Pending => AgentState::Starting,
        TaskState::Ready => AgentState::Idle,
        TaskState::Running => AgentState::Working,
        TaskState::Claimed => AgentState::Limited,
        TaskState::Done => AgentState::Done,
        TaskState::Blocked => AgentState::Blocked,
        TaskState::Failed => AgentState::Error,
        TaskState::Interrupted => AgentState::Unknown,
        TaskState::Cancelled => AgentState::Exited,
    }
}

/// Returns a state's place in a list that has what needs a person first.
pub(crate) fn urgency(state: AgentState) -> u8 {
    match state {
        AgentState::Waiting => 0,
        AgentState::Blocked => 1,
        AgentState::Error => 2,
        AgentState::Limited => 3,
        AgentState::Working => 4,
        AgentState::Starting => 5,
        AgentState::Unknown => 6,
        AgentState::Idle => 7,
        AgentState::Done => 8,
        AgentState::Exited => 9,
    }
}
