//! Starts, adopts and stops runs: what they find on the disk is looked up, and their keepers are started, beside the hub.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Stdio};
use std::rc::Rc;

use crate::api::{Fault, hub_argv};
use crate::config::Paths;
use crate::engine::{RunEvent, Seat};
use crate::hub::Hub;
use crate::hub::agents::toolsets::tidy_kit;
use crate::hub::agents::workspace_plan::{WorkspaceAccess, access_of, furnish};
use crate::hub::clients::socket::{AgentSocket, BoundSocket, door_place};
use crate::hub::panes::link::KeeperStart;
use crate::hub::panes::pane::Pane;
use crate::hub::remote::place::{KeeperAddress, LocalKeeper, RemoteKeeper};
use crate::hub::remote::way::way;
use crate::keeper::{self, KeeperArgs, Order, ToKeeper, Watchdog, WatchdogOrder};
use crate::model::{AgentName, Launch, Limits, Member, RunId, Runner};
use crate::runner::{Mount, OrderThere};
use crate::workspace::Site;

/// Keepers that lost their hub start it again one after the other, this far apart.
const REVIVAL_SPREAD_MS: u64 = 40;

/// Keepers beyond this many share their turns.
const REVIVAL_TURNS: u64 = 16;

/// What came of the start of a keeper here.
struct Started {
    order: Order,
    child: io::Result<Child>,
    door: Option<BoundSocket>,
}

impl Hub {
    pub(in crate::hub) fn start(&mut self, agent: &AgentName, run: RunId, launch: Launch) {
        self.agents.begin_start(agent.clone(), run);
        let is_held = launch.confinement.sandbox.is_some();
        let is_mounted = self.runner_of(agent).is_some_and(Runner::mounts_files);
        let workspace = self.engine.workspace(agent).filter(|one| one.outpost.is_none());
        let Some(workspace) = workspace.filter(|_| is_held || is_mounted) else {
            return self.start_on(agent, run, launch, None);
        };
        let (agent, plot) = (agent.clone(), workspace.plot.clone());
        self.in_background(
            move || access_of(&plot),
            move |hub, access| match access {
                Ok(access) => hub.start_on(&agent, run, launch, Some(access)),
                Err(fault) => {
                    hub.agents.end_start(&agent);
                    let reason = fault.message;
                    hub.note_run(&agent, run, RunEvent::NeverCame { reason });
                }
            },
        );
    }

    /// Orders a run to stop; one that has not been started yet never is.
    pub(in crate::hub) fn order_stop(&mut self, agent: &AgentName, run: RunId, grace_ms: u64) {
        if !self.agents.stop_start(agent, run, grace_ms) {
            self.order(agent, &ToKeeper::Stop { grace_ms: Some(grace_ms) });
        }
    }

    /// Starts a run on what was found of its workspace.
    fn start_on(
        &mut self,
        agent: &AgentName,
        run: RunId,
        mut launch: Launch,
        access: Option<WorkspaceAccess>,
    ) {
        let is_current = self.engine.seat(agent).is_some_and(|seat| seat.run == run);
        if !is_current || !self.agents.is_start_wanted(agent) {
            self.agents.end_start(agent);
            let reason = "it was stopped before it was started".to_owned();
            return self.note_run(agent, run, RunEvent::NeverCame { reason });
        }
        launch.size = self.panes.size_of(agent).unwrap_or(launch.size);
        if let Some(workspace) = self.engine.workspace(agent) {
            let mark = Site::of(&self.paths).setup_mark(agent);
            furnish(workspace, mark, &mut launch, access.as_ref());
        }
        if let Some(runner) = self.runner_of(agent).cloned() {
            self.agents.end_start(agent);
            return self.start_there(agent, run, runner, (launch, access));
        }
        for (name, value) in self.marks(agent, run) {
            launch.environment.0.insert(name, value);
        }
        let before = self.agents.keeper_count() as u64;
        let order = Order {
            launch,
            socket: self.paths.agent_socket(agent),
            lock: self.paths.agent_lock(agent),
            revive: revival(&self.program, &self.paths),
            revive_delay_ms: before % REVIVAL_TURNS * REVIVAL_SPREAD_MS,
            grace_ms: self.grace_ms(),
            fence: None,
        };
        let session = self.paths.session.clone();
        let (agent, program) = (agent.clone(), self.program.clone());
        let arguments = KeeperArgs { session, agent: agent.clone(), run };
        let place = self.has_own_socket(&agent).then(|| door_place(&self.paths, &agent));
        let start = move || {
            // A sandbox is made around what is there when it is made.
            let door = place.and_then(|place| BoundSocket::for_agent(place, &arguments.agent));
            let child = keeper::start(&program, &arguments, &order, Stdio::null());
            Started { order, child, door }
        };
        self.in_background(start, move |hub, started| hub.note_start(&agent, run, started));
    }

    fn note_start(&mut self, agent: &AgentName, run: RunId, started: Result<Started, Fault>) {
        let stop = self.agents.end_start(agent);
        let started = started.map_err(|fault| fault.message);
        let spawned = |started: Started| match started.child {
            Ok(child) => Ok((started.order, child, started.door)),
            Err(error) => Err(error.to_string()),
        };
        let (order, child, door) = match started.and_then(spawned) {
            Ok(started) => started,
            Err(error) => {
                let reason = format!("its keeper could not be started: {error}");
                return self.note_run(agent, run, RunEvent::NeverCame { reason });
            }
        };
        let has_ended = self.agents.add_keeper(child);
        let size = order.launch.size;
        let door =
            door.and_then(|bound| AgentSocket::open(bound, agent, run, self.senders.clone()));
        let mut pane = self.panes.empty(run, size);
        pane.set_socket(door);
        let session = self.paths.session.clone();
        let keeper = LocalKeeper { session, socket: order.socket, lock: order.lock };
        let start = KeeperStart::ByUs { has_ended };
        self.open_pane(agent, pane, (start, KeeperAddress::Local(keeper)));
        if let Some(grace_ms) = stop {
            self.order(agent, &ToKeeper::Stop { grace_ms: Some(grace_ms) });
        }
    }

    /// Begins a run in a place elsewhere.
    fn start_there(
        &mut self,
        agent: &AgentName,
        run: RunId,
        runner: Runner,
        (launch, access): (Launch, Option<WorkspaceAccess>),
    ) {
        let size = launch.size;
        match self.remote_keeper(agent, runner, Some((launch, access))) {
            Ok(keeper) => {
                let pane = self.panes.empty(run, size);
                let start = KeeperStart::ByUs { has_ended: Rc::default() };
                self.open_pane(agent, pane, (start, KeeperAddress::Remote(Box::new(keeper))));
            }
            Err(error) => {
                let reason = format!("its start could not be sent: {error}");
                self.note_run(agent, run, RunEvent::NeverCame { reason });
            }
        }
    }

    /// Looks for the keeper of a run, and takes its screen from where the last hub left it.
    pub(in crate::hub) fn adopt(&mut self, agent: &AgentName, run: RunId, was_seen: bool) {
        let mut pane = self.panes.adopted(agent, run, self.clock.now());
        pane.set_socket(self.open_socket(agent, run));
        let start = if was_seen { KeeperStart::Past } else { KeeperStart::BySomeoneElse };
        match self.address_of(agent) {
            Ok(address) => self.open_pane(agent, pane, (start, address)),
            // Nothing is known of it then, and that is shown.
            Err(error) => tracing::error!(%agent, %error, "no way leads to its keeper"),
        }
        self.repeat_reports(agent, run);
    }

    fn open_pane(&mut self, agent: &AgentName, pane: Pane, line: (KeeperStart, KeeperAddress)) {
        let reading = self.reading_of(agent);
        self.record.recordings.interrupt(agent);
        self.panes.open(agent, pane, reading, line, (&self.senders, self.clock.now()));
        self.clients.note_replacement(agent);
    }

    /// Opens the socket of an agent that sees no other.
    fn open_socket(&self, agent: &AgentName, run: RunId) -> Option<AgentSocket> {
        let place = self.has_own_socket(agent).then(|| door_place(&self.paths, agent))?;
        AgentSocket::open(BoundSocket::for_agent(place, agent)?, agent, run, self.senders.clone())
    }

    fn has_own_socket(&self, agent: &AgentName) -> bool {
        self.engine.seat(agent).is_some_and(|seat| seat.member.contact.has_door)
    }

    pub(in crate::hub) fn order(&self, agent: &AgentName, order: &ToKeeper) {
        if !self.panes.order(agent, order) {
            tracing::warn!(%agent, "its keeper takes no orders");
        }
    }

    /// Kills what a lost keeper may have left behind; that can take seconds.
    pub(in crate::hub) fn sweep(&self, agent: AgentName, run: RunId) {
        // A place elsewhere has swept before it said that nothing is left.
        let is_elsewhere = self.runner_of(&agent).is_some();
        let marks = self.marks(&agent, run).map(|(name, value)| format!("{name}={value}"));
        let sweep = move || if is_elsewhere { Vec::new() } else { keeper::sweep(&marks) };
        self.in_background(sweep, move |hub, survivors| {
            let survivors = survivors.unwrap_or_default();
            hub.note_run(&agent, run, RunEvent::Swept { survivors });
        });
    }

    /// Keeps a watchdog while an agent lives elsewhere.
    pub(in crate::hub) fn keep_watchdog(&mut self) {
        let is_elsewhere = |seat: &Seat| seat.is_live() && seat.member.runner.is_some();
        let is_needed = self.engine.seats().any(is_elsewhere);
        let (paths, program) = (&self.paths, &self.program);
        self.agents.keep_watchdog(is_needed, || {
            let (revive, lock) = (revival(program, paths), paths.hub_lock());
            let (hub, project) = (std::process::id(), paths.project.clone());
            let order = WatchdogOrder { revive, lock, hub, project };
            Watchdog::start(program, &paths.session.to_string(), &order)
        });
    }

    /// Returns where the keeper of an agent's run is found.
    fn address_of(&self, agent: &AgentName) -> io::Result<KeeperAddress> {
        if let Some(runner) = self.runner_of(agent).cloned() {
            return Ok(KeeperAddress::Remote(Box::new(self.remote_keeper(agent, runner, None)?)));
        }
        let (socket, lock) = (self.paths.agent_socket(agent), self.paths.agent_lock(agent));
        Ok(KeeperAddress::Local(LocalKeeper { session: self.paths.session.clone(), socket, lock }))
    }

    pub(in crate::hub) fn runner_of(&self, agent: &AgentName) -> Option<&Runner> {
        self.engine.seat(agent)?.member.runner.as_deref()
    }

    fn remote_keeper(
        &self,
        agent: &AgentName,
        runner: Runner,
        start: Option<(Launch, Option<WorkspaceAccess>)>,
    ) -> io::Result<RemoteKeeper> {
        let way = way(&self.paths, agent, runner)?;
        let member = self.engine.seat(agent).map(|seat| &seat.member);
        let hash = member.and_then(|member| member.contact.token_hash.clone());
        let make = start.as_ref().and_then(|(launch, access)| {
            let mounts = self.mounts(agent, access.as_ref());
            way.make(&self.program, &mounts, launch.confinement.limits)
        });
        let order = start.map(|(mut launch, _)| {
            if make.is_some() {
                // Its container has them.
                launch.confinement.limits = Limits::default();
            }
            let hooks = member.and_then(|member| self.settings.cli(&member.cli));
            let hooks = hooks.and_then(|cli| cli.hooks.file.clone());
            Box::new(OrderThere { launch, grace_ms: self.grace_ms(), hooks })
        });
        Ok(RemoteKeeper::new(way, hash.unwrap_or_default(), order, make))
    }

    /// Returns what an agent finds of this machine in a container that is made for it: its workspace,
    /// or else the project.
    fn mounts(&self, agent: &AgentName, access: Option<&WorkspaceAccess>) -> Vec<Mount> {
        let member = self.engine.seat(agent).map(|seat| &seat.member);
        let root = member.map_or(self.paths.project.as_path(), Member::root);
        let workspace = self.engine.workspace(agent).filter(|one| one.outpost.is_none());
        let plot = workspace.map(|one| &one.plot).filter(|plot| root.starts_with(&plot.root));
        match plot.zip(access) {
            Some((plot, access)) => {
                let mark = Site::of(&self.paths).setup_mark(agent);
                access.mounts(mark.parent().filter(|_| plot.setup.is_some()))
            }
            None => vec![Mount { path: root.to_owned(), is_readonly: false }],
        }
    }

    /// Removes what only these agents needed, as far as they are off the record. Some may still run
    /// somewhere: nobody listens to them any more.
    pub(in crate::hub) fn tidy_up(&mut self, agents: &[AgentName]) {
        let gone = agents.iter().filter(|agent| self.engine.seat(agent).is_none());
        let gone: Vec<AgentName> = gone.cloned().collect();
        for agent in &gone {
            self.close_pane(agent);
            self.record.recordings.forget(agent);
            // After what may still wait to be written there.
            let reports = self.paths.agent_reports(agent);
            self.record.files().append(0, move || drop(fs::remove_file(reports)));
        }
        if gone.is_empty() {
            return;
        }
        let (paths, kinds) = (self.paths.clone(), self.panes.hook_file_kinds());
        self.in_turn(move || {
            for agent in &gone {
                tidy_kit(&paths.agent_kit(agent));
                // Most agents have none.
                for kind in &kinds {
                    let _ = fs::remove_file(paths.agent_hooks(agent, kind));
                }
            }
        });
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

/// Returns the command that starts this hub again.
fn revival(program: &Path, paths: &Paths) -> Vec<String> {
    let argv = hub_argv(program, &paths.project, &paths.session);
    argv.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
}
