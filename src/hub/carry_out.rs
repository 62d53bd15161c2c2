//! Carries the engine's orders out, one after the other.

use std::cell::Cell;
use std::process::Stdio;
use std::rc::Rc;

use super::inbox::Input;
use super::link::{Link, Route, Start};
use super::pane::Pane;
use super::record;
use super::state::{Guard, Hub};
use crate::engine::{Effect, Event, RunEvent};
use crate::keeper::{self, KeeperArgs, Order, ToKeeper};
use crate::model::{AgentName, Launch, RunId};
use crate::wire::hub_argv;

/// Keepers that lost their hub start it again one after the other, this far apart.
const REVIVAL_SPREAD_MS: u64 = 40;

/// Keepers beyond this many share their turns.
const REVIVAL_TURNS: u64 = 16;

impl Hub {
    /// Hands an event to the engine and carries out what follows, and what follows from that.
    pub(super) fn decide(&mut self, event: Event) {
        let now = self.clock.now();
        let effects = self.engine.handle(event, now);
        if effects.contains(&Effect::Save) {
            self.views.note_status_change();
        }
        self.carry_out(effects);
    }

    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        let mut unsaved = None;
        for effect in effects {
            match effect {
                Effect::Save => unsaved = self.save().err().map(|error| error.to_string()),
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
                Effect::Answer { request, outcome } => self.answer_command(request, outcome),
                Effect::EndHub => self.is_ending = true,
            }
        }
    }

    fn save(&self) -> std::io::Result<()> {
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
        let pane = saved.unwrap_or_else(|| Pane::new(run, self.default_size, self.history_limit));
        let start = if was_seen { Start::Past } else { Start::BySomeoneElse };
        self.open_link(agent, pane, start);
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
        if let (Some(detector), Some(memory)) = (&mut pane.detector, pane.memory.take()) {
            detector.remember(memory);
        }
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
