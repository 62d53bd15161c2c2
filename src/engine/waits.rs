//! Who waits for what, so that each request gets one answer, when it is true.

use std::collections::BTreeSet;

use super::{Effect, Engine};
use crate::model::{AgentName, Done, Failure, Refusal, RequestId};

/// A request that is not answered yet.
#[derive(Debug)]
pub(super) struct Wait {
    pub(super) request: RequestId,
    pub(super) goal: Goal,
    pub(super) pending: BTreeSet<AgentName>,
    pub(super) done: Done,
    pub(super) failures: Vec<Failure>,
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        for Wait { request, mut done, failures, .. } in settled {
            // They came in the order of chance; whoever reads it wants the order of names.
            done.started.sort();
            done.stopped.sort();
            let outcome =
                if failures.is_empty() { Ok(done) } else { Err(Refusal::Failed { failures }) };
            effects.push(Effect::Answer { request, outcome });
        }
    }
}
