//! Holds what is on its way to a client, and counts who is connected.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use super::delays::Delays;
use crate::api::{FromHub, encode_frame};

/// A client with less than this on its way gets the next frame of its panes, and the answer to its
/// next request. So what waits for one is past this by no more than a single frame.
const QUEUE_BYTES_FLUENT: usize = 64 * 1024;

/// Requests of one client that take their time; no more are read from it until one is answered.
const UNANSWERED_MAX: usize = 16;

/// What is on its way to one client.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    frames: mpsc::UnboundedSender<(Duration, Box<[u8]>)>,
    queue: Rc<ClientQueue>,
    delays: Rc<Delays>,
}

/// How much waits to be written to a client.
#[derive(Debug, Default)]
pub(super) struct ClientQueue {
    pub(super) bytes: Cell<usize>,
    pub(super) unanswered: Cell<usize>,
    /// The hub held something back and wants to know when to go on.
    pub(super) is_awaited: Cell<bool>,
    pub(super) shrank: Notify,
    /// The hub has dealt with the client's last request; its answer, if it came at once, is queued.
    pub(super) heard: Notify,
}

impl ClientQueue {
    /// Says whether the client keeps up.
    pub(super) fn is_fluent(&self) -> bool {
        self.bytes.get() < QUEUE_BYTES_FLUENT
    }

    /// Says whether the client's next request may be answered.
    pub(super) fn has_room(&self) -> bool {
        self.is_fluent() && self.unanswered.get() < UNANSWERED_MAX
    }
}

impl Outbox {
    pub(super) fn new(
        frames: mpsc::UnboundedSender<(Duration, Box<[u8]>)>,
        queue: Rc<ClientQueue>,
        delays: Rc<Delays>,
    ) -> Self {
        Self { frames, queue, delays }
    }

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

    /// Queues a line for a reporter that speaks in lines.
    pub(super) fn send_line(&self, line: &serde_json::Value) {
        let bytes = format!("{line}\n").into_bytes().into_boxed_slice();
        self.queue.bytes.set(self.queue.bytes.get() + bytes.len());
        // A writer that is gone has already said so.
        let _ = self.frames.send((self.delays.now(), bytes));
    }

    /// Lets the client's next request in.
    pub(super) fn note_heard(&self) {
        self.queue.heard.notify_one();
    }

    /// Says whether the client keeps up; if not, `CaughtUp` follows once it does.
    pub(super) fn is_fluent(&self) -> bool {
        let is_fluent = self.queue.is_fluent();
        if !is_fluent {
            self.queue.is_awaited.set(true);
        }
        is_fluent
    }
}

/// Everyone who is or was connected.
#[derive(Debug, Default)]
pub(super) struct ConnectionCounts {
    pub(super) last: Cell<u64>,
    pub(super) present: Cell<usize>,
    pub(super) turned_away: Cell<usize>,
    /// What all have sent of frames that are not whole yet.
    pub(super) partial_bytes: Cell<usize>,
}
