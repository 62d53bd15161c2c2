//! Keeps who waits for what, so that each request gets one answer, when it is true.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine::request_keys::KeyOf;
use crate::engine::{Effect, Engine};
use crate::model::{
    AgentName, AgentState, Condition, Done, Failure, Moment, Receipt, Refusal, RequestId,
};

/// A request that is not answered yet.
#[derive(Clone, Debug)]
pub(super) struct RunWait {
    pub(super) request: RequestId,
    /// Under which what comes of it is kept.
    pub(super) key: Option<KeyOf>,
    pub(super) goal: Goal,
    pub(super) pending: BTreeSet<AgentName>,
    pub(super) done: Done,
    pub(super) failures: Vec<Failure>,
}

/// Someone who wants to know when something has come to be.
#[derive(Clone, Debug)]
pub(super) struct ConditionWait {
    pub(super) request: RequestId,
    pub(super) condition: Condition,
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Goal {
    Running,
    Ended,
}

impl Engine {
    /// Notes that an agent has come where some requests wanted it.
    pub(super) fn reach(&mut self, agent: &AgentName, goal: Goal, effects: &mut Vec<Effect>) {
        for wait in self.waits.iter_mut().filter(|wait| wait.goal == goal) {
            if wait.pending.remove(agent) {
                match goal {
                    Goal::Running => wait.done.started.push(agent.clone()),
                    Goal::Ended => wait.done.stopped.push(agent.clone()),
                }
            }
        }
        self.settle_waits(effects);
    }

    /// Notes that an agent will not come where some requests wanted it.
    pub(super) fn miss(&mut self, goal: Goal, failure: &Failure, effects: &mut Vec<Effect>) {
        for wait in self.waits.iter_mut().filter(|wait| wait.goal == goal) {
            if wait.pending.remove(&failure.agent) {
                wait.failures.push(failure.clone());
            }
        }
        self.settle_waits(effects);
    }

    /// Answers every request that waits for nothing more.
    pub(super) fn settle_waits(&mut self, effects: &mut Vec<Effect>) {
        let settled = self.waits.extract_if(.., |wait| wait.pending.is_empty());
        for RunWait { request, key, mut done, failures, .. } in settled.collect::<Vec<_>>() {
            // They came in the order of chance; whoever reads it wants the order of names.
            done.started.sort();
            done.stopped.sort();
            let outcome =
                if failures.is_empty() { Ok(done) } else { Err(Refusal::Failed { failures }) };
            if let Some(key) = key {
                self.note_settled(&key, &outcome);
            }
            effects.push(Effect::Answer { request, outcome });
        }
    }

    /// Refuses to wait for what nobody knows.
    pub(super) fn refuse_condition(&self, condition: &Condition) -> Result<(), Refusal> {
        match condition {
            Condition::Receipts(receipts) => {
                match receipts.iter().find(|id| !self.dispatches.contains_key(id)) {
                    Some(&receipt) => Err(Refusal::UnknownReceipt { receipt }),
                    None => Ok(()),
                }
            }
            Condition::Agent { agent, .. } => self.refuse_unknown(std::slice::from_ref(agent)),
            Condition::Task { task, .. } => self.known_task(*task).map(|_| ()),
            Condition::Lock { .. } => Ok(()),
        }
    }

    /// Answers everyone whose wait is over.
    pub(super) fn settle_watches(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let watches = std::mem::take(&mut self.watches);
        for watch in watches {
            match self.outcome(&watch.condition, now) {
                Some(outcome) => {
                    effects.push(Effect::Answer { request: watch.request, outcome });
                }
                None => self.watches.push(watch),
            }
        }
    }

    /// Returns what to answer, once the condition holds or can no longer come to hold.
    fn outcome(&self, condition: &Condition, now: Moment) -> Option<Result<Done, Refusal>> {
        match condition {
            Condition::Receipts(wanted) => {
                let known = wanted.iter().filter_map(|id| self.dispatches.get(id));
                let receipts: Vec<Receipt> = known.map(crate::engine::Dispatch::receipt).collect();
                let is_over = receipts.iter().all(|receipt| receipt.state.is_final());
                is_over.then(|| Ok(Done { receipts, ..Done::default() }))
            }
            Condition::Agent { agent, states } => {
                let seat = self.seats.get(agent);
                // An agent that has just taken a prompt rests no more, though it may still look so.
                if seat.is_some_and(|seat| seat.readiness.expects_turn(now)) {
                    return None;
                }
                let state = seat.map(|seat| seat.state).filter(|state| states.contains(state));
                if state.is_some() {
                    return Some(Ok(Done { state, ..Done::default() }));
                }
                let may_come = seat
                    .is_some_and(|seat| seat.next.is_some() || seat.state != AgentState::Exited);
                (!may_come).then(|| Err(Refusal::HasEnded { agent: agent.clone() }))
            }
            Condition::Task { task, states } => {
                let found = self.tasks.get(task)?;
                if states.contains(&found.state) {
                    return Some(Ok(Done { tasks: vec![found.clone()], ..Done::default() }));
                }
                let (task, state) = (found.id, found.state);
                state.is_final().then_some(Err(Refusal::TaskIs { task, state }))
            }
            Condition::Lock { name, agent } => {
                let lock = self.locks.get(name);
                if let Some(lock) = lock.filter(|lock| lock.holder.agent == *agent) {
                    return Some(Ok(Done { locks: vec![lock.clone()], ..Done::default() }));
                }
                let waits = lock
                    .is_some_and(|lock| lock.waiting.iter().any(|waiter| waiter.agent == *agent));
                (!waits).then(|| {
                    Err(Refusal::NotHeld { name: crate::engine::tasks::requests::line(name) })
                })
            }
        }
    }
}
