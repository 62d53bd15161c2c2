//! Why a state is shown, and what the other sources say.

use std::time::Duration;

use crate::model::{AgentState, Source};

use super::finding::Shown;

/// A state with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub shown: Shown,
    /// For how long it has been shown.
    pub age: Duration,
    /// What each source says, most trusted first.
    pub testimonies: Vec<Testimony>,
}

/// What one source says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Testimony {
    pub source: Source,
    pub state: AgentState,
    pub rule: String,
    pub line: String,
}
