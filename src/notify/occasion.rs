//! Lists what is worth a notification.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// How they are written, in the same order.
const WORDS: &[&str] =
    &["waiting", "blocked", "done", "error", "limited", "stuck", "idle", "unknown", "exited"];

impl<'de> Deserialize<'de> for Occasion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let found = WORDS.iter().position(|known| *known == word);
        found.map(|at| OCCASIONS[at]).ok_or_else(|| D::Error::unknown_variant(&word, WORDS))
    }
}

impl Serialize for Occasion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
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
