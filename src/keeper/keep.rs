//! Sets the keeper up, then runs its event loop until the agent's tree is gone.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::net::{SendFlags, send};
use rustix::process::getppid;

use super::bounds::{Bounds, bounded};
use super::connection::Connection;
use super::ending::{EXIT_GRACE, Ending};
use super::revive_schedule::ReviveSchedule;
use super::ring::Ring;
use super::signals::Signals;
use super::sizes::Sizes;
use super::socket::Socket;
use super::stream::{Record, Stream};
use super::terminal::Terminal;
use super::{EXIT_OK, KeeperArgs, KeeperError, Order, PROTOCOL_VERSION, Tracer, Welcome};
use super::{clock, launch, lock, process};
use crate::model::{Environment, ProcessId};

/// A hub that was lost is expected back within this time. Until then nothing that it may not have
/// read is overwritten, at the price of an agent that has to wait if it prints without end.
const REUNION_MAX: Duration = Duration::from_secs(5);

/// A keeper and all that it holds.
pub(super) struct Keeper {
    pub(super) order: Order,
    who: Welcome,
    lock: File,
    /// Gone once the keeper is leaving.
    pub(super) socket: Option<Socket>,
    pub(super) signals: Signals,
    pub(super) terminal: Option<Terminal>,
    /// Nothing more can be read from the terminal.
    pub(super) is_terminal_over: bool,
    pub(super) record: Record,
    pub(super) input: VecDeque<u8>,
    pub(super) hub: Option<(Connection, Stream)>,
    /// Has connected, but not said yet that it is a hub.
    pub(super) candidate: Option<Connection>,
    /// What a lost hub may have read, and until when that is kept for it.
    pub(super) reunion: Option<(u64, Instant)>,
    pub(super) revival: ReviveSchedule,
    pub(super) ending: Option<Ending>,
    pub(super) is_childless: bool,
    pub(super) is_leaving: bool,
    bounds: Bounds,
}

/// Runs a keeper: the order comes on its standard input, and its standard output is the lock.
pub fn keep(args: &KeeperArgs) -> ExitCode {
    match Keeper::new(args).and_then(Keeper::run) {
        Ok(()) => ExitCode::from(EXIT_OK),
        Err(error) => error.report(),
    }
}

impl Keeper {
    fn new(args: &KeeperArgs) -> Result<Self, KeeperError> {
        let (order, _) = Order::read(io::stdin().lock())?;
        let lock = inherited_lock(&order)?;
        process::adopt_orphans().map_err(KeeperError::Watch)?;
        let signals = Signals::new().map_err(KeeperError::Watch)?;
        let socket = Socket::bind(&order.socket, Tracer::new())
            .map_err(|source| KeeperError::Listen { path: order.socket.clone(), source })?;
        let now = clock::now();
        let mut keeper = Self {
            who: who(args, &order),
            lock,
            socket: Some(socket),
            signals,
            terminal: None,
            is_terminal_over: false,
            record: Record {
                ring: Ring::new(),
                sizes: Sizes::new(order.launch.size.clamped()),
                answered: 0,
                told: 0,
                process: None,
                exit: None,
                failed: None,
                is_over: false,
                stopped: None,
            },
            input: VecDeque::new(),
            hub: None,
            candidate: None,
            reunion: None,
            revival: ReviveSchedule::new(Duration::from_millis(order.revive_delay_ms), now),
            ending: None,
            is_childless: true,
            is_leaving: false,
            bounds: Bounds::default(),
            order,
        };
        keeper.launch();
        // Secrets are of no more use here than they are safe.
        keeper.order.launch.environment = Environment::default();
        Ok(keeper)
    }

    fn launch(&mut self) {
        let launch = &self.order.launch;
        let name = format!("wheelhouse-{}-{}", self.who.session, self.who.agent);
        let bounds = launch::obstacle(launch).map_or_else(|| bounded(launch, &name), Err);
        let started = bounds.and_then(|(argv, bounds)| {
            self.bounds = bounds;
            Terminal::spawn(launch, &argv)
        });
        match started {
            Ok(terminal) => {
                self.record.process = Some(terminal.process());
                self.terminal = Some(terminal);
                self.is_childless = false;
            }
            Err(reason) => self.record.fail(&reason),
        }
    }

    /// Takes a connection as the hub, in place of any former one.
    pub(super) fn attach(&mut self, connection: Connection, from: u64) {
        self.note_told();
        let stream = Stream::new(from, &self.record, &self.who);
        self.hub = Some((connection, stream));
        self.reunion = None;
        self.revival.hub_came();
    }

    pub(super) fn lose_hub(&mut self, now: Instant) {
        self.note_told();
        let Some((_, stream)) = self.hub.take() else { return };
        let is_stopping = self.ending.as_ref().is_some_and(|ending| ending.is_stop);
        self.reunion = (!is_stopping).then(|| (stream.cursor, now + REUNION_MAX));
        self.revival.hub_left(now);
        if let Some(socket) = &mut self.socket {
            socket.ensure();
        }
    }

    /// Notes how far the hub was told that is about to be no longer ours.
    fn note_told(&mut self) {
        if let Some((_, stream)) = &self.hub {
            self.record.told = self.record.told.max(stream.cursor);
        }
    }

    /// Asks the reviver for a hub, and makes sure that the hub will find us.
    pub(super) fn call_hub(&mut self) {
        if let Some(socket) = &mut self.socket {
            socket.ensure();
        }
        let line = io::stdin();
        let is_called = || send(line.as_fd(), b"!", SendFlags::DONTWAIT).is_ok();
        if self.order.revive.is_empty() || !is_called() {
            self.revival.give_up();
        }
    }

    /// Ends the tree on request.
    pub(super) fn stop(&mut self, grace: Duration, now: Instant) {
        self.revival.give_up();
        self.reunion = None;
        self.input.clear();
        match &mut self.ending {
            Some(ending) => ending.hasten(grace, now),
            None => self.ending = Some(Ending::begin(true, grace, now)),
        }
    }

    /// Looks at what became of the children.
    pub(super) fn look_after_children(&mut self, now: Instant) {
        if self.terminal.is_none() || self.is_childless {
            return;
        }
        let reaped = super::reap::reap(self.record.process.map(|process| process.pid));
        self.is_childless = reaped.is_childless;
        if reaped.exit.is_some() {
            self.record.exit = reaped.exit;
            if self.ending.is_none() && !self.is_childless {
                self.ending = Some(Ending::begin(false, EXIT_GRACE, now));
            }
        }
    }

    /// Moves the end of the tree on, and notes what it has come to.
    pub(super) fn look_after_ending(&mut self, now: Instant) {
        let is_stop = self.ending.as_ref().is_some_and(|ending| ending.is_stop);
        if !self.is_childless {
            let Some(ending) = &mut self.ending else { return };
            ending.step(now);
            if ending.has_survivors(now) && is_stop && self.record.stopped.is_none() {
                self.record.stopped = Some(process::descendants());
            }
            return;
        }
        if self.terminal.is_some() && self.is_terminal_over {
            self.finish();
        }
        if is_stop && self.record.is_over && !self.is_leaving {
            self.record.stopped = Some(Vec::new());
            self.leave();
        }
    }

    /// The tree is gone and all of its output is here.
    fn finish(&mut self) {
        self.terminal = None;
        self.bounds.remove();
        self.input = VecDeque::new();
        self.record.is_over = true;
        let kept = self.record.ring.kept();
        let output = self.record.ring.piece(kept.start, kept.end);
        if let Some(exit) = self.record.exit
            && kept.start == 0
            && let Some(reason) = launch::post_mortem(&self.order.launch, exit, output)
        {
            self.record.fail(&reason);
        }
    }

    /// Makes room for the next keeper of this name. Whoever sees this process go, or hears of the
    /// stop, may start one at once.
    pub(super) fn leave(&mut self) {
        self.is_leaving = true;
        self.revival.give_up();
        if let Some(socket) = self.socket.take() {
            socket.remove();
        }
        self.candidate = None;
        lock::release(&self.lock);
    }
}

/// Takes over the lock that the reviver holds, which came as the standard output.
fn inherited_lock(order: &Order) -> Result<File, KeeperError> {
    let failed = |source| KeeperError::Lock { path: order.lock.clone(), source };
    io::stdout().as_fd().try_clone_to_owned().map(File::from).map_err(failed)
}

fn who(args: &KeeperArgs, order: &Order) -> Welcome {
    let unknown = ProcessId { pid: 0, started: 0 };
    let parent = getppid().and_then(|pid| u32::try_from(pid.as_raw_pid()).ok());
    Welcome {
        version: PROTOCOL_VERSION,
        session: args.session.clone(),
        agent: args.agent.clone(),
        run: args.run,
        keeper: process::process_id(std::process::id()).unwrap_or(unknown),
        guard: parent.and_then(process::process_id).unwrap_or(unknown),
        process: None,
        size: order.launch.size,
        kept: 0..0,
        answered: 0,
        told: None,
        exit: None,
        failed: None,
    }
}
