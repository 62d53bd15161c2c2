//! What may be worth a word to a person.

use std::fmt;

use crate::model::AgentState;

/// What an agent has come into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    State(AgentState),
    /// It should be moving and is not.
    Stuck,
}

/// What a person can ask to be told of.
pub const OCCASIONS: &[Occasion] = &[
    Occasion::State(AgentState::Waiting),
    Occasion::State(AgentState::Blocked),
    Occasion::State(AgentState::Done),
    Occasion::State(AgentState::Error),
    Occasion::State(AgentState::Limited),
    Occasion::Stuck,
    Occasion::State(AgentState::Idle),
    Occasion::State(AgentState::Unknown),
    Occasion::State(AgentState::Exited),
];

/// Returns what there is to tell of an agent, among what is wanted; that it is stuck comes first.
pub fn occasion_of(state: AgentState, is_stuck: bool, wanted: &[Occasion]) -> Option<Occasion> {
    let known = [is_stuck.then_some(Occasion::Stuck), Some(Occasion::State(state))];
    known.into_iter().flatten().find(|occasion| wanted.contains(occasion))
}

impl fmt::Display for Occasion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(state) => state.fmt(f),
            Self::Stuck => f.pad("stuck"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_is_an_occasion() {
        let waiting = Occasion::State(AgentState::Waiting);
        assert_eq!(occasion_of(AgentState::Waiting, false, &[waiting]), Some(waiting));
        assert_eq!(occasion_of(AgentState::Working, false, &[waiting]), None);
        let both = [waiting, Occasion::Stuck];
        assert_eq!(occasion_of(AgentState::Working, true, &both), Some(Occasion::Stuck));
        assert_eq!(occasion_of(AgentState::Waiting, true, &[waiting]), Some(waiting));
    }
}
