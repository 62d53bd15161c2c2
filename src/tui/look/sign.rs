//! A sign for each state, so that colour is never the only one to tell.

use crate::model::AgentState;

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
