//! The hub's side of its clients' connections.

use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use super::socket::{ClientSocket, is_own};
use crate::api::{Ask, Fault, FrameReader, FromHub, encode_frame};
use crate::hub::delays::WaitPlace;
use crate::hub::inbox::{Breach, ClientId, ClientNews, HubInput, Senders};
use crate::hub::outbox::{ClientQueue, ConnectionCounts, Outbox};
use crate::keeper::Standing;
use crate::model::{AgentName, RunId, plain};

/// Dashboards, scripts and agents at once; one more is turned away.
const CLIENTS_MAX: usize = 256;

/// Those who are turned away and may hear why; beyond, the door is shut without a word.
const TURNED_AWAY_MAX: usize = 64;

/// Who has not sent a whole request by then has nothing to ask.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// A greeting is short.
const GREETING_BYTES_MAX: usize = 64 * 1024;

/// A frame that has begun is whole by then: both ends are on this machine.
const FRAME_TIME: Duration = Duration::from_secs(30);

/// All frames together of which the end is yet to come; who goes beyond is sent away.
const PARTIAL_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A reporter's line; longer ones are no calls.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// What a client is told of what was not understood; it may be as long as the frame.
const QUOTED_CHARS_MAX: usize = 200;

const READ_BYTES: usize = 16 * 1024;

/// How long a client that broke the protocol may take to hear why.
const FAREWELL: Duration = Duration::from_secs(1);

/// Takes in clients for as long as the hub lives, all of them guests if they come through the door
/// of an agent.
pub(in crate::hub) async fn accept(
    mut socket: ClientSocket,
    guest: Option<(AgentName, RunId)>,
    senders: Senders,
) {
    let mut looking = std::pin::pin!(socket.look());
    loop {
        let accepted = tokio::select! {
            accepted = socket.listener.accept() => accepted,
            found = &mut looking => {
                socket.take_over(found);
                looking.set(socket.look());
                continue;
            }
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a client could not be let in");
                // Out of descriptors: trying again at once would spin.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if is_own(&stream) {
            // Now, since whoever connected may be gone in a moment.
            let standing = senders.tracer.standing(&stream);
            let_in(stream, guest.clone(), standing, senders.clone());
        } else {
            tracing::warn!("a stranger was turned away");
        }
    }
}

/// Serves a client, unless there are too many.
pub(in crate::hub) fn let_in(
    stream: UnixStream,
    guest: Option<(AgentName, RunId)>,
    standing: Standing,
    senders: Senders,
) {
    let visitors = Rc::clone(&senders.visitors);
    if visitors.present.get() >= CLIENTS_MAX {
        tracing::warn!("a client was turned away");
        if visitors.turned_away.get() < TURNED_AWAY_MAX {
            visitors.turned_away.set(visitors.turned_away.get() + 1);
            tokio::task::spawn_local(async move {
                let _ = timeout(FAREWELL, turn_away(stream)).await;
                visitors.turned_away.set(visitors.turned_away.get() - 1);
            });
        }
        return;
    }
    visitors.last.set(visitors.last.get() + 1);
    visitors.present.set(visitors.present.get() + 1);
    let client = ClientId(visitors.last.get());
    tokio::task::spawn_local(async move {
        serve(client, stream, (guest, standing), &senders).await;
        visitors.present.set(visitors.present.get() - 1);
    });
}

/// Says why there is no room, and waits until that was heard.
async fn turn_away(mut stream: UnixStream) {
    let fault = Fault::new(format!("{CLIENTS_MAX} clients are connected already"))
        .with_hint("End dashboards or scripts that hold a connection, and try again");
    let frame = FromHub::Answer { id: 0, outcome: Err(fault) };
    if let Ok(bytes) = encode_frame(&frame)
        && stream.write_all(&bytes).await.is_ok()
    {
        // What the client sends meanwhile is taken, or it would never come to read.
        let mut buffer = [0; 1024];
        while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
    }
}

/// What one client has sent of a frame that is not whole yet, as a part of what all have.
struct Partial {
    visitors: Rc<ConnectionCounts>,
    own: usize,
}

impl Partial {
    /// Takes note of how much it is now, and says whether there is room for it.
    fn note(&mut self, bytes: usize) -> bool {
        let all = &self.visitors.partial_bytes;
        all.set(all.get() - self.own + bytes);
        self.own = bytes;
        all.get() <= PARTIAL_BYTES_MAX
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        self.note(0);
    }
}

async fn serve(
    client: ClientId,
    stream: UnixStream,
    (guest, standing): (Option<(AgentName, RunId)>, Standing),
    senders: &Senders,
) {
    let partial = Partial { visitors: Rc::clone(&senders.visitors), own: 0 };
    let (reader, writer) = stream.into_split();
    let (frames, queued) = mpsc::unbounded_channel();
    let queue = Rc::new(ClientQueue::default());
    let delays = Rc::clone(&senders.delays);
    let outbox = Outbox::new(frames, Rc::clone(&queue), delays);
    let tell = |news| senders.requests.send(HubInput::Client(client, news));
    if tell(ClientNews::Came { outbox, guest, standing }).await.is_err() {
        return;
    }
    let mut writing = std::pin::pin!(write(client, writer, queued, &queue, senders));
    let left = tokio::select! {
        left = read(client, reader, partial, &queue, senders) => left,
        () = &mut writing => ClientNews::Left,
    };
    let has_broken = matches!(left, ClientNews::Broke(_));
    let _ = tell(left).await;
    if has_broken {
        // The hub answers with the reason and lets go; a client that does not read it misses it.
        let _ = timeout(FAREWELL, writing).await;
    }
}

/// Reads requests until the client leaves or breaks the protocol.
async fn read(
    client: ClientId,
    mut reader: OwnedReadHalf,
    mut partial: Partial,
    queue: &ClientQueue,
    senders: &Senders,
) -> ClientNews {
    let mut frames = FrameReader::default();
    let mut buffer = vec![0; READ_BYTES];
    let (mut deadline, mut has_asked) = (Some(Instant::now() + GREETING_TIME), false);
    loop {
        let count = match read_some(&mut reader, &mut buffer, deadline).await {
            Ok(0) => return ClientNews::Left,
            Ok(count) => count,
            Err(news) => return news,
        };
        if !has_asked && frames.is_empty() && buffer[0] == b'{' {
            // No frame begins so: it would be larger than any may be.
            return read_lines(client, reader, buffer[..count].to_vec(), queue, senders).await;
        }
        frames.push(&buffer[..count]);
        let mut has_read = false;
        loop {
            while !queue.has_room() {
                queue.shrank.notified().await;
            }
            match frames.next_frame::<Ask>() {
                Ok(Some(ask)) => {
                    (has_asked, has_read) = (true, true);
                    queue.unanswered.set(queue.unanswered.get() + 1);
                    let came_at = senders.delays.now();
                    let input = HubInput::Client(client, ClientNews::Asked(Box::new(ask)));
                    if senders.requests.send(input).await.is_err() {
                        return ClientNews::Left;
                    }
                    // One at a time, or many small questions would become many large answers.
                    queue.heard.notified().await;
                    senders.delays.note(WaitPlace::Request, came_at);
                }
                Ok(None) => break,
                Err(error) => {
                    let quoted = error.source().map(ToString::to_string).unwrap_or_default();
                    let quoted = plain(&quoted).chars().take(QUOTED_CHARS_MAX).collect();
                    let reason = error.to_string();
                    return ClientNews::Broke(Breach { reason, quoted, ..Breach::default() });
                }
            }
        }
        let begun = frames.unread();
        if !has_asked && begun > GREETING_BYTES_MAX {
            return broke(format!("A greeting has at most {GREETING_BYTES_MAX} bytes"));
        }
        if !partial.note(begun) {
            return broke("Too many frames are on their way from all clients; try again");
        }
        deadline = match (begun, deadline) {
            (0, _) if has_asked => None,
            (_, Some(set)) if !has_read => Some(set),
            _ => Some(Instant::now() + FRAME_TIME),
        };
    }
}

fn broke(reason: impl Into<String>) -> ClientNews {
    ClientNews::Broke(Breach { reason: reason.into(), ..Breach::default() })
}

/// Reads what there is, or says why nothing more is read.
async fn read_some(
    reader: &mut OwnedReadHalf,
    buffer: &mut [u8],
    deadline: Option<Instant>,
) -> Result<usize, ClientNews> {
    let reading = reader.read(buffer);
    let read = match deadline {
        None => reading.await,
        Some(deadline) => {
            timeout_at(deadline, reading).await.map_err(|_| broke("No whole frame came in time"))?
        }
    };
    read.map_err(|_| ClientNews::Left)
}

/// Reads the calls of a reporter made for another tool, one a line.
async fn read_lines(
    client: ClientId,
    mut reader: OwnedReadHalf,
    mut bytes: Vec<u8>,
    queue: &ClientQueue,
    senders: &Senders,
) -> ClientNews {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            while !queue.has_room() {
                queue.shrank.notified().await;
            }
            let rest = bytes.split_off(end + 1);
            let line = std::mem::replace(&mut bytes, rest);
            let input = HubInput::Client(client, ClientNews::Line(line));
            if senders.requests.send(input).await.is_err() {
                return ClientNews::Left;
            }
            queue.heard.notified().await;
        }
        if bytes.len() > LINE_BYTES_MAX {
            let reason = format!("A line has at most {LINE_BYTES_MAX} bytes");
            return ClientNews::Broke(Breach { reason, in_lines: true, ..Breach::default() });
        }
        // Reporters come, say what they have to say, and go.
        match timeout(FRAME_TIME, reader.read(&mut buffer)).await {
            Ok(Ok(count)) if count > 0 => bytes.extend_from_slice(&buffer[..count]),
            _ => return ClientNews::Left,
        }
    }
}

async fn write(
    client: ClientId,
    mut writer: OwnedWriteHalf,
    mut queued: mpsc::UnboundedReceiver<(Duration, Box<[u8]>)>,
    queue: &ClientQueue,
    senders: &Senders,
) {
    while let Some((sent_at, frame)) = queued.recv().await {
        if writer.write_all(&frame).await.is_err() {
            return;
        }
        senders.delays.note(WaitPlace::Frame, sent_at);
        queue.bytes.set(queue.bytes.get() - frame.len());
        queue.shrank.notify_one();
        if queue.is_fluent() && queue.is_awaited.replace(false) {
            let _ = senders.requests.send(HubInput::Client(client, ClientNews::CaughtUp)).await;
        }
    }
}
