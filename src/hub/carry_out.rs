//! Carries the engine's orders out, one after the other.

use super::Hub;
use crate::api::hub_argv;
use crate::engine::{Effect, Event, RunEvent};
use crate::hub::clients::socket::BoundSocket;
use crate::hub::clients::socket::{AgentSocket, door_place};
use crate::hub::panes::event_stream::EventStream;
use crate::hub::panes::keystrokes::PromptOrder;
use crate::hub::panes::link::{KeeperAddress, KeeperStart, Link, Route};
use crate::hub::panes::pane::Pane;
use crate::hub::panes::reports::SentReports;
use crate::hub::record::commit_queue::PendingEffect;
use crate::hub::record::undo::EngineChange;
use crate::keeper::{self, ToKeeper};
use crate::model::{AgentName, Done, ReceiptId, RequestId, RunId, Stage, Task};
use crate::store::Outcome;

impl Hub {
    /// Hands an event to the engine and carries out what follows, and what follows from that.
    pub(super) fn decide(&mut self, event: Event) {
        let now = self.clock.now();
        if let Some(skipped) = self.clock.take_skipped() {
            tracing::info!(seconds = skipped.as_secs(), "the machine slept, or its clock was set");
            self.change_engine(EngineChange::Skipped(skipped, now));
        }
        let attempt = self.attempt(&event);
        let kept = (attempt.is_some() || self.undo.is_needed()).then(|| event.clone());
        let effects = self.engine.handle(event, now);
        let is_change = effects.iter().any(|effect| matches!(effect, Effect::Save(_)));
        let entered = match attempt {
            None => {
                self.ledger.enter(effects, now);
                None
            }
            Some(attempt) => match self.ledger.enter_request(effects, now) {
                Ok(ticket) => Some((attempt, ticket)),
                Err(reason) => {
                    self.engine = *attempt.engine;
                    return self.refuse_unwritten(attempt.id, &reason);
                }
            },
        };
        if let Some(event) = kept {
            self.undo.note(event, now, entered);
            self.undo.settle(self.ledger.committed());
        }
        if is_change {
            self.views.note_status_change();
            self.note_board(now);
        }
        self.carry_on();
        self.alert();
        self.keep_watchdog();
    }

    /// Puts what was decided on record, and carries out what follows once it is there.
    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        self.ledger.enter(effects, self.clock.now());
        self.carry_on();
    }

    /// Does something once the record has all that was decided so far.
    pub(super) fn carry_out_later(&mut self, deed: PendingEffect) {
        self.ledger.push(deed);
        self.carry_on();
    }

    /// Takes note of what the record's thread tells.
    pub(super) fn on_record(&mut self, outcome: Outcome) {
        if let Outcome::Failing { reason } = &outcome
            && !self.take_back(reason)
        {
            return;
        }
        let trouble = self.ledger.trouble();
        self.ledger.note(outcome, self.clock.now());
        self.undo.settle(self.ledger.committed());
        if self.ledger.trouble() != trouble {
            self.views.note_status_change();
        }
        self.carry_on();
    }

    /// Does whatever can be done, in the order in which it was decided.
    fn carry_on(&mut self) {
        if std::mem::replace(&mut self.ledger.is_busy, true) {
            return;
        }
        while let Some((deed, obstacle)) = self.ledger.pop() {
            match obstacle {
                None => self.act(deed),
                Some(reason) => self.forgo(deed, &reason),
            }
        }
        self.ledger.is_busy = false;
    }

    fn act(&mut self, deed: PendingEffect) {
        match deed {
            PendingEffect::Effect { effect, .. } => self.obey_engine(effect),
            PendingEffect::GoOn { agent, run, receipt } => {
                self.go_on_with_prompt(&agent, run, receipt);
            }
            PendingEffect::Answer { asker, answer } => self.answer(asker, answer),
            PendingEffect::Show { task } => {
                self.ledger.show(&task);
                self.views.note_status_change();
            }
            PendingEffect::Tidy { agents } => self.tidy_up(&agents),
        }
    }

    /// Deals with something whose reasons cannot be put on record. Whatever begins something is left
    /// undone, and the engine told so; whatever ends something is done all the same. No request is
    /// among them: those that the record does not have were taken back.
    fn forgo(&mut self, deed: PendingEffect, reason: &str) {
        match deed {
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
                    self.ledger.park(PendingEffect::Effect { effect, is_of_change });
                }
                Effect::Answer { request, outcome } => self.answer_command(request, outcome),
                Effect::Workspace(order) => self.forgo_space(order, reason),
                // A claim that is checked now could come to an end that no record tells of.
                Effect::RunGates { .. } | Effect::RunStageGates { .. } => {
                    self.ledger.park(PendingEffect::Effect { effect, is_of_change });
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
            PendingEffect::Answer { .. } | PendingEffect::Show { .. } => self.ledger.park(deed),
            PendingEffect::Tidy { agents } => self.tidy_up(&agents),
        }
    }

    /// Says whether an answer tells of something before the record does: of a task's end, or of what
    /// came of a request that counts only if it is on record.
    fn is_premature(&self, request: RequestId, done: &Done, is_of_change: bool) -> bool {
        let is_early = |task: &Task| !self.ledger.may_show(&task.id.to_string());
        let wants_record = self.askers.get(&request).is_some_and(|asker| asker.wants_record);
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
            Effect::Scan { root } => self.look(root),
            Effect::Workspace(order) => self.obey_about_space(order),
            Effect::HashFile { task, attempt, path, cwd } => self.weigh(task, attempt, path, cwd),
            Effect::RunStageGates { play, stage, round, gates, cwd } => {
                self.run_stage_gates((play, stage, round), gates, cwd);
            }
            Effect::ListModified { task, attempt, cwd } => self.survey(task, attempt, cwd),
            Effect::Approve { agent, run, fingerprint, yes } => {
                self.give_leave(&agent, run, (fingerprint, yes));
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

    fn refuse_prompt(&mut self, agent: &AgentName, run: RunId, receipt: ReceiptId, reason: &str) {
        let (stage, reason) = (Stage::Refused, format!("it could not be put on record: {reason}"));
        let reason = Some(reason);
        self.note_run(agent, run, RunEvent::Delivery { receipt, stage, reason });
    }

    /// Looks for the keeper of a run, and takes its screen from where the last hub left it.
    pub(super) fn adopt(&mut self, agent: &AgentName, run: RunId, was_seen: bool) {
        let now = self.clock.now();
        let files = self.writer.files();
        let saved = files.read(&self.paths.agent_screen(agent)).ok();
        let saved = saved.and_then(|bytes| Pane::restore(&bytes, run, self.history_limit, now));
        let mut pane =
            saved.unwrap_or_else(|| Pane::new(run, self.default_size, self.history_limit));
        let told = files.read(&self.paths.agent_reports(agent)).ok();
        pane.reports = told.map(|text| SentReports::load(&text, run)).unwrap_or_default();
        // Until its keeper has said how much there is to read.
        pane.caught_up_at = u64::MAX;
        let start = if was_seen { KeeperStart::Past } else { KeeperStart::BySomeoneElse };
        pane.door = self.open_door(agent, run);
        match self.road(agent) {
            Ok(road) => self.open_link(agent, pane, start, road),
            // Nothing is known of it then, and that is shown.
            Err(error) => tracing::error!(%agent, %error, "no way leads to its keeper"),
        }
        self.repeat_reports(agent, run);
    }

    pub(super) fn open_link(
        &mut self,
        agent: &AgentName,
        mut pane: Pane,
        start: KeeperStart,
        road: KeeperAddress,
    ) {
        let (run, from) = (pane.run, pane.offset);
        let route = Route { agent: agent.clone(), run, road, from, start };
        pane.link = Some(Link::open(route, self.senders.clone()));
        pane.detector = self.detector(agent);
        if let (Some(detector), Some(memory)) = (&mut pane.detector, pane.reports.take_memory()) {
            detector.remember(memory);
            pane.tokens_told = detector.tokens().unwrap_or_default();
        }
        let port = self.engine.seat(agent).and_then(|seat| seat.member.contact.port);
        let listen = |port| EventStream::open(agent.clone(), pane.run, port, self.senders.clone());
        pane.ear = port.map(listen);
        self.casts.interrupt(&self.paths, self.writer.files(), agent);
        let before = self.panes.insert(agent.clone(), pane);
        if let Some(link) = before.and_then(|pane| pane.link) {
            link.retire();
        }
        self.views.note_replacement(agent);
    }

    /// Opens the door of an agent that has one.
    fn open_door(&self, agent: &AgentName, run: RunId) -> Option<AgentSocket> {
        let place = self.has_door(agent).then(|| door_place(&self.paths, agent))?;
        AgentSocket::open(BoundSocket::for_agent(place, agent)?, agent, run, self.senders.clone())
    }

    pub(super) fn has_door(&self, agent: &AgentName) -> bool {
        self.engine.seat(agent).is_some_and(|seat| seat.member.contact.has_door)
    }

    pub(super) fn order(&self, agent: &AgentName, order: &ToKeeper) {
        let is_taken = self.panes.get(agent).is_some_and(|pane| pane.order(order));
        if !is_taken {
            tracing::warn!(%agent, "its keeper takes no orders");
        }
    }

    /// Kills what a lost keeper may have left behind; that can take seconds.
    fn sweep(&self, agent: AgentName, run: RunId) {
        // A place elsewhere has swept before it said that nothing is left.
        let is_elsewhere = self.runner_of(&agent).is_some();
        let marks = self.marks(&agent, run).map(|(name, value)| format!("{name}={value}"));
        let sweep = move || if is_elsewhere { Vec::new() } else { keeper::sweep(&marks) };
        self.in_background(sweep, move |hub, survivors| {
            let survivors = survivors.unwrap_or_default();
            hub.note_run(&agent, run, RunEvent::Swept { survivors });
        });
    }

    pub(super) fn revival(&self) -> Vec<String> {
        let argv = hub_argv(&self.program, &self.paths.project, &self.paths.session);
        argv.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Returns what every process of a run carries in its environment.
    pub(super) fn marks(&self, agent: &AgentName, run: RunId) -> [(String, String); 3] {
        [
            ("WHEELHOUSE_SESSION".to_owned(), self.paths.session.to_string()),
            ("WHEELHOUSE_AGENT".to_owned(), agent.to_string()),
            ("WHEELHOUSE_RUN".to_owned(), run.to_string()),
        ]
    }
}
