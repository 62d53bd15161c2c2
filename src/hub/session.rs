//! The hub's side of its clients' connections.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, mpsc};

use super::delays::{Delays, Place};
use super::inbox::{ClientId, ClientNews, Input, Senders};
use super::socket::{is_own, peer};
use crate::wire::{Ask, FrameReader, FromHub, encode_frame};

/// Dashboards, scripts and agents at once; one more is turned away.
const CLIENTS_MAX: usize = 256;

/// A client with less than this on its way gets the next frame of its panes, and the answer to its
/// next request. So what waits for one is past this by no more than a single frame.
const QUEUE_BYTES_FLUENT: usize = 64 * 1024;

/// Requests of one client that take their time; no more are read from it until one is answered.
const UNANSWERED_MAX: usize = 16;

const READ_BYTES: usize = 16 * 1024;

/// How long a client that broke the protocol may take to hear why.
const FAREWELL: Duration = Duration::from_secs(1);

/// What is on its way to one client.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    frames: mpsc::UnboundedSender<(Duration, Box<[u8]>)>,
    queue: Rc<Queue>,
    delays: Rc<Delays>,
}

#[derive(Debug, Default)]
struct Queue {
    bytes: Cell<usize>,
    unanswered: Cell<usize>,
    /// The hub held something back and wants to know when to go on.
    is_awaited: Cell<bool>,
    shrank: Notify,
    /// The hub has dealt with the client's last request; its answer, if it came at once, is queued.
    heard: Notify,
}

impl Queue {
    /// Says whether the client's next request may be answered.
    fn has_room(&self) -> bool {
        self.bytes.get() < QUEUE_BYTES_FLUENT && self.unanswered.get() < UNANSWERED_MAX
    }
}

impl Outbox {
    /// Queues a frame. What is too large to be sent is dropped and logged.
    pub(super) fn send(&self, frame: &FromHub) {
        if let FromHub::Answer { .. } = frame {
            self.queue.unanswered.set(self.queue.unanswered.get().saturating_sub(1));
            self.queue.shrank.notify_one();
        }
        match encode_frame(frame).map(Vec::into_boxed_slice) {
            Ok(bytes) => {
                self.queue.bytes.set(self.queue.bytes.get() + bytes.len());
                // A writer that is gone has already said so.
                let _ = self.frames.send((self.delays.now(), bytes));
            }
            Err(error) => tracing::error!(%error, "an answer could not be sent"),
        }
    }

    /// Lets the client's next request in.
    pub(super) fn note_heard(&self) {
        self.queue.heard.notify_one();
    }

    /// Says whether the client keeps up; if not, `CaughtUp` follows once it does.
    pub(super) fn is_fluent(&self) -> bool {
        let is_fluent = self.queue.bytes.get() < QUEUE_BYTES_FLUENT;
        if !is_fluent {
            self.queue.is_awaited.set(true);
        }
        is_fluent
    }
}

/// Takes in clients for as long as the hub lives.
pub(super) async fn accept(listener: UnixListener, senders: Senders) {
    let mut next = 0;
    let present = Rc::new(Cell::new(0));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a client could not be let in");
                // Out of descriptors: trying again at once would spin.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if !is_own(&stream) || present.get() >= CLIENTS_MAX {
            tracing::warn!("a client was turned away");
            continue;
        }
        next += 1;
        present.set(present.get() + 1);
        let (senders, present) = (senders.clone(), Rc::clone(&present));
        tokio::task::spawn_local(async move {
            serve(ClientId(next), stream, &senders).await;
            present.set(present.get() - 1);
        });
    }
}

async fn serve(client: ClientId, stream: UnixStream, senders: &Senders) {
    let peer = peer(&stream);
    let (reader, writer) = stream.into_split();
    let (frames, queued) = mpsc::unbounded_channel();
    let queue = Rc::new(Queue::default());
    let delays = Rc::clone(&senders.delays);
    let outbox = Outbox { frames, queue: Rc::clone(&queue), delays };
    let tell = |news| senders.requests.send(Input::Client(client, news));
    if tell(ClientNews::Came(outbox, peer)).await.is_err() {
        return;
    }
    let mut writing = std::pin::pin!(write(client, writer, queued, &queue, senders));
    let left = tokio::select! {
        left = read(client, reader, &queue, senders) => left,
        () = &mut writing => ClientNews::Left,
    };
    let has_broken = matches!(left, ClientNews::Broke(_));
    let _ = tell(left).await;
    if has_broken {
        // The hub answers with the reason and lets go; a client that does not read it misses it.
        let _ = tokio::time::timeout(FAREWELL, writing).await;
    }
}

/// Reads requests until the client leaves or breaks the protocol.
async fn read(
    client: ClientId,
    mut reader: OwnedReadHalf,
    queue: &Queue,
    senders: &Senders,
) -> ClientNews {
    let mut frames = FrameReader::default();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => return ClientNews::Left,
            Ok(count) => frames.push(&buffer[..count]),
        }
        loop {
            while !queue.has_room() {
                queue.shrank.notified().await;
            }
            match frames.next_frame::<Ask>() {
                Ok(Some(ask)) => {
                    queue.unanswered.set(queue.unanswered.get() + 1);
                    let came_at = senders.delays.now();
                    let input = Input::Client(client, ClientNews::Asked(ask));
                    if senders.requests.send(input).await.is_err() {
                        return ClientNews::Left;
                    }
                    // One at a time, or many small questions would become many large answers.
                    queue.heard.notified().await;
                    senders.delays.note(Place::Request, came_at);
                }
                Ok(None) => break,
                Err(error) => return ClientNews::Broke(error.to_string()),
            }
        }
    }
}

async fn write(
    client: ClientId,
    mut writer: OwnedWriteHalf,
    mut queued: mpsc::UnboundedReceiver<(Duration, Box<[u8]>)>,
    queue: &Queue,
    senders: &Senders,
) {
    while let Some((sent_at, frame)) = queued.recv().await {
        if writer.write_all(&frame).await.is_err() {
            return;
        }
        senders.delays.note(Place::Frame, sent_at);
        queue.bytes.set(queue.bytes.get() - frame.len());
        queue.shrank.notify_one();
        if queue.bytes.get() < QUEUE_BYTES_FLUENT && queue.is_awaited.replace(false) {
            let _ = senders.requests.send(Input::Client(client, ClientNews::CaughtUp)).await;
        }
    }
}
