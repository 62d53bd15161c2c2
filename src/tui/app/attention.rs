//! What waits for a person, oldest first: the hub's queue, and what the panes themselves show.

use super::agent::moment;
use super::{AgentView, App, has_failed, receipt_line};
use crate::api::{AttentionStatus, DialogStatus};
use crate::model::{AgentName, AgentState, AttentionId, AttentionKind, Moment};
use crate::tui::text::clean;

/// One thing that waits. The order is that of age.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AttentionItem {
    pub since: Moment,
    /// Nobody, if it is about a task that no agent has.
    pub agent: Option<AgentName>,
    pub cause: AttentionCause,
}

/// What a person is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AttentionCause {
    /// The agent waits, is blocked, in error or stuck.
    State,
    /// Its last prompt did not get through.
    Receipt,
    /// It stands in the hub's queue.
    Item(AttentionId),
}

/// Where the person wants to be led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AttentionGoal {
    /// To the oldest thing that they were not led to yet.
    Next,
    To(AttentionItem),
}

impl AttentionItem {
    /// Says whether it is the same thing, though it may have changed since.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.agent == other.agent && self.cause == other.cause
    }
}

impl App {
    /// Returns everything that waits for a person, oldest first.
    pub(crate) fn attention(&self) -> Vec<AttentionItem> {
        let shown = self.agents.iter().flat_map(|agent| self.waiting_at(agent));
        let mut found: Vec<AttentionItem> = shown.collect();
        found.extend(self.queue.iter().filter(|item| !self.shows(item)).filter_map(waiting_in));
        found.sort();
        found
    }

    /// Returns what the queue says of it.
    pub(crate) fn item(&self, id: AttentionId) -> Option<&AttentionStatus> {
        self.queue.iter().find(|item| item.id == id.to_string())
    }

    /// Says whether the agent's own tile tells the same and can be acted upon, or whether a person
    /// has seen that it is over.
    fn shows(&self, item: &AttentionStatus) -> bool {
        let agent = item.agent.as_ref().and_then(|name| name.parse().ok());
        let agent = agent.and_then(|name| self.agent(&name));
        match item.kind {
            AttentionKind::Finished => item.read,
            AttentionKind::Dialog => agent.is_some_and(|one| one.state == AgentState::Waiting),
            AttentionKind::Receipt => {
                agent.and_then(|agent| self.receipt(agent)).is_some_and(has_failed)
            }
            AttentionKind::Blocked
            | AttentionKind::Consent
            | AttentionKind::Conflict
            | AttentionKind::Loop
            | AttentionKind::Limit
            | AttentionKind::Stuck
            | AttentionKind::Failed
            | AttentionKind::Unreachable
            | AttentionKind::Unfit => false,
        }
    }

    fn waiting_at(&self, agent: &AgentView) -> impl Iterator<Item = AttentionItem> {
        let name = agent.name.clone();
        let waiting =
            move |(since, cause)| AttentionItem { since, agent: Some(name.clone()), cause };
        // The queue says more than a state does.
        let is_told = |item: &&AttentionStatus| {
            item.kind != AttentionKind::Finished
                && item.agent.as_deref() == Some(agent.name.as_str())
        };
        let is_queued = agent.state != AgentState::Waiting
            && self.queue.iter().filter(|item| !self.shows(item)).any(|item| is_told(&item));
        let state =
            wanted_since(agent).filter(|_| !is_queued).map(|since| (since, AttentionCause::State));
        let failed = self.receipt(agent).filter(|receipt| has_failed(receipt));
        let receipt = failed.map(|receipt| (receipt.since, AttentionCause::Receipt));
        [state, receipt].into_iter().flatten().map(waiting)
    }

    /// Returns what follows the thing that the person was last led to.
    pub(crate) fn next_waiting(&self) -> Option<AttentionItem> {
        let all = self.attention();
        let after = all.iter().find(|one| self.attended.as_ref().is_some_and(|last| *one > last));
        after.or(all.first()).cloned()
    }

    /// Returns what is wanted, in a line.
    pub(crate) fn want(&self, waiting: &AttentionItem) -> String {
        if let AttentionCause::Item(id) = waiting.cause {
            let item = self.item(id);
            return item.map_or_else(String::new, |item| {
                let mark = if item.read { "" } else { "● " };
                clean(&format!("{mark}{}: {}", item.kind, item.text))
            });
        }
        let agent = waiting.agent.as_ref().and_then(|name| self.agent(name));
        let Some(agent) = agent else { return String::new() };
        let receipt = agent.receipt.as_ref().filter(|_| waiting.cause == AttentionCause::Receipt);
        let dialog = agent.dialog.as_ref().map(DialogStatus::summary);
        match (receipt, dialog.as_deref().or(agent.caption())) {
            (Some(receipt), _) => receipt_line(receipt),
            (None, Some(words)) => format!("{}: {words}", state_word(agent)),
            (None, None) => state_word(agent),
        }
    }
}

fn waiting_in(item: &AttentionStatus) -> Option<AttentionItem> {
    let agent = item.agent.as_ref().and_then(|name| name.parse().ok());
    let cause = AttentionCause::Item(item.id.parse().ok()?);
    Some(AttentionItem { since: moment(&item.since), agent, cause })
}

/// Returns what the agent does, in a word or two.
pub(crate) fn state_word(agent: &AgentView) -> String {
    let state = agent.state;
    if agent.is_unreachable {
        return "unreachable!".to_owned();
    }
    match (agent.has_conflict, agent.is_stuck) {
        (true, _) => format!("{state} · conflict!"),
        (false, true) => format!("{state} · stuck!"),
        (false, false) => state.to_string(),
    }
}

/// Returns since when the agent wants a person, by what it does. One that is stuck has not wanted
/// anybody since it began to work.
fn wanted_since(agent: &AgentView) -> Option<Moment> {
    match agent.state {
        AgentState::Waiting if agent.is_left_to_rules => None,
        AgentState::Waiting => Some(agent.since),
        // The hub asks other agents first, or this one again; its queue says when that is of no use.
        _ if agent.task.is_some() => None,
        AgentState::Blocked | AgentState::Error => Some(agent.since),
        AgentState::Starting
        | AgentState::Idle
        | AgentState::Working
        | AgentState::Done
        | AgentState::Limited
        | AgentState::Unknown
        | AgentState::Exited => agent.stuck_since,
    }
}
