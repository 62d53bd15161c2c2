//! Starts runs: what they find on the disk is looked up, and their keepers are started, beside the hub.

use std::cell::Cell;
use std::process::{Child, Stdio};
use std::rc::Rc;

use super::workspace_plan::{WorkspaceAccess, ground};
use crate::api::Fault;
use crate::engine::RunEvent;
use crate::hub::clients::socket::BoundSocket;
use crate::hub::clients::socket::{AgentSocket, door_place};
use crate::hub::panes::link::{KeeperAddress, KeeperStart};
use crate::hub::panes::pane::Pane;
use crate::hub::remote::place::LocalKeeper;
use crate::hub::state::{Guard, Hub};
use crate::keeper::{self, KeeperArgs, Order, ToKeeper};
use crate::model::{AgentName, Launch, RunId, Runner};

/// Keepers that lost their hub start it again one after the other, this far apart.
const REVIVAL_SPREAD_MS: u64 = 40;

/// Keepers beyond this many share their turns.
const REVIVAL_TURNS: u64 = 16;

/// A run whose keeper is about to be started.
#[derive(Debug)]
pub(in crate::hub) struct PendingStart {
    run: RunId,
    /// The grace of a stop that was ordered meanwhile.
    stop: Option<u64>,
}

/// What came of the start of a keeper here.
struct Started {
    order: Order,
    child: std::io::Result<Child>,
    door: Option<BoundSocket>,
}

impl Hub {
    pub(in crate::hub) fn start(&mut self, agent: &AgentName, run: RunId, launch: Launch) {
        self.starting.insert(agent.clone(), PendingStart { run, stop: None });
        let is_held = launch.confinement.sandbox.is_some();
        let is_mounted = self.runner_of(agent).is_some_and(Runner::mounts_files);
        let workspace = self.engine.workspace(agent).filter(|one| one.outpost.is_none());
        let Some(workspace) = workspace.filter(|_| is_held || is_mounted) else {
            return self.start_on(agent, run, launch, None);
        };
        let (agent, plot) = (agent.clone(), workspace.plot.clone());
        self.in_background(
            move || ground(&plot),
            move |hub, ground| match ground {
                Ok(ground) => hub.start_on(&agent, run, launch, Some(ground)),
                Err(fault) => {
                    hub.starting.remove(&agent);
                    let reason = fault.message;
                    hub.note_run(&agent, run, RunEvent::NeverCame { reason });
                }
            },
        );
    }

    /// Orders a run to stop; one that has not been started yet never is.
    pub(in crate::hub) fn order_stop(&mut self, agent: &AgentName, run: RunId, grace_ms: u64) {
        match self.starting.get_mut(agent).filter(|starting| starting.run == run) {
            Some(starting) => starting.stop = Some(grace_ms),
            None => self.order(agent, &ToKeeper::Stop { grace_ms: Some(grace_ms) }),
        }
    }

    /// Starts a run on what was found of its workspace.
    fn start_on(
        &mut self,
        agent: &AgentName,
        run: RunId,
        mut launch: Launch,
        ground: Option<WorkspaceAccess>,
    ) {
        let is_stopped = self.starting.get(agent).is_none_or(|starting| starting.stop.is_some());
        if is_stopped || self.engine.seat(agent).is_none_or(|seat| seat.run != run) {
            self.starting.remove(agent);
            let reason = "it was stopped before it was started".to_owned();
            return self.note_run(agent, run, RunEvent::NeverCame { reason });
        }
        let before = self.panes.get(agent).map(|pane| pane.screen.size());
        launch.size = self.views.size_of(agent).or(before).unwrap_or(launch.size);
        self.furnish(agent, &mut launch, ground.as_ref());
        if let Some(runner) = self.runner_of(agent).cloned() {
            self.starting.remove(agent);
            return self.start_there(agent, run, runner, (launch, ground));
        }
        for (name, value) in self.marks(agent, run) {
            launch.environment.0.insert(name, value);
        }
        let before = (self.guards.len() + self.starting.len()) as u64;
        let order = Order {
            launch,
            socket: self.paths.agent_socket(agent),
            lock: self.paths.agent_lock(agent),
            revive: self.revival(),
            revive_delay_ms: before % REVIVAL_TURNS * REVIVAL_SPREAD_MS,
            grace_ms: self.grace_ms,
            fence: None,
        };
        let session = self.paths.session.clone();
        let (agent, program) = (agent.clone(), self.program.clone());
        let arguments = KeeperArgs { session, agent: agent.clone(), run };
        let place = self.has_door(&agent).then(|| door_place(&self.paths, &agent));
        let start = move || {
            // A sandbox is made around what is there when it is made.
            let door = place.and_then(|place| BoundSocket::for_agent(place, &arguments.agent));
            let child = keeper::start(&program, &arguments, &order, Stdio::null());
            Started { order, child, door }
        };
        self.in_background(start, move |hub, started| hub.note_start(&agent, run, started));
    }

    fn note_start(&mut self, agent: &AgentName, run: RunId, started: Result<Started, Fault>) {
        let stop = self.starting.remove(agent).and_then(|starting| starting.stop);
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
        let has_ended = Rc::new(Cell::new(false));
        self.guards.push(Guard { child, has_ended: Rc::clone(&has_ended) });
        // It may have ended before anyone knew of it.
        self.reap_guards();
        let size = order.launch.size;
        let door =
            door.and_then(|bound| AgentSocket::open(bound, agent, run, self.senders.clone()));
        let pane = Pane { door, ..Pane::new(run, size, self.history_limit) };
        let session = self.paths.session.clone();
        let road =
            KeeperAddress::Local(LocalKeeper { session, socket: order.socket, lock: order.lock });
        self.open_link(agent, pane, KeeperStart::ByUs { guard_ended: has_ended }, road);
        if let Some(grace_ms) = stop {
            self.order(agent, &ToKeeper::Stop { grace_ms: Some(grace_ms) });
        }
    }
}
