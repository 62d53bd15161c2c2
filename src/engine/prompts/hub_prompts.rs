//! Prompts that the hub itself sends.

use crate::engine::Engine;
use crate::engine::journal::Place;
use crate::engine::prompts::prompt::{Dispatch, Origin};
use crate::engine::prompts::prompt_texts;
use crate::engine::prompts::queue::Wait;
use crate::model::{AgentName, Letter, Manner, Moment, ReceiptId, Role, Stage, TaskId};

impl Engine {
    /// Queues a prompt for the next safe moment, however far off that is.
    pub(in crate::engine) fn post(&mut self, letter: Letter, now: Moment) -> ReceiptId {
        self.post_as(letter, Origin::Hub, now)
    }

    /// The same for words that mean more to the agent than others.
    pub(in crate::engine) fn post_as(
        &mut self,
        letter: Letter,
        origin: Origin,
        now: Moment,
    ) -> ReceiptId {
        self.receipts += 1;
        self.touch(Place::Hub);
        let id = ReceiptId(self.receipts);
        let Letter { agent, text, tag } = letter;
        let is_there =
            self.seats.get(&agent).is_some_and(|seat| seat.is_live() || seat.next.is_some());
        let dispatch = Dispatch {
            id,
            agent,
            run: None,
            text,
            tag,
            idempotency_key: None,
            manner: Manner::default(),
            is_untouched: false,
            origin,
            stage: Stage::Queued,
            reason: None,
            since: now,
            wait: Wait { since: now, ..Wait::default() },
        };
        self.insert_dispatch(dispatch);
        self.note_stage(id, Stage::Queued, None, now);
        if !is_there {
            self.note_stage(id, Stage::Refused, Some("the agent does not run".to_owned()), now);
        }
        id
    }

    /// Takes back the prompts of an attempt that were not typed yet.
    pub(in crate::engine) fn withdraw_tagged(&mut self, tag: &str, now: Moment) {
        let is_waiting =
            |one: &&Dispatch| one.stage == Stage::Queued && one.tag.as_deref() == Some(tag);
        let waiting: Vec<_> = self
            .open_dispatches
            .iter()
            .map(|id| &self.dispatches[id])
            .filter(is_waiting)
            .map(|one| one.id)
            .collect();
        for id in waiting {
            let reason = "its attempt is over".to_owned();
            self.note_stage(id, Stage::Withdrawn, Some(reason), now);
        }
    }

    /// Returns who leads an agent: the lead of its team, or else who orchestrates.
    pub(in crate::engine) fn lead_of(&self, agent: &AgentName) -> Option<AgentName> {
        let member = &self.seats.get(agent)?.member;
        if self.is_chained(agent) {
            return self.chain_lead_of(agent);
        }
        let find = |role: Role, in_team: bool| {
            let live = self.seats.values().filter(|seat| seat.is_live());
            let others = live.filter(|seat| seat.member.name != *agent && seat.member.role == role);
            let near = others.filter(|seat| !in_team || seat.member.team == member.team);
            near.min_by_key(|seat| seat.member.place).map(|seat| seat.member.name.clone())
        };
        match member.role {
            Role::Orchestrator => None,
            Role::Lead => {
                find(Role::Orchestrator, true).or_else(|| find(Role::Orchestrator, false))
            }
            Role::Worker | Role::Verifier => {
                find(Role::Lead, true).or_else(|| find(Role::Orchestrator, true))
            }
        }
    }

    /// Tells whoever leads a task's agent that the task has ended.
    pub(in crate::engine) fn notify_lead(&mut self, id: TaskId, now: Moment) {
        let task = &self.tasks[&id];
        let Some(last) = task.attempts.last().filter(|_| task.verifies.is_none()) else { return };
        if let Some(lead) = self.lead_of(&last.agent) {
            let text = prompt_texts::ended(task, now);
            self.post(Letter { agent: lead, text, tag: None }, now);
        }
    }
}
