//! Has events decided, and carries the engine's effects out, one after the other.

use crate::engine::{Effect, Event, RunEvent};
use crate::hub::Hub;
use crate::hub::panes::keystrokes::PromptOrder;
use crate::hub::record::commit_queue::{PendingEffect, unwritable};
use crate::hub::record::state::RecordNews;
use crate::hub::record::undo::EngineChange;
use crate::keeper::ToKeeper;
use crate::model::{Done, RequestId, Stage, Task};
use crate::store::Outcome;

impl Hub {
    /// Hands an event to the engine and carries out what follows, and what follows from that.
    pub(in crate::hub) fn decide(&mut self, event: Event) {
        let now = self.clock.now();
        if let Some(skipped) = self.clock.take_skipped() {
            tracing::info!(seconds = skipped.as_secs(), "the machine slept, or its clock was set");
            self.change_engine(EngineChange::Skipped(skipped, now));
        }
        let clients = &self.clients;
        let needs_record = |request| clients.wants_record(request);
        match self.record.decide(&mut self.engine, event, needs_record, now) {
            Ok(is_change) => {
                if is_change {
                    self.clients.note_status_change();
                    self.board.note_change(&self.engine, now);
                }
            }
            Err((request, reason)) => return self.refuse_unwritten(request, &reason),
        }
        self.carry_on();
        self.alert();
        self.keep_watchdog();
    }

    pub(in crate::hub) fn change_engine(&mut self, change: EngineChange) {
        self.record.change_engine(&mut self.engine, change);
    }

    /// Returns a tag that nobody has.
    pub(in crate::hub) fn draw_tag(&mut self) -> String {
        self.record.draw_tag(&mut self.engine)
    }

    /// Answers a request that could not be put on record.
    fn refuse_unwritten(&mut self, request: RequestId, reason: &str) {
        self.clients.answer_request(request, Err(unwritable(reason)));
    }

    /// Puts what was decided on record, and carries out what follows once it is there.
    pub(in crate::hub) fn carry_out(&mut self, effects: Vec<Effect>) {
        self.record.enter(effects, self.clock.now());
        self.carry_on();
    }

    /// Does something once the record has all that was decided so far.
    pub(in crate::hub) fn carry_out_later(&mut self, effect: PendingEffect) {
        self.record.push(effect);
        self.carry_on();
    }

    /// Takes note of what the record's thread tells.
    pub(in crate::hub) fn on_record(&mut self, outcome: Outcome) {
        let now = self.clock.now();
        let Some(news) = self.record.note(outcome, &mut self.engine, now) else { return };
        let RecordNews { refused, is_other_trouble } = news;
        if let Some((refused, reason)) = refused {
            for request in refused {
                self.refuse_unwritten(request, &reason);
            }
            self.board.note_change(&self.engine, now);
            self.alert();
        }
        if is_other_trouble {
            self.clients.note_status_change();
        }
        self.carry_on();
    }

    /// Does whatever can be done, in the order in which it was decided.
    fn carry_on(&mut self) {
        if !self.record.begin_work() {
            return;
        }
        while let Some((effect, obstacle)) = self.record.next() {
            match obstacle {
                None => self.act(effect),
                Some(reason) => self.leave_undone(effect, &reason),
            }
        }
    }

    fn act(&mut self, effect: PendingEffect) {
        match effect {
            PendingEffect::Effect { effect, .. } => self.obey_engine(effect),
            PendingEffect::GoOn { agent, run, receipt } => {
                self.go_on_with_prompt(&agent, run, receipt);
            }
            PendingEffect::Answer { asker, answer } => self.answer(asker, answer),
            PendingEffect::Show { task } => {
                self.record.show(&task);
                self.clients.note_status_change();
            }
            PendingEffect::Tidy { agents } => self.tidy_up(&agents),
        }
    }

    /// Deals with something whose reasons cannot be put on record. Whatever begins something is left
    /// undone, and the engine told so; whatever ends something is done all the same. No request is
    /// among them: those that the record does not have were taken back.
    fn leave_undone(&mut self, pending: PendingEffect, reason: &str) {
        match pending {
            PendingEffect::Effect { effect, is_of_change } => match effect {
                Effect::Start { agent, run, .. } => {
                    let reason = format!("its start could not be put on record: {reason}");
                    self.note_run(&agent, run, RunEvent::NeverCame { reason });
                }
                Effect::Deliver { agent, run, receipt, .. } => {
                    self.refuse_prompt(&agent, run, receipt, reason);
                }
                Effect::Approve { agent, run, fingerprint, .. } => {
                    let reason = Some(format!("it could not be put on record: {reason}"));
                    let stage = Stage::Refused;
                    self.note_run(&agent, run, RunEvent::Approved { fingerprint, stage, reason });
                }
                Effect::Answer { request, outcome: Ok(done) }
                    if self.is_premature(request, &done, is_of_change) =>
                {
                    let effect = Effect::Answer { request, outcome: Ok(done) };
                    self.record.park(PendingEffect::Effect { effect, is_of_change });
                }
                Effect::Answer { request, outcome } => self.answer_command(request, outcome),
                Effect::Workspace(order) => self.leave_workspace_undone(order, reason),
                // A claim that is checked now could come to an end that no record tells of.
                Effect::RunGates { .. } | Effect::RunStageGates { .. } => {
                    self.record.park(PendingEffect::Effect { effect, is_of_change });
                }
                Effect::Save(_)
                | Effect::Adopt { .. }
                | Effect::Stop { .. }
                | Effect::Release { .. }
                | Effect::Sweep { .. }
                | Effect::Renew { .. }
                | Effect::Inspect { .. }
                | Effect::ListModified { .. }
                | Effect::Scan { .. }
                | Effect::HashFile { .. }
                | Effect::Interrupt { .. }
                | Effect::EndHub => self.obey_engine(effect),
            },
            PendingEffect::GoOn { agent, run, receipt } => {
                self.abandon_prompt(&agent, run, receipt, reason);
            }
            PendingEffect::Answer { asker, answer: Err(fault) } => self.answer(asker, Err(fault)),
            // What an agent has said is heard, and told to be so once it is on record.
            PendingEffect::Answer { .. } | PendingEffect::Show { .. } => self.record.park(pending),
            PendingEffect::Tidy { agents } => self.tidy_up(&agents),
        }
    }

    /// Says whether an answer tells of something before the record does: of a task's end, or of what
    /// came of a request that counts only if it is on record.
    fn is_premature(&self, request: RequestId, done: &Done, is_of_change: bool) -> bool {
        let is_early = |task: &Task| !self.record.may_show(&task.id.to_string());
        let wants_record = self.clients.wants_record(request);
        // Whoever runs was on record before it was started.
        let is_fact = !done.started.is_empty() || !done.unchanged.is_empty();
        done.tasks.iter().any(is_early) || (wants_record && is_of_change && !is_fact)
    }

    fn obey_engine(&mut self, effect: Effect) {
        match effect {
            // It is on record by now, or it never will be.
            Effect::Save(_) => {}
            Effect::Start { agent, run, launch } => self.start(&agent, run, launch),
            Effect::Adopt { agent, run, was_seen } => self.adopt(&agent, run, was_seen),
            Effect::Stop { agent, run, grace_ms } => self.order_stop(&agent, run, grace_ms),
            Effect::Release { agent, .. } => self.order(&agent, &ToKeeper::Release),
            Effect::Sweep { agent, run } => self.sweep(agent, run),
            Effect::Renew { agent, run } => self.plan_renewal(&agent, run),
            Effect::Deliver { agent, run, receipt, text, tag, manner } => {
                let prompt = PromptOrder { receipt, text, tag, manner };
                self.begin_prompt(&agent, run, prompt);
            }
            Effect::Inspect { agent, run, receipt, stage, text } => {
                self.begin_inspection(&agent, run, (receipt, stage, text));
            }
            Effect::RunGates { task, attempt, gates, cwd } => {
                self.run_gates(task, attempt, gates, cwd);
            }
            Effect::Scan { root } => self.scan_workspace(root),
            Effect::Workspace(order) => self.carry_out_workspace(order),
            Effect::HashFile { task, attempt, path, cwd } => {
                self.hash_artifact(task, attempt, path, cwd);
            }
            Effect::RunStageGates { play, stage, round, gates, cwd } => {
                self.run_stage_gates((play, stage, round), gates, cwd);
            }
            Effect::ListModified { task, attempt, cwd } => {
                self.list_modified(task, attempt, cwd);
            }
            Effect::Approve { agent, run, fingerprint, yes } => {
                self.answer_by_rule(&agent, run, (fingerprint, yes));
            }
            Effect::Interrupt { agent, .. } => {
                if let Err(fault) = self.begin_interrupt(None, agent.as_str()) {
                    tracing::warn!(%agent, %fault, "it cannot be interrupted");
                }
            }
            Effect::Answer { request, outcome } => self.answer_command(request, outcome),
            Effect::EndHub => self.is_ending = true,
        }
    }
}
