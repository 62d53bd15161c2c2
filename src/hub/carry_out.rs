//! Carries the engine's orders out, one after the other.

use std::cell::Cell;
use std::process::Stdio;
use std::rc::Rc;
use std::time::Duration;

use super::errands::Prompt;
use super::inbox::Input;
use super::link::{Link, Route, Start};
use super::opencode::Ear;
use super::pane::Pane;
use super::record;
use super::reports::Reports;
use super::state::{Guard, Hub};
use crate::engine::{Effect, Event, RunEvent};
use crate::keeper::{self, KeeperArgs, Order, ToKeeper};
use crate::model::{AgentName, Launch, Moment, RunId, Stage};
use crate::wire::hub_argv;

/// Keepers that lost their hub start it again one after the other, this far apart.
const REVIVAL_SPREAD_MS: u64 = 40;

/// A change that nothing relies on yet is written down together with those that follow so closely:
/// a team that comes up changes a hundred times, and each time on disk costs milliseconds.
const SAVE_PAUSE: Duration = Duration::from_millis(50);

/// Keepers beyond this many share their turns.
const REVIVAL_TURNS: u64 = 16;

impl Hub {
    /// Hands an event to the engine and carries out what follows, and what follows from that.
    pub(super) fn decide(&mut self, event: Event) {
        let now = self.clock.now();
        let effects = self.engine.handle(event, now);
        if effects.iter().any(|effect| matches!(effect, Effect::Save(_))) {
            self.views.note_status_change();
        }
        self.carry_out(effects);
    }

    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        if matches!(effects[..], [Effect::Save(_)]) {
            self.save_at.get_or_insert(self.clock.now() + SAVE_PAUSE);
            return;
        }
        // Whoever is answered may rely on all that has happened so far.
        let is_answer = |effect: &Effect| matches!(effect, Effect::Answer { .. });
        let is_save = |effect: &Effect| matches!(effect, Effect::Save(_));
        if effects.iter().any(is_answer) && !effects.iter().any(is_save) {
            self.save_what_waits();
        }
        let mut unsaved = None;
        for effect in effects {
            match effect {
                Effect::Save(_) => unsaved = self.save().err().map(|error| error.to_string()),
                Effect::Start { agent, run, launch } => match &unsaved {
                    None => self.start(&agent, run, launch),
                    Some(error) => {
                        let reason = format!("its start could not be put on record: {error}");
                        self.note_run(&agent, run, RunEvent::NeverCame { reason });
                    }
                },
                Effect::Adopt { agent, run, was_seen } => self.adopt(&agent, run, was_seen),
                Effect::Stop { agent, grace_ms, .. } => {
                    self.order(&agent, &ToKeeper::Stop { grace_ms: Some(grace_ms) });
                }
                Effect::Release { agent, .. } => self.order(&agent, &ToKeeper::Release),
                Effect::Sweep { agent, run } => self.sweep(agent, run),
                Effect::Deliver { agent, run, receipt, text, tag, is_confirmed } => {
                    match &unsaved {
                        None => {
                            let prompt = Prompt { receipt, text, tag, is_confirmed };
                            self.begin_prompt(&agent, run, prompt);
                        }
                        Some(error) => {
                            let reason = Some(format!("it could not be put on record: {error}"));
                            let stage = Stage::Refused;
                            self.note_run(
                                &agent,
                                run,
                                RunEvent::Delivery { receipt, stage, reason },
                            );
                        }
                    }
                }
                Effect::Inspect { agent, run, receipt, stage, text } => {
                    self.begin_inspection(&agent, run, (receipt, stage, text));
                }
                Effect::RunGates { task, attempt, gates, cwd } => {
                    self.run_gates(task, attempt, gates, cwd);
                }
                Effect::Survey { task, attempt, cwd } => self.survey(task, attempt, cwd),
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

    /// Writes the record down if something new has waited for that long enough.
    pub(super) fn save_if_due(&mut self, now: Moment) {
        if self.save_at.is_some_and(|at| at <= now) {
            self.save_what_waits();
        }
    }

    pub(super) fn save_what_waits(&mut self) {
        if self.save_at.is_some() {
            // What failed is in the log, and the next change tries again.
            let _ = self.save();
        }
    }

    fn save(&mut self) -> std::io::Result<()> {
        self.save_at = None;
        let saved = record::save(&self.paths.registry(), &self.engine.record());
        if let Err(error) = &saved {
            tracing::error!(%error, "the record could not be written");
        }
        saved
    }

    fn start(&mut self, agent: &AgentName, run: RunId, mut launch: Launch) {
        let size = self.panes.get(agent).map_or(launch.size, |pane| pane.screen.size());
        launch.size = size;
        for (name, value) in self.marks(agent, run) {
            launch.environment.0.insert(name, value);
        }
        let order = Order {
            launch,
            socket: self.paths.agent_socket(agent),
            lock: self.paths.agent_lock(agent),
            revive: self.revival(),
            revive_delay_ms: self.guards.len() as u64 % REVIVAL_TURNS * REVIVAL_SPREAD_MS,
            grace_ms: self.grace_ms,
        };
        let session = self.paths.session.clone();
        let arguments = KeeperArgs { session, agent: agent.clone(), run };
        match keeper::start(&self.program, &arguments, &order, Stdio::null()) {
            Ok(child) => {
                let has_ended = Rc::new(Cell::new(false));
                self.guards.push(Guard { child, has_ended: Rc::clone(&has_ended) });
                let pane = Pane::new(run, size, self.history_limit);
                self.open_link(agent, pane, Start::ByUs { guard_ended: has_ended });
            }
            Err(error) => {
                let reason = format!("its keeper could not be started: {error}");
                self.note_run(agent, run, RunEvent::NeverCame { reason });
            }
        }
    }

    /// Looks for the keeper of a run, and takes its screen from where the last hub left it.
    pub(super) fn adopt(&mut self, agent: &AgentName, run: RunId, was_seen: bool) {
        let now = self.clock.now();
        let saved = Pane::restore(&self.paths.agent_screen(agent), run, self.history_limit, now);
        let mut pane =
            saved.unwrap_or_else(|| Pane::new(run, self.default_size, self.history_limit));
        pane.reports = Reports::load(&self.paths.agent_reports(agent), run);
        // Until its keeper has said how much there is to read.
        pane.caught_up_at = u64::MAX;
        let start = if was_seen { Start::Past } else { Start::BySomeoneElse };
        self.open_link(agent, pane, start);
        self.repeat_reports(agent, run);
    }

    fn open_link(&mut self, agent: &AgentName, mut pane: Pane, start: Start) {
        let route = Route {
            agent: agent.clone(),
            run: pane.run,
            socket: self.paths.agent_socket(agent),
            lock: self.paths.agent_lock(agent),
            from: pane.offset,
            start,
        };
        pane.link = Some(Link::open(route, self.senders.clone()));
        pane.detector = self.detector(agent);
        if let (Some(detector), Some(memory)) = (&mut pane.detector, pane.reports.take_memory()) {
            detector.remember(memory);
        }
        let port = self.engine.seat(agent).and_then(|seat| seat.member.contact.port);
        let listen = |port| Ear::open(agent.clone(), pane.run, port, self.senders.clone());
        pane.ear = port.map(listen);
        self.casts.interrupt(agent, self.clock.now());
        let before = self.panes.insert(agent.clone(), pane);
        if let Some(link) = before.and_then(|pane| pane.link) {
            link.retire();
        }
        self.views.note_replacement(agent);
    }

    fn order(&self, agent: &AgentName, order: &ToKeeper) {
        let is_taken = self.panes.get(agent).is_some_and(|pane| pane.order(order));
        if !is_taken {
            tracing::warn!(%agent, "its keeper takes no orders");
        }
    }

    /// Kills what a lost keeper may have left behind; that can take seconds.
    fn sweep(&self, agent: AgentName, run: RunId) {
        let marks = self.marks(&agent, run).map(|(name, value)| format!("{name}={value}"));
        let requests = self.senders.requests.clone();
        tokio::task::spawn_local(async move {
            let swept = tokio::task::spawn_blocking(move || keeper::sweep(&marks)).await;
            let survivors = swept.unwrap_or_default();
            let _ = requests.send(Input::Swept { agent, run, survivors }).await;
        });
    }

    fn revival(&self) -> Vec<String> {
        let argv = hub_argv(&self.program, &self.paths.project, &self.paths.session);
        argv.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Returns what every process of a run carries in its environment.
    fn marks(&self, agent: &AgentName, run: RunId) -> [(String, String); 3] {
        [
            ("WHEELHOUSE_SESSION".to_owned(), self.paths.session.to_string()),
            ("WHEELHOUSE_AGENT".to_owned(), agent.to_string()),
            ("WHEELHOUSE_RUN".to_owned(), run.to_string()),
        ]
    }
}
