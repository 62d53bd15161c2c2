//! Everything that the hub's one task owns.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Child;
use std::rc::Rc;
use std::sync::Arc;

use super::background::PlanQueue;
use super::clock::Clock;
use super::inbox::{Breach, ClientId, ClientNews, HubInput, Senders};
use crate::api::{Fault, FromHub};
use crate::config::{Paths, Settings};
use crate::detect::{HookRules, ReporterCall, Rules};
use crate::engine::{Engine, Event};
use crate::hub::agents::start::PendingStart;
use crate::hub::clients::alerts::Alerts;
use crate::hub::clients::views::Views;
use crate::hub::panes::pane::Pane;
use crate::hub::record::commit_queue::CommitQueue;
use crate::hub::record::file_writer::FileWriter;
use crate::hub::record::recordings::Recordings;
use crate::hub::record::undo::Undo;
use crate::hub::requests::route::Asker;
use crate::hub::tasks::board::Board;
use crate::hub::tasks::scan::Snapshots;
use crate::keeper::{Standing, Watchdog};
use crate::model::{AgentName, Environment, Keyed, Moment, RequestId, RunId, Size};
use crate::screen::HistoryLimit;

/// The hub.
#[derive(Debug)]
pub(super) struct Hub {
    pub(super) paths: Paths,
    /// Our own binary, which keepers and revived hubs run too.
    pub(super) program: PathBuf,
    pub(super) clock: Clock,
    pub(super) senders: Senders,
    pub(super) engine: Engine,
    pub(super) panes: BTreeMap<AgentName, Pane>,
    pub(super) views: Views,
    pub(super) casts: Recordings,
    pub(super) writer: FileWriter,
    /// Who asked for what is still being carried out.
    pub(super) askers: BTreeMap<RequestId, Asker>,
    /// Who wants to see the process tree of an agent, oldest first.
    pub(super) tree_askers: BTreeMap<AgentName, Vec<Asker>>,
    pub(super) next_request: u64,
    /// The keys of requests that are about to be decided.
    pub(super) keys: BTreeMap<(ClientId, u64), Keyed>,
    pub(super) guards: Vec<Guard>,
    /// What holds: as the files were when they could last be used.
    pub(super) settings: Settings,
    /// Why the files cannot be used as they are now.
    pub(super) settings_fault: Option<String>,
    /// How to read the screen of each cli, where that was needed.
    pub(super) rules: BTreeMap<String, Arc<Rules>>,
    /// What the hooks of each cli mean.
    pub(super) hook_rules: BTreeMap<String, HookRules>,
    /// The clients that speak for an agent.
    pub(super) speakers: BTreeMap<ClientId, (AgentName, RunId)>,
    /// Where the processes at the other ends stand.
    pub(super) standings: BTreeMap<ClientId, Standing>,
    /// What was set for agents that were added: values that may be secrets, and so only here.
    pub(super) added_env: BTreeMap<AgentName, Environment>,
    /// The variables of whoever last started each agent, and so only here, too.
    pub(super) callers: BTreeMap<AgentName, Rc<Environment>>,
    pub(super) grace_ms: u64,
    pub(super) history_limit: HistoryLimit,
    pub(super) default_size: Size,
    /// The record, and what waits for it.
    pub(super) ledger: CommitQueue,
    /// The way back from requests that the record does not have yet.
    pub(super) undo: Undo,
    /// What was seen of the files of each workspace.
    pub(super) sights: Snapshots,
    pub(super) board: Board,
    pub(super) alerts: Alerts,
    /// What is planned beside the hub, one after the other.
    pub(super) turns: PlanQueue,
    /// Starts the next hub while agents live elsewhere.
    pub(super) watchdog: Option<Watchdog>,
    /// Runs whose keepers are about to be started.
    pub(super) starting: BTreeMap<AgentName, PendingStart>,
    pub(super) is_ending: bool,
}

/// The outermost process behind an agent that this hub started, and so must reap.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) child: Child,
    pub(super) has_ended: Rc<Cell<bool>>,
}

impl Hub {
    pub(super) fn handle(&mut self, input: HubInput) {
        match input {
            HubInput::Client(client, news) => self.on_client(client, news),
            HubInput::Keeper(agent, run, news) => self.on_keeper(&agent, run, news),
            HubInput::ChildEnded => self.reap_guards(),
            HubInput::Stream { agent, run, news } => self.on_stream(&agent, run, news),
            HubInput::Continue(then) => self.go_on(then),
            HubInput::SettingsChanged => self.reload(None),
            HubInput::Record(outcome) => self.on_record(outcome),
            HubInput::Terminate => self.is_ending = true,
        }
    }

    fn on_client(&mut self, client: ClientId, news: ClientNews) {
        match news {
            ClientNews::Came { outbox, guest, standing } => {
                self.views.welcome(client, outbox);
                self.speakers.extend(guest.map(|guest| (client, guest)));
                self.standings.insert(client, standing);
                self.decide(Event::ClientCame);
            }
            ClientNews::Asked(ask) => {
                self.take_up(client, *ask);
                self.views.note_heard(client);
            }
            ClientNews::Line(line) => {
                self.on_line(client, &line);
                self.views.note_heard(client);
            }
            // What was held back goes out after every input, this one included.
            ClientNews::CaughtUp => {}
            ClientNews::Broke(breach) => {
                self.tell_breach(client, &breach);
                self.dismiss(client);
            }
            ClientNews::Left => self.dismiss(client),
        }
    }

    fn tell_breach(&self, client: ClientId, breach: &Breach) {
        let Breach { reason, quoted, in_lines } = breach;
        tracing::warn!(client = client.0, reason, "a client broke the protocol");
        if *in_lines {
            self.views.send_line(client, &ReporterCall::refuse_line(reason));
            return;
        }
        let dash = if quoted.is_empty() { "" } else { ": " };
        let fault = Fault::new(format!("That is not a request: {reason}{dash}{quoted}"))
            .with_hint("`wheelhouse api schema` prints what requests look like");
        self.views.send(client, &FromHub::Answer { id: 0, outcome: Err(fault) });
    }

    fn dismiss(&mut self, client: ClientId) {
        self.views.dismiss(client);
        self.speakers.remove(&client);
        self.standings.remove(&client);
        self.keys.retain(|(asker, _), _| *asker != client);
        let gone = |asker: &Asker| asker.client == client;
        let requests: Vec<_> =
            self.askers.iter().filter(|(_, asker)| gone(asker)).map(|(id, _)| *id).collect();
        for request in requests {
            self.askers.remove(&request);
            self.decide(Event::AskerLeft { request });
        }
        for askers in self.tree_askers.values_mut() {
            askers.retain(|asker| !gone(asker));
        }
        self.decide(Event::ClientLeft);
    }

    pub(super) fn reap_guards(&mut self) {
        self.watchdog.take_if(|watchdog| !watchdog.is_alive());
        self.guards.retain_mut(|guard| {
            let lives = matches!(guard.child.try_wait(), Ok(None));
            guard.has_ended.set(!lives);
            lives
        });
    }

    /// Returns when something must happen even if nothing else does.
    pub(super) fn next_deadline(&self) -> Option<Moment> {
        let views = self.views.next_deadline(&self.panes);
        let judges = self.panes.values().filter_map(Pane::judge_deadline).min();
        let errands = self.panes.values().filter_map(Pane::errand_deadline).min();
        let leaves = self.panes.values().filter_map(Pane::leave_deadline).min();
        let casts = self.casts.next_deadline();
        let board = self.board_deadline();
        let alerts = self.alerts.next_deadline();
        let engine = self.engine.next_deadline();
        let deadlines = [engine, views, judges, errands, leaves, casts, board, alerts];
        deadlines.into_iter().flatten().min()
    }

    pub(super) fn on_deadline(&mut self) {
        let now = self.clock.now();
        self.judge_due(now);
        self.run_errands_due(now);
        self.ask_leave_due(now);
        self.casts.tick(&self.panes, now);
        self.write_board(now);
        if self.alerts.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.alert();
        }
        if self.engine.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.decide(Event::DeadlineReached);
            self.views.note_status_change();
        }
    }

    /// Leaves everything as the next hub wants to find it.
    pub(super) fn farewell(&mut self) {
        let agents: Vec<_> = self.panes.keys().cloned().collect();
        for agent in agents {
            self.save_screen(&agent);
            self.save_reports(&agent);
        }
        // Nobody waits for this hub any more. A recording may be about to be opened.
        self.writer.files().finish();
        self.casts.flush_all(&self.panes, self.clock.now());
        self.writer.files().finish();
        self.views.say_goodbye();
    }
}
