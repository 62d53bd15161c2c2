//! Runs that are begun and taken up in places elsewhere.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::place::LocalKeeper;
use super::place::RemoteKeeper;
use crate::api::Fault;
use crate::engine::{RunEvent, Seat};
use crate::hub::Hub;
use crate::hub::agents::workspace_plan::WorkspaceAccess;
use crate::hub::clients::tokens;
use crate::hub::panes::link::{KeeperAddress, KeeperStart};
use crate::hub::panes::pane::Pane;
use crate::keeper::{Watchdog, WatchdogOrder};
use crate::model::{AgentName, Launch, Member, RunId, Runner};
use crate::runner::{Address, Mount, OrderThere, Way};

/// Enough to tell apart the hubs of one person's machines.
const HOME_CHARS: usize = 12;

impl Hub {
    /// Begins a run in a place elsewhere.
    pub(in crate::hub) fn start_there(
        &mut self,
        agent: &AgentName,
        run: RunId,
        runner: Runner,
        (launch, ground): (Launch, Option<WorkspaceAccess>),
    ) {
        let size = launch.size;
        match self.there(agent, runner, Some((launch, ground))) {
            Ok(there) => {
                let pane = Pane::new(run, size, self.history_limit);
                let guard_ended = Rc::new(Cell::new(false));
                let road = KeeperAddress::Remote(Box::new(there));
                self.open_link(agent, pane, KeeperStart::ByUs { guard_ended }, road);
            }
            Err(error) => {
                let reason = format!("its start could not be sent: {error}");
                self.note_run(agent, run, RunEvent::NeverCame { reason });
            }
        }
    }

    /// Keeps a watchdog while an agent lives elsewhere: nobody else here might start a hub again that dies.
    pub(in crate::hub) fn keep_watchdog(&mut self) {
        let is_elsewhere = |seat: &Seat| seat.is_live() && seat.member.runner.is_some();
        let is_needed = self.engine.seats().any(is_elsewhere);
        if is_needed == self.watchdog.is_some() {
            return;
        }
        let done = match self.watchdog.take() {
            Some(watchdog) => watchdog.end(),
            None => self.start_watchdog(),
        };
        if let Err(error) = done {
            tracing::warn!(%error, "the watchdog could not be started or ended");
        }
    }

    fn start_watchdog(&mut self) -> io::Result<()> {
        let (revive, lock) = (self.revival(), self.paths.hub_lock());
        let (hub, project) = (std::process::id(), self.paths.project.clone());
        let order = WatchdogOrder { revive, lock, hub, project };
        let session = self.paths.session.to_string();
        self.watchdog = Some(Watchdog::start(&self.program, &session, &order)?);
        Ok(())
    }

    /// Returns the road to the keeper of an agent's run.
    pub(in crate::hub) fn road(&self, agent: &AgentName) -> io::Result<KeeperAddress> {
        if let Some(runner) = self.runner_of(agent).cloned() {
            return Ok(KeeperAddress::Remote(Box::new(self.there(agent, runner, None)?)));
        }
        let (socket, lock) = (self.paths.agent_socket(agent), self.paths.agent_lock(agent));
        Ok(KeeperAddress::Local(LocalKeeper { session: self.paths.session.clone(), socket, lock }))
    }

    pub(in crate::hub) fn runner_of(&self, agent: &AgentName) -> Option<&Runner> {
        self.engine.seat(agent)?.member.runner.as_deref()
    }

    /// Returns the way to what belongs to an agent in a place elsewhere.
    pub(in crate::hub) fn way(&self, agent: &AgentName, runner: Runner) -> io::Result<Way> {
        let session = self.paths.session.clone();
        let home = home(&self.paths.home_id())?;
        Ok(Way { runner, address: Address { session, home, agent: agent.clone() } })
    }

    fn there(
        &self,
        agent: &AgentName,
        runner: Runner,
        start: Option<(Launch, Option<WorkspaceAccess>)>,
    ) -> io::Result<RemoteKeeper> {
        let way = self.way(agent, runner)?;
        let member = self.engine.seat(agent).map(|seat| &seat.member);
        let hash = member.and_then(|member| member.contact.token_hash.clone());
        let make = start.as_ref().and_then(|(launch, ground)| {
            let mounts = self.mounts(agent, ground.as_ref());
            way.make(&self.program, &mounts, launch.confinement.limits)
        });
        let order = start.map(|(mut launch, _)| {
            if make.is_some() {
                // Its container has them.
                launch.confinement.limits = crate::model::Limits::default();
            }
            let hooks = member.and_then(|member| self.settings.cli(&member.cli));
            let hooks = hooks.and_then(|cli| cli.hooks.file.clone());
            Box::new(OrderThere { launch, grace_ms: self.grace_ms, hooks })
        });
        Ok(RemoteKeeper {
            way,
            ticket: hash.unwrap_or_default(),
            order,
            make,
            is_away: false,
            stop: Rc::default(),
        })
    }

    /// Returns what an agent finds of this machine in a container that is made for it: its workspace,
    /// or else the project.
    fn mounts(&self, agent: &AgentName, ground: Option<&WorkspaceAccess>) -> Vec<Mount> {
        let member = self.engine.seat(agent).map(|seat| &seat.member);
        let root = member.map_or(self.paths.project.as_path(), Member::root);
        let mount = |path: PathBuf, is_readonly| Mount { path, is_readonly };
        let workspace = self.engine.workspace(agent).filter(|one| one.outpost.is_none());
        let plot = workspace.map(|one| &one.plot).filter(|plot| root.starts_with(&plot.root));
        let Some((plot, WorkspaceAccess { shared, writable })) = plot.zip(ground) else {
            return vec![mount(root.to_owned(), false)];
        };
        let mark = self.site().setup_mark(agent);
        let mark = mark.parent().filter(|_| plot.setup.is_some()).map(Path::to_owned);
        let shared = shared.iter().cloned().map(|path| mount(path, true));
        let writable = writable.iter().cloned().chain(mark);
        shared.chain(writable.map(|path| mount(path, false))).collect()
    }

    /// Refuses what would reach an agent too late to mean what it means now.
    pub(in crate::hub) fn refuse_unreachable(&self, agent: &AgentName) -> Result<(), Fault> {
        let seat = self.engine.seat(agent);
        let Some(unreachable) = seat.and_then(|seat| seat.unreachable.as_ref()) else {
            return Ok(());
        };
        let since = unreachable.since.to_rfc3339();
        let fault = Fault::new(format!("Agent `{agent}` has been unreachable since {since}"));
        Err(fault.with_hint("`wheelhouse attention` says why; it keeps running there"))
    }

    /// Lets go of agents that are off the record though they may still run somewhere.
    pub(in crate::hub) fn let_go(&mut self, agents: &[AgentName]) {
        for agent in agents {
            if self.engine.seat(agent).is_none() {
                self.close_link(agent);
            }
        }
    }
}

/// Returns what tells this hub from others of the same name, and makes it if there is none.
fn home(path: &Path) -> io::Result<String> {
    let known = fs::read_to_string(path).unwrap_or_default();
    let is_good =
        |id: &&str| id.len() == HOME_CHARS && id.bytes().all(|b| b.is_ascii_alphanumeric());
    if let Some(id) = Some(known.trim()).filter(is_good) {
        return Ok(id.to_owned());
    }
    let id: String = tokens::new_token()?.0.chars().take(HOME_CHARS).collect();
    let draft = path.with_extension("new");
    let mut file =
        File::options().create(true).truncate(true).write(true).mode(0o600).open(&draft)?;
    file.write_all(id.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    Ok(id)
}
