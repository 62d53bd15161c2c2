//! What waits for a person, oldest first.

use super::{Agent, App, has_failed, receipt_line};
use crate::model::{AgentName, AgentState, Moment};
use crate::wire::DialogStatus;

/// One thing that waits. The order is that of age.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Waiting {
    pub since: Moment,
    pub agent: AgentName,
    pub cause: Cause,
}

/// What a person is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// The agent waits, is blocked, in error or stuck.
    State,
    /// Its last prompt did not get through.
    Receipt,
}

/// Where the person wants to be led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// To the oldest thing that they were not led to yet.
    Next,
    To(Waiting),
}

impl App {
    /// Returns everything that waits for a person, oldest first.
    pub(crate) fn attention(&self) -> Vec<Waiting> {
        let mut found: Vec<_> =
            self.agents.iter().flat_map(|agent| self.waiting_at(agent)).collect();
        found.sort();
        found
    }

    fn waiting_at(&self, agent: &Agent) -> impl Iterator<Item = Waiting> {
        let name = agent.name.clone();
        let waiting = move |(since, cause)| Waiting { since, agent: name.clone(), cause };
        let state = wanted_since(agent).map(|since| (since, Cause::State));
        let failed = self.receipt(agent).filter(|receipt| has_failed(receipt));
        let receipt = failed.map(|receipt| (receipt.since, Cause::Receipt));
        [state, receipt].into_iter().flatten().map(waiting)
    }

    /// Returns what follows the thing that the person was last led to.
    pub(crate) fn next_waiting(&self) -> Option<Waiting> {
        let all = self.attention();
        let after = all.iter().find(|one| self.attended.as_ref().is_some_and(|last| *one > last));
        after.or(all.first()).cloned()
    }

    /// Returns what is wanted, in a line.
    pub(crate) fn want(&self, waiting: &Waiting) -> String {
        let Some(agent) = self.agent(&waiting.agent) else { return String::new() };
        let receipt = agent.receipt.as_ref().filter(|_| waiting.cause == Cause::Receipt);
        let dialog = agent.dialog.as_ref().map(DialogStatus::summary);
        match (receipt, dialog.as_deref().or(agent.caption())) {
            (Some(receipt), _) => receipt_line(receipt),
            (None, Some(words)) => format!("{}: {words}", state_word(agent)),
            (None, None) => state_word(agent),
        }
    }
}

/// Returns what the agent does, in a word or two.
pub(crate) fn state_word(agent: &Agent) -> String {
    let state = agent.state;
    match (agent.has_conflict, agent.is_stuck) {
        (true, _) => format!("{state} · conflict!"),
        (false, true) => format!("{state} · stuck!"),
        (false, false) => state.to_string(),
    }
}

/// Returns since when the agent wants a person, by what it does. One that is stuck has not wanted
/// anybody since it began to work.
fn wanted_since(agent: &Agent) -> Option<Moment> {
    match agent.state {
        AgentState::Waiting if agent.is_left_to_rules => None,
        AgentState::Waiting | AgentState::Blocked | AgentState::Error => Some(agent.since),
        AgentState::Starting
        | AgentState::Idle
        | AgentState::Working
        | AgentState::Done
        | AgentState::Limited
        | AgentState::Unknown
        | AgentState::Exited => agent.stuck_since,
    }
}
