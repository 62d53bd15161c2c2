//! The hub's line to one keeper: connects, reads, writes, and connects again while the keeper lives.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::delays::{Delays, Place};
use super::inbox::{Input, LinkNews, Senders};
use super::socket::is_own;
use crate::keeper::{self, Decoder, FromKeeper, ToKeeper, Welcome};
use crate::model::{AgentName, RunId};

/// Orders that wait to be written; when it is full, the keeper does not read, and input is refused.
const FRAMES_MAX: usize = 1024;

/// How much is read at once. Small, so that each pane's turn is short.
const READ_BYTES: usize = 16 * 1024;

/// A keeper that is starting answers within milliseconds, and is asked that often at first: a person
/// waits for it.
const RETRY_LEAST: Duration = Duration::from_millis(2);
const EAGERNESS: Duration = Duration::from_millis(200);
/// One that holds its lock and does not answer is asked again at this pace, for ever: while the
/// lock is held, its agent is alive.
const RETRY_MOST: Duration = Duration::from_secs(1);

/// A keeper that ends a connection needs a moment to leave.
const LEAVE_PAUSE: Duration = Duration::from_millis(5);

/// A guard that has said nothing by then never will.
const START_PATIENCE: Duration = Duration::from_secs(15);
/// The start of a hub that was killed comes to its lock by then, or never.
const ORPHAN_PATIENCE: Duration = Duration::from_secs(2);

/// Where a keeper is found.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) agent: AgentName,
    pub(super) run: RunId,
    pub(super) socket: PathBuf,
    pub(super) lock: PathBuf,
    /// The first byte of output that is wanted.
    pub(super) from: u64,
    pub(super) start: Start,
}

/// Whether the keeper may still be on its way up.
#[derive(Debug)]
pub(super) enum Start {
    /// This hub has just started it.
    ByUs { guard_ended: Rc<Cell<bool>> },
    /// A hub that was killed may have started it a moment ago: its lock may not be held yet.
    BySomeoneElse,
    /// It was there before.
    Past,
}

/// A line to one keeper.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) run: RunId,
    frames: mpsc::Sender<(Duration, Vec<u8>)>,
    is_urgent: Rc<Cell<bool>>,
    is_retired: Rc<Cell<bool>>,
    unheard: Rc<Unheard>,
    delays: Rc<Delays>,
    task: JoinHandle<()>,
}

/// When each piece of news that is on its way to the hub came.
type Unheard = RefCell<VecDeque<Duration>>;

impl Link {
    pub(super) fn open(route: Route, senders: Senders) -> Self {
        let (frames, queue) = mpsc::channel(FRAMES_MAX);
        let is_urgent = Rc::new(Cell::new(false));
        let run = route.run;
        let is_retired = Rc::new(Cell::new(false));
        let unheard = Rc::new(Unheard::default());
        let delays = Rc::clone(&senders.delays);
        let line = Line {
            route,
            senders,
            is_urgent: Rc::clone(&is_urgent),
            is_retired: Rc::clone(&is_retired),
            unheard: Rc::clone(&unheard),
            is_in_urgent_lane: Cell::new(false),
        };
        let task = tokio::task::spawn_local(line.run(queue));
        Self { run, frames, is_urgent, is_retired, unheard, delays, task }
    }

    /// Sends an order, and says whether there was room for it.
    pub(super) fn send(&self, order: &ToKeeper) -> bool {
        let mut bytes = Vec::new();
        order.encode(&mut bytes);
        self.frames.try_send((self.delays.now(), bytes)).is_ok()
    }

    /// Says whether the keeper keeps up with what is typed.
    pub(super) fn has_room(&self) -> bool {
        self.frames.capacity() > FRAMES_MAX / 2
    }

    /// Ends the line once everything that was ordered is written: a keeper that is not told that it
    /// may go would stay, and no other could take its place.
    pub(super) fn retire(self) {
        self.is_retired.set(true);
    }

    /// Notes that the hub has dealt with a piece of news from this line.
    pub(super) fn note_heard(&self) {
        let came_at = self.unheard.borrow_mut().pop_front();
        if let Some(came_at) = came_at.filter(|_| self.is_urgent.get()) {
            self.delays.note(Place::Output, came_at);
        }
    }

    /// Lets this pane's output overtake the others', or no longer.
    pub(super) fn set_urgent(&self, is_urgent: bool) {
        self.is_urgent.set(is_urgent);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if !self.is_retired.get() {
            self.task.abort();
        }
    }
}

/// Whom a connection led to.
#[derive(PartialEq, Eq)]
enum Heard {
    Keeper,
    /// The keeper of an earlier run, whose agent has ended.
    Leftover,
}

struct Line {
    route: Route,
    senders: Senders,
    is_urgent: Rc<Cell<bool>>,
    is_retired: Rc<Cell<bool>>,
    unheard: Rc<Unheard>,
    is_in_urgent_lane: Cell<bool>,
}

impl Line {
    async fn run(mut self, mut queue: mpsc::Receiver<(Duration, Vec<u8>)>) {
        let delays = Rc::clone(&self.senders.delays);
        while let Some(stream) = self.connect().await {
            if self.is_retired.get() {
                // This may already be the keeper of the next run.
                return;
            }
            let (reader, mut writer) = stream.into_split();
            let mut attach = Vec::new();
            let (version, from) = (keeper::PROTOCOL_VERSION, self.route.from);
            ToKeeper::Attach { version, from }.encode(&mut attach);
            if writer.write_all(&attach).await.is_err() {
                continue;
            }
            let heard = tokio::select! {
                heard = self.listen(reader) => heard,
                () = talk(&mut writer, &mut queue, &delays) => Heard::Keeper,
            };
            if self.is_retired.get() {
                return;
            }
            if heard == Heard::Leftover {
                let mut release = Vec::new();
                ToKeeper::Release.encode(&mut release);
                // If it is gone already, all the better.
                let _ = writer.write_all(&release).await;
            }
            sleep(LEAVE_PAUSE).await;
        }
        if self.is_retired.get() {
            return;
        }
        let news = match self.route.start {
            Start::ByUs { .. } => LinkNews::NeverCame,
            Start::BySomeoneElse | Start::Past => LinkNews::Lost,
        };
        self.tell(news).await;
    }

    /// Connects, or returns nothing once nobody holds the agent's lock.
    async fn connect(&self) -> Option<UnixStream> {
        let mut pause = RETRY_LEAST;
        let mut waited = Duration::ZERO;
        loop {
            if let Ok(stream) = UnixStream::connect(&self.route.socket).await
                && is_own(&stream)
            {
                return Some(stream);
            }
            let may_come = match &self.route.start {
                Start::ByUs { guard_ended } => !guard_ended.get() && waited < START_PATIENCE,
                Start::BySomeoneElse => waited < ORPHAN_PATIENCE,
                Start::Past => false,
            };
            if !may_come && !keeper::is_held(&self.route.lock) {
                return None;
            }
            sleep(pause).await;
            waited += pause;
            if waited >= EAGERNESS {
                pause = (pause * 2).min(RETRY_MOST);
            }
        }
    }

    /// Reads until the connection ends, or turns out to be one to an earlier run.
    async fn listen(&mut self, mut reader: OwnedReadHalf) -> Heard {
        let mut decoder = Decoder::<FromKeeper>::default();
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match reader.read(&mut buffer).await {
                Ok(0) | Err(_) => return Heard::Keeper,
                Ok(count) => decoder.feed(&buffer[..count]),
            }
            loop {
                match decoder.next_frame() {
                    Ok(Some(FromKeeper::Welcome(welcome))) if self.is_leftover(&welcome) => {
                        return Heard::Leftover;
                    }
                    Ok(Some(frame)) => {
                        if let FromKeeper::Welcome(_) = &frame {
                            self.route.start = Start::Past;
                        }
                        let end = match &frame {
                            FromKeeper::Output { offset, bytes } => offset + bytes.len() as u64,
                            FromKeeper::Welcome(_)
                            | FromKeeper::Resized { .. }
                            | FromKeeper::Exited { .. }
                            | FromKeeper::Tree(_)
                            | FromKeeper::Stopped { .. }
                            | FromKeeper::Failed { .. } => self.route.from,
                        };
                        self.tell(LinkNews::Frame(frame)).await;
                        // Not before: what is cut off while it waits for its turn is asked for again.
                        self.route.from = end;
                    }
                    Ok(None) => break,
                    Err(error) => {
                        tracing::error!(agent = %self.route.agent, %error, "broken frame");
                        return Heard::Keeper;
                    }
                }
            }
        }
    }

    /// Says whether this keeper only waits to be let go, and is in the way of the run to come.
    fn is_leftover(&self, welcome: &Welcome) -> bool {
        let is_awaited = matches!(self.route.start, Start::ByUs { .. });
        is_awaited && welcome.run != self.route.run && welcome.exit.is_some()
    }

    async fn tell(&self, news: LinkNews) {
        // A pane's output may overtake that of others, never its own.
        if self.unheard.borrow().is_empty() {
            self.is_in_urgent_lane.set(self.is_urgent.get());
        }
        let is_urgent = self.is_in_urgent_lane.get();
        let lane = if is_urgent { &self.senders.urgent } else { &self.senders.outputs };
        // The hub is gone only when the whole process ends.
        let came_at = self.senders.delays.now();
        let Ok(place) = lane.reserve().await else { return };
        self.unheard.borrow_mut().push_back(came_at);
        place.send(Input::Keeper(self.route.agent.clone(), self.route.run, news));
    }
}

async fn talk(
    writer: &mut OwnedWriteHalf,
    queue: &mut mpsc::Receiver<(Duration, Vec<u8>)>,
    delays: &Delays,
) {
    while let Some((given_at, frame)) = queue.recv().await {
        if writer.write_all(&frame).await.is_err() {
            return;
        }
        delays.note(Place::Order, given_at);
    }
}
