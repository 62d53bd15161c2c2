//! The hub's line to one keeper: connects, reads, writes, and connects again while the keeper lives.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::hub::delays::{Delays, WaitPlace};
use crate::hub::inbox::{HubInput, LinkNews, Senders};
use crate::hub::remote::carrier::KeeperStream;
use crate::hub::remote::place::{CallOutcome, KeeperAddress};
use crate::hub::remote::side_channel::SideChannel;
use crate::keeper::{self, Decoder, FromKeeper, ToKeeper, Welcome};
use crate::model::{AgentName, RunId};
use crate::runner::FromFar;

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
/// A place elsewhere is asked again at a growing pace, for ever.
const REACH_LEAST: Duration = Duration::from_secs(1);
const REACH_MOST: Duration = Duration::from_secs(30);
/// A line to a place elsewhere that brings nothing for so long is dead: it is asked for a sign of life
/// every ten seconds.
const SILENCE_MAX: Duration = Duration::from_secs(45);
/// The start of a hub that was killed comes to its lock by then, or never.
const ORPHAN_PATIENCE: Duration = Duration::from_secs(2);

/// Where a keeper is found.
#[derive(Debug)]
pub(in crate::hub) struct Route {
    pub(in crate::hub) agent: AgentName,
    pub(in crate::hub) run: RunId,
    pub(in crate::hub) address: KeeperAddress,
    /// The first byte of output that is wanted.
    pub(in crate::hub) from: u64,
    pub(in crate::hub) start: KeeperStart,
}

/// Whether the keeper may still be on its way up.
#[derive(Debug)]
pub(in crate::hub) enum KeeperStart {
    /// This hub has just started it.
    ByUs { has_ended: Rc<Cell<bool>> },
    /// A hub that was killed may have started it a moment ago: its lock may not be held yet.
    BySomeoneElse,
    /// It was there before.
    Past,
}

/// A line to one keeper.
#[derive(Debug)]
pub(in crate::hub) struct Link {
    pub(in crate::hub) run: RunId,
    frames: mpsc::Sender<(Duration, Vec<u8>)>,
    is_urgent: Rc<Cell<bool>>,
    is_retired: Rc<Cell<bool>>,
    is_cut: Rc<Cell<bool>>,
    /// Rings when the run is to end, for whoever is still on the way there.
    stop: Rc<Notify>,
    unheard: Rc<Unheard>,
    delays: Rc<Delays>,
    task: JoinHandle<()>,
}

/// When each piece of news that is on its way to the hub came.
type Unheard = RefCell<VecDeque<Duration>>;

impl Link {
    pub(in crate::hub) fn open(route: Route, senders: Senders) -> Self {
        let (frames, queue) = mpsc::channel(FRAMES_MAX);
        let is_urgent = Rc::new(Cell::new(false));
        let run = route.run;
        let is_retired = Rc::new(Cell::new(false));
        let is_cut = Rc::new(Cell::new(false));
        let unheard = Rc::new(Unheard::default());
        let delays = Rc::clone(&senders.delays);
        let stop = route.address.stop();
        let line = Line {
            route,
            senders,
            is_urgent: Rc::clone(&is_urgent),
            is_retired: Rc::clone(&is_retired),
            is_cut: Rc::clone(&is_cut),
            unheard: Rc::clone(&unheard),
            is_in_urgent_lane: Cell::new(false),
        };
        let task = tokio::task::spawn_local(line.run(queue));
        Self { run, frames, is_urgent, is_retired, is_cut, stop, unheard, delays, task }
    }

    /// Sends an order, and says whether there was room for it. What is typed at a place that is out of
    /// reach is refused: by the time it arrived it would mean something else.
    pub(in crate::hub) fn send(&self, order: &ToKeeper) -> bool {
        if self.is_cut.get() {
            return false;
        }
        if matches!(order, ToKeeper::Stop { .. }) {
            self.stop.notify_one();
        }
        let mut bytes = Vec::new();
        order.encode(&mut bytes);
        self.frames.try_send((self.delays.now(), bytes)).is_ok()
    }

    /// Says whether the keeper keeps up with what is typed.
    pub(in crate::hub) fn has_room(&self) -> bool {
        self.frames.capacity() > FRAMES_MAX / 2
    }

    /// Ends the line once everything that was ordered is written: a keeper that is not told that it
    /// may go would stay, and no other could take its place.
    pub(in crate::hub) fn retire(self) {
        self.is_retired.set(true);
    }

    /// Notes that the hub has dealt with a piece of news from this line.
    pub(in crate::hub) fn note_heard(&self) {
        let came_at = self.unheard.borrow_mut().pop_front();
        if let Some(came_at) = came_at.filter(|_| self.is_urgent.get()) {
            self.delays.note(WaitPlace::Output, came_at);
        }
    }

    /// Lets this pane's output overtake the others', or no longer.
    pub(in crate::hub) fn set_urgent(&self, is_urgent: bool) {
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
    /// Nobody: no sign of life came.
    Nothing,
}

struct Line {
    route: Route,
    senders: Senders,
    is_urgent: Rc<Cell<bool>>,
    is_retired: Rc<Cell<bool>>,
    /// The keeper is elsewhere, and nothing leads there now.
    is_cut: Rc<Cell<bool>>,
    unheard: Rc<Unheard>,
    is_in_urgent_lane: Cell<bool>,
}

impl Line {
    async fn run(mut self, mut queue: mpsc::Receiver<(Duration, Vec<u8>)>) {
        let news = loop {
            let stream = match self.connect().await {
                Ok(stream) => stream,
                Err(news) => break news,
            };
            if self.is_retired.get() {
                // This may already be the keeper of the next run.
                return;
            }
            self.serve(stream, &mut queue).await;
            if self.is_retired.get() {
                return;
            }
            sleep(LEAVE_PAUSE).await;
        };
        if !self.is_retired.get() {
            self.tell(news).await;
        }
    }

    /// Carries orders and news until the connection ends.
    async fn serve(
        &mut self,
        stream: KeeperStream,
        queue: &mut mpsc::Receiver<(Duration, Vec<u8>)>,
    ) {
        let KeeperStream { reader, mut writer, early, carrier } = stream;
        if self.is_cut.replace(false) {
            // What was ordered of a line that is gone is ordered anew, if it still matters.
            while queue.try_recv().is_ok() {}
        }
        let mut attach = Vec::new();
        let (version, from) = (keeper::PROTOCOL_VERSION, self.route.from);
        ToKeeper::Attach { version, from }.encode(&mut attach);
        if writer.write_all(&attach).await.is_err() {
            return;
        }
        let delays = Rc::clone(&self.senders.delays);
        let guest = (self.route.agent.clone(), self.route.run);
        let mut side_channel =
            carrier.as_ref().map(|_| SideChannel::new(guest, self.senders.clone()));
        let sent = side_channel.as_mut().map(SideChannel::sent);
        let heard = tokio::select! {
            heard = self.listen(reader, early, side_channel) => heard,
            () = talk(&mut writer, queue, sent, &delays) => Heard::Keeper,
        };
        if heard == Heard::Leftover {
            let mut release = Vec::new();
            ToKeeper::Release.encode(&mut release);
            // If it is gone already, all the better.
            let _ = writer.write_all(&release).await;
        }
        drop(writer);
        if let Some(carrier) = carrier {
            carrier.finish(heard != Heard::Nothing).await;
        }
    }

    /// Connects, or returns what to tell once it is certain that there is nothing to connect to.
    async fn connect(&mut self) -> Result<KeeperStream, LinkNews> {
        match &self.route.address {
            KeeperAddress::Local(_) => self.connect_here().await,
            KeeperAddress::Remote(_) => self.connect_there().await,
        }
    }

    fn nobody(&self, reason: Option<String>) -> LinkNews {
        match self.route.start {
            KeeperStart::ByUs { .. } => LinkNews::NeverCame(reason),
            KeeperStart::BySomeoneElse | KeeperStart::Past => LinkNews::Lost,
        }
    }

    /// Tries until nobody holds the agent's lock.
    async fn connect_here(&self) -> Result<KeeperStream, LinkNews> {
        let KeeperAddress::Local(here) = &self.route.address else { return Err(self.nobody(None)) };
        let mut pause = RETRY_LEAST;
        let mut waited = Duration::ZERO;
        loop {
            if let Some(stream) = here.reach(&self.route.agent, &self.senders.tracer).await {
                let (reader, writer) = stream.into_split();
                let (reader, writer) = (Box::new(reader), Box::new(writer));
                return Ok(KeeperStream { reader, writer, early: Vec::new(), carrier: None });
            }
            let may_come = match &self.route.start {
                KeeperStart::ByUs { has_ended } => !has_ended.get() && waited < START_PATIENCE,
                KeeperStart::BySomeoneElse => waited < ORPHAN_PATIENCE,
                KeeperStart::Past => false,
            };
            if !may_come && !here.is_held() {
                return Err(self.nobody(None));
            }
            sleep(pause).await;
            waited += pause;
            if waited >= EAGERNESS {
                pause = (pause * 2).min(RETRY_MOST);
            }
        }
    }

    /// Tries until the place itself says that nothing of the run is left.
    async fn connect_there(&mut self) -> Result<KeeperStream, LinkNews> {
        let mut pause = REACH_LEAST;
        loop {
            let run = self.route.run;
            let KeeperAddress::Remote(there) = &mut self.route.address else {
                return Err(self.nobody(None));
            };
            let reason = match there.call(run).await {
                CallOutcome::Up(stream) => return Ok(stream),
                CallOutcome::Absent => return Err(self.nobody(None)),
                CallOutcome::Failed(reason) => return Err(self.nobody(Some(reason))),
                CallOutcome::Unreached(reason) => reason,
            };
            if self.is_retired.get() {
                return Err(LinkNews::Lost);
            }
            // A start that never left this machine has begun nothing.
            let is_begun =
                there.is_order_away() || !matches!(self.route.start, KeeperStart::ByUs { .. });
            if !is_begun {
                return Err(LinkNews::NeverCame(Some(reason)));
            }
            tracing::info!(agent = %self.route.agent, reason, "out of reach");
            self.is_cut.set(true);
            self.tell(LinkNews::OutOfReach(reason)).await;
            sleep(pause).await;
            pause = (pause * 2).min(REACH_MOST);
        }
    }

    /// Reads until the connection ends, or turns out to be one to an earlier run.
    async fn listen(
        &mut self,
        mut reader: Box<dyn AsyncRead + Unpin>,
        early: Vec<u8>,
        mut side_channel: Option<SideChannel>,
    ) -> Heard {
        let mut decoder = Decoder::<FromFar>::default();
        let mut buffer = early;
        let mut count = buffer.len();
        buffer.resize(READ_BYTES.max(count), 0);
        loop {
            decoder.feed(&buffer[..count]);
            loop {
                match decoder.next_frame() {
                    Ok(Some(FromFar::Keeper(frame))) => {
                        if self.hear(frame).await == Heard::Leftover {
                            return Heard::Leftover;
                        }
                    }
                    Ok(Some(frame)) => {
                        if let Some(side_channel) = &mut side_channel {
                            side_channel.take(frame).await;
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        tracing::error!(agent = %self.route.agent, %error, "broken frame");
                        return Heard::Keeper;
                    }
                }
            }
            if let Some(side_channel) = &mut side_channel {
                side_channel.note_taken(count).await;
            }
            let reading = reader.read(&mut buffer);
            let read = if side_channel.is_some() {
                let Ok(read) = timeout(SILENCE_MAX, reading).await else { return Heard::Nothing };
                read
            } else {
                reading.await
            };
            match read {
                Ok(0) | Err(_) => return Heard::Keeper,
                Ok(some) => count = some,
            }
        }
    }

    async fn hear(&mut self, frame: FromKeeper) -> Heard {
        let end = match &frame {
            FromKeeper::Welcome(welcome) if self.is_leftover(welcome) => return Heard::Leftover,
            FromKeeper::Output { offset, bytes } => offset + bytes.len() as u64,
            FromKeeper::Welcome(_)
            | FromKeeper::Resized { .. }
            | FromKeeper::Exited { .. }
            | FromKeeper::Tree(_)
            | FromKeeper::Stopped { .. }
            | FromKeeper::Failed { .. } => self.route.from,
        };
        if let FromKeeper::Welcome(_) = &frame {
            self.route.start = KeeperStart::Past;
            if let KeeperAddress::Remote(there) = &mut self.route.address {
                there.note_begun();
            }
        }
        self.tell(LinkNews::Frame(frame)).await;
        // Not before: what is cut off while it waits for its turn is asked for again.
        self.route.from = end;
        Heard::Keeper
    }

    /// Says whether this keeper only waits to be let go, and is in the way of the run to come.
    fn is_leftover(&self, welcome: &Welcome) -> bool {
        let is_awaited = matches!(self.route.start, KeeperStart::ByUs { .. });
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
        place.send(HubInput::Keeper(self.route.agent.clone(), self.route.run, news));
    }
}

/// Writes orders, and what else goes along a line to a place elsewhere.
async fn talk(
    writer: &mut (dyn AsyncWrite + Unpin),
    queue: &mut mpsc::Receiver<(Duration, Vec<u8>)>,
    side_channel: Option<mpsc::Receiver<Vec<u8>>>,
    delays: &Delays,
) {
    let is_far = side_channel.is_some();
    let mut side_channel = side_channel.unwrap_or_else(|| mpsc::channel(1).1);
    loop {
        tokio::select! {
            order = queue.recv() => {
                let Some((given_at, frame)) = order else { return };
                if writer.write_all(&frame).await.is_err() {
                    return;
                }
                delays.note(WaitPlace::Order, given_at);
            }
            Some(frame) = side_channel.recv(), if is_far => {
                if writer.write_all(&frame).await.is_err() {
                    return;
                }
            }
        }
    }
}
