//! Holds the components and routes what reaches the hub's one task to them.

use std::path::PathBuf;

use super::background::PlanQueue;
use super::clock::Clock;
use super::inbox::{HubInput, Senders};
use crate::api::{Alert, Notice};
use crate::config::{Paths, Settings};
use crate::engine::{Engine, Event};
use crate::hub::agents::state::Agents;
use crate::hub::clients::alerts::Alerts;
use crate::hub::clients::state::Clients;
use crate::hub::panes::pane::Pane;
use crate::hub::panes::state::Panes;
use crate::hub::record::state::HubRecord;
use crate::hub::tasks::board::Board;
use crate::hub::tasks::scan::Snapshots;
use crate::model::{AgentName, Moment};
use crate::notify::Occasion;

/// The hub.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) paths: Paths,
    /// Our own binary, which keepers and revived hubs run too.
    pub(super) program: PathBuf,
    pub(super) clock: Clock,
    pub(super) senders: Senders,
    pub(super) engine: Engine,
    /// What holds: as the files were when they could last be used.
    pub(super) settings: Settings,
    /// Why the files cannot be used as they are now.
    pub(super) settings_fault: Option<String>,
    pub(super) clients: Clients,
    pub(super) alerts: Alerts,
    pub(super) panes: Panes,
    pub(super) agents: Agents,
    pub(super) record: HubRecord,
    /// What was seen of the files of each workspace.
    pub(super) snapshots: Snapshots,
    pub(super) board: Board,
    /// What is planned beside the hub, one after the other.
    pub(super) plans: PlanQueue,
    pub(super) is_ending: bool,
}

impl Hub {
    pub(super) fn handle(&mut self, input: HubInput) {
        match input {
            HubInput::Client(client, news) => self.on_client(client, news),
            HubInput::Keeper(agent, run, news) => self.on_keeper(&agent, run, news),
            HubInput::ChildEnded => self.agents.reap(),
            HubInput::Stream { agent, run, news } => self.on_stream(&agent, run, news),
            HubInput::Continue(then) => self.go_on(then),
            HubInput::SettingsChanged => self.reload(None),
            HubInput::Record(outcome) => self.on_record(outcome),
            HubInput::Terminate => self.is_ending = true,
        }
    }

    /// Returns when something must happen even if nothing else does.
    pub(super) fn next_deadline(&self) -> Option<Moment> {
        let deadlines = [
            self.engine.next_deadline(),
            self.clients.next_deadline(|agent| self.panes.get(agent).map(Pane::content)),
            self.panes.next_deadline(),
            self.record.recordings.next_deadline(),
            self.board.next_deadline(),
            self.alerts.next_deadline(),
        ];
        deadlines.into_iter().flatten().min()
    }

    pub(super) fn on_deadline(&mut self) {
        let now = self.clock.now();
        self.inspect_due(now);
        self.press_due(now);
        self.tell_still_dialogs(now);
        let screen = |agent: &AgentName| self.panes.get(agent).map(Pane::screen);
        self.record.recordings.tick(screen, now);
        self.write_board(now);
        if self.alerts.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.alert();
        }
        if self.engine.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.decide(Event::DeadlineReached);
            self.clients.note_status_change();
        }
    }

    fn write_board(&mut self, now: Moment) {
        let write = self.board.begin_writing(&self.engine, &self.paths.project, now);
        let Some(write) = write else { return };
        self.in_background(write, |hub, written| {
            hub.board.end_writing(written.map_err(std::io::Error::other).flatten());
        });
    }

    /// Tells a person who is not watching what there is to tell of the agents as they are now.
    pub(super) fn alert(&mut self) {
        let (now, wanted) = (self.clock.now(), &self.settings.notify.states);
        let due = self.alerts.observe(&self.engine, &self.clients, wanted, now);
        for (agent, occasion) in due {
            let Some(seat) = self.engine.seat(&agent) else { continue };
            // What a person should know, else what told of the state.
            let detector = || self.panes.get(&agent)?.detector();
            let line = || detector().map(|detector| detector.shown().line.clone());
            let reason = self.remark(seat).or_else(line).unwrap_or_default();
            let (state, is_stuck) = (seat.state, occasion == Occasion::Stuck);
            let (project, settings) = (&self.paths.project, &self.settings.notify);
            let about = (&agent, occasion, reason.as_str());
            let has_dashboard = self.clients.has_dashboard();
            let (title, body) = self.alerts.tell(project, settings, has_dashboard, about);
            let alert = Alert { agent, state, is_stuck, title, body };
            self.clients.tell_subscribers(Notice::Alert(alert));
        }
    }

    /// Leaves everything as the next hub wants to find it.
    pub(super) fn farewell(&mut self) {
        for agent in self.panes.names() {
            self.panes.save_screen(&agent, &self.clock);
            self.panes.save_reports(&agent);
        }
        // Nobody waits for this hub any more. A recording may be about to be opened.
        self.record.files().finish();
        let screen = |agent: &AgentName| self.panes.get(agent).map(Pane::screen);
        self.record.recordings.flush_all(screen, self.clock.now());
        self.record.files().finish();
        self.clients.say_goodbye();
    }
}
