//! Runs a hub, from the lock to the last farewell.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::LocalSet;

use super::Hub;
use super::background::PlanQueue;
use super::clock::Clock;
use super::inbox::{HubInput, Inbox, Senders};
use super::settings_watch::watch_settings;
use super::{HubError, log};
use crate::api::READY;
use crate::config::{Paths, Settings};
use crate::engine::{Effect, Engine, Event, Seat};
use crate::hub::agents::state::Agents;
use crate::hub::clients::alerts::Alerts;
use crate::hub::clients::connection;
use crate::hub::clients::socket::{BoundSocket, ClientSocket, SocketPlace};
use crate::hub::clients::state::Clients;
use crate::hub::panes::pane::Pane;
use crate::hub::panes::state::Panes;
use crate::hub::record::file_writer::FileWriter;
use crate::hub::record::opening;
use crate::hub::record::state::HubRecord;
use crate::hub::tasks::board::Board;
use crate::hub::tasks::scan::Snapshots;
use crate::keeper::{self, Tracer};
use crate::model::{AgentName, RunId};

/// The kernel is asked for news after this many steps, so that a flood does not delay a key.
const STEPS_BETWEEN_NEWS: u32 = 1;

/// Nobody is served before it is known who lives: keepers answer within milliseconds.
const RECOVERY_MAX: Duration = Duration::from_secs(1);

/// How often the hub looks for its project's directory, and after how many looks in a row it believes that
/// the directory is gone: it may have been put in the place of another.
const PROJECT_PAUSE: Duration = Duration::from_secs(1);
const GONE_LOOKS: u32 = 2;

/// Becomes the project's hub and serves until it is told to end or nobody needs it.
///
/// Once it listens it says so on standard output, and lets go of that.
pub fn run(paths: Paths) -> Result<(), HubError> {
    // Fails only for a process that leads its group already; it then has no terminal to leave.
    let _ = rustix::process::setsid();
    let tracer = Tracer::new();
    if tracer.above().any(|keeps| keeps.session == paths.session) {
        return Err(HubError::InsideAgent);
    }
    paths.make_directories()?;
    let _lock = HubLock::take(&paths.hub_lock())?;
    let loaded = Settings::load(&paths).map(|loaded| loaded.settings);
    let fault = loaded.as_ref().err().map(ToString::to_string);
    let settings = loaded.unwrap_or_else(|_| Settings::built_in());
    let _log = log::start(&paths.hub_log(), settings.log.level)?;
    std::env::set_current_dir("/").map_err(HubError::Detach)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .event_interval(STEPS_BETWEEN_NEWS)
        .build()
        .map_err(HubError::Runtime)?;
    let served = LocalSet::new().block_on(&runtime, serve(paths, settings, fault, tracer));
    // What waits for a disk or for a process elsewhere does not keep the hub.
    runtime.shutdown_background();
    served
}

async fn serve(
    paths: Paths,
    settings: Settings,
    settings_fault: Option<String>,
    tracer: Tracer,
) -> Result<(), HubError> {
    let (mut inbox, senders) = Inbox::open(tracer);
    let (clock, writer) = (Clock::start(), FileWriter::start().map_err(HubError::Runtime)?);
    let opened = opening::open(&paths, writer.files(), &mut inbox, clock.now()).await;
    let (store, record) =
        opened.inspect_err(|error| tracing::error!(%error, "the record cannot be used"))?;
    let (engine, effects) = Engine::recover(record, clock.now());
    let directories = paths.runtime_directories();
    let place = SocketPlace { path: paths.hub_socket(), directories };
    let socket = ClientSocket::listen(BoundSocket::bind(place)?)?;
    let program = own_program().map_err(HubError::Detach)?;
    let files = writer.files().clone();
    let mut hub = Hub {
        clock,
        program,
        senders: senders.clone(),
        engine,
        settings: Settings::default(),
        settings_fault,
        clients: Clients::default(),
        alerts: Alerts::default(),
        panes: Panes::new(paths.clone(), files),
        agents: Agents::default(),
        record: HubRecord::new(store, writer, paths.clone()),
        snapshots: Snapshots::default(),
        board: Board::default(),
        plans: PlanQueue::default(),
        is_ending: false,
        paths,
    };
    hub.change_settings(settings);
    let seed = RandomState::new().build_hasher().finish();
    hub.decide(Event::Began { seed });
    hub.take_in_workspaces().await;
    hub.recover(effects);
    // If it takes longer, the answer is that it is not known yet.
    let _ = tokio::time::timeout(RECOVERY_MAX, hub.settle(&mut inbox)).await;
    tokio::task::spawn_local(connection::accept(socket, None, senders.clone()));
    watch(&hub.paths, &senders);
    tracing::info!(session = %hub.paths.session, pid = std::process::id(), "the hub is up");
    detach().map_err(HubError::Detach)?;
    live(&mut hub, &mut inbox).await;
    hub.farewell();
    // The clients' writers get the time to say goodbye.
    tokio::task::yield_now().await;
    if let Err(error) = fs::remove_file(hub.paths.hub_socket()) {
        tracing::warn!(%error, "the socket could not be removed");
    }
    tracing::debug!(waits = %hub.senders.delays, "waits: half, 95 of 100, the longest");
    tracing::info!("the hub ends");
    Ok(())
}

/// Watches what the hub goes by: its settings, signals to its process, and its project.
fn watch(paths: &Paths, senders: &Senders) {
    let files = [&paths.user_config, &paths.project_config(), &paths.trust_file];
    let files = files.map(Clone::clone).to_vec();
    tokio::task::spawn_local(watch_settings(files, senders.clone()));
    tokio::task::spawn_local(watch_signals(senders.clone()));
    tokio::task::spawn_local(watch_project(paths.project.clone(), senders.clone()));
}

/// Takes one thing after the other, until the hub is to end.
async fn live(hub: &mut Hub, inbox: &mut Inbox) {
    while !hub.is_ending {
        let deadline = hub.next_deadline();
        let pause = deadline.map(|deadline| hub.clock.pause_until(deadline)).unwrap_or_default();
        tokio::select! {
            biased;
            Some(input) = inbox.next() => hub.handle(input),
            () = tokio::time::sleep(pause), if deadline.is_some() => {}
        }
        // In a flood there is always another input, and what is due must not wait for its end.
        if deadline.is_some_and(|deadline| deadline <= hub.clock.now()) {
            hub.on_deadline();
        }
        hub.flush();
        // After each piece of output others get their turn: what was typed must not wait for a flood.
        tokio::task::yield_now().await;
    }
}

impl Hub {
    /// Takes up every run that may still be alive, and shows the last words of the others.
    fn recover(&mut self, effects: Vec<Effect>) {
        let ended: Vec<_> = self
            .engine
            .seats()
            .filter(|seat| !seat.is_live())
            .map(|seat| (seat.member.name.clone(), seat.run))
            .collect();
        let now = self.clock.now();
        for (agent, run) in ended {
            self.panes.show_ended(agent, run, now);
        }
        self.carry_out(effects);
        for agent in self.strays() {
            tracing::warn!(%agent, "a keeper lives that is not on record");
            self.adopt(&agent, RunId::default(), true);
        }
    }

    /// Waits until it is known what became of every run that may be alive.
    async fn settle(&mut self, inbox: &mut Inbox) {
        while self.engine.is_recovering() || self.panes.awaits_stray() {
            let Some(input) = inbox.next().await else { return };
            self.handle(input);
        }
    }

    /// Returns agents whose keepers live although the record does not say so.
    fn strays(&self) -> Vec<AgentName> {
        // Whoever is on record as alive is taken up from there, once what came before is on the disk.
        let known = |agent: &AgentName| {
            let has_link = self.panes.get(agent).is_some_and(Pane::is_live);
            has_link || self.engine.seat(agent).is_some_and(Seat::is_live)
        };
        let mut agents = self.paths.agents_ever();
        agents.retain(|agent| !known(agent) && keeper::is_held(&self.paths.agent_lock(agent)));
        agents
    }

    fn flush(&mut self) {
        let now = self.clock.now();
        self.clients.flush(|agent| self.panes.get(agent).map(Pane::content), now);
        if self.clients.is_status_due(now) {
            let status = self.status();
            self.clients.send_status(status, now);
        }
    }
}

/// Returns the path of our binary, also after it was replaced by a newer one.
fn own_program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let replaced = program.to_str().and_then(|path| path.strip_suffix(" (deleted)"));
    Ok(replaced.map(PathBuf::from).filter(|path| path.exists()).unwrap_or(program))
}

async fn watch_signals(senders: Senders) {
    let watched = (
        signal(SignalKind::child()),
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
        signal(SignalKind::hangup()),
        signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())),
    );
    let (Ok(mut child), Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup), Ok(mut limit)) =
        watched
    else {
        tracing::error!("signals cannot be watched");
        return;
    };
    loop {
        let input = tokio::select! {
            _ = child.recv() => HubInput::ChildEnded,
            _ = terminate.recv() => HubInput::Terminate,
            _ = interrupt.recv() => HubInput::Terminate,
            // The terminal that started us may close; that is no reason to end.
            _ = hangup.recv() => continue,
            // A file may not grow any more: whoever writes to it is told so.
            _ = limit.recv() => continue,
        };
        if senders.requests.send(input).await.is_err() {
            return;
        }
    }
}

/// Ends the hub once its project is gone: no command finds it any more. Agents that live go on, and where the
/// directory comes back, as after a mount that was lost, their keepers start the next hub.
async fn watch_project(project: PathBuf, senders: Senders) {
    let mut looks = 0;
    while looks < GONE_LOOKS {
        tokio::time::sleep(PROJECT_PAUSE).await;
        let place = project.clone();
        let look = tokio::task::spawn_blocking(move || keeper::is_gone(&place));
        looks = if look.await.unwrap_or_default() { looks + 1 } else { 0 };
    }
    tracing::warn!("the project's directory is gone, so the hub ends");
    let _ = senders.requests.send(HubInput::Terminate).await;
}

/// Tells whoever started us that we are up, and lets go of the last tie.
fn detach() -> io::Result<()> {
    io::stdout().write_all(READY.as_bytes())?;
    io::stdout().flush()?;
    rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    Ok(())
}

/// Someone who only looks whether the lock is held has it for an instant.
const TRIES_MAX: u32 = 4;
const TRY_PAUSE: Duration = Duration::from_millis(5);

/// Holds the lock for as long as it lives.
///
/// The file is never removed: a lock on a removed file excludes nobody.
#[derive(Debug)]
pub(super) struct HubLock {
    _file: File,
}

impl HubLock {
    pub(super) fn take(path: &Path) -> Result<Self, HubError> {
        let fail = |source| HubError::Lock { path: path.to_owned(), source };
        let open = File::options().create(true).truncate(false).write(true).open(path);
        let mut file = open.map_err(fail)?;
        let mut tries = TRIES_MAX;
        while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            tries -= 1;
            match error {
                Errno::WOULDBLOCK if tries > 0 => thread::sleep(TRY_PAUSE),
                Errno::WOULDBLOCK => return Err(HubError::Busy),
                error => return Err(fail(error.into())),
            }
        }
        // For people who look, and for whoever waits for the next hub.
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(fail)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hub.lock");
        let first = HubLock::take(&path).unwrap();
        assert!(matches!(HubLock::take(&path), Err(HubError::Busy)));
        drop(first);
        // A child that another test forks holds our files for a moment, until it is another program.
        assert!((0..200).any(|_| HubLock::take(&path).is_ok()), "nobody holds it any more");
    }
}
