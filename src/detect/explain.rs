//! Why a state is shown, and what the other sources say.

use std::time::Duration;

use crate::model::{AgentState, Source};

use super::finding::Shown;
use super::state::{Evidence, STATUS};

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

impl Evidence {
    /// Returns what each source says.
    pub(super) fn testimonies(&self) -> Vec<Testimony> {
        let said = |source, state, rule: &str, line: &str| {
            let (rule, line) = (rule.to_owned(), line.to_owned());
            Testimony { source, state, rule, line }
        };
        let claim = self.claim.as_ref();
        let claim = claim.map(|claim| said(claim.source, claim.state, &claim.rule, &claim.line));
        let status = self.reported().map(|(state, source, line)| said(source, state, STATUS, line));
        let signal = self.signal.as_ref();
        let signal =
            signal.map(|signal| said(Source::Signal, signal.state, &signal.rule, &signal.line));
        let verdict = self.verdict.as_ref();
        let verdict = verdict
            .map(|verdict| said(Source::Screen, verdict.state, &verdict.rule, &verdict.line));
        let exit = self.exit.map(|exit| {
            said(Source::Process, AgentState::Exited, "process.exited", &exit.to_string())
        });
        [status, claim, signal, verdict, exit].into_iter().flatten().collect()
    }
}
