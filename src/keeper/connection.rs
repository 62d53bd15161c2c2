//! Serves one connection to a hub: reads frames and writes bytes without waiting.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::{Decoder, FrameError, ToKeeper};

/// Read at a time, on the stack.
const READ_BYTES_MAX: usize = 16 * 1024;

/// A connection and what of it is on its way.
pub(super) struct Connection {
    stream: UnixStream,
    decoder: Decoder<ToKeeper>,
    /// One batch of frames at most; the next is made when this one is gone.
    pub(super) outgoing: Vec<u8>,
    written: usize,
    blocked_since: Option<Instant>,
}

/// Says that the other side is gone, or talks nonsense.
pub(super) struct Lost;

impl Connection {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            decoder: Decoder::default(),
            outgoing: Vec::new(),
            written: 0,
            blocked_since: None,
        }
    }

    /// Takes in what has arrived, and says whether that was anything.
    pub(super) fn receive(&mut self) -> Result<bool, Lost> {
        let mut bytes = [0; READ_BYTES_MAX];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(Lost),
            Ok(count) => {
                self.decoder.feed(&bytes[..count]);
                Ok(true)
            }
            Err(error) if is_temporary(&error) => Ok(false),
            Err(_) => Err(Lost),
        }
    }

    /// Returns the next frame that has arrived in full.
    pub(super) fn next_frame(&mut self) -> Result<Option<ToKeeper>, Lost> {
        self.decoder.next_frame().map_err(|error: FrameError| {
            tracing::warn!(%error, "closing a connection");
            Lost
        })
    }

    /// Writes as much as the other side takes.
    pub(super) fn send(&mut self, now: Instant) -> Result<(), Lost> {
        while self.has_unsent() {
            match self.stream.write(&self.outgoing[self.written..]) {
                Ok(count) => {
                    self.written += count;
                    self.blocked_since = None;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked_since.get_or_insert(now);
                    return Ok(());
                }
                Err(_) => return Err(Lost),
            }
        }
        self.outgoing.clear();
        self.written = 0;
        Ok(())
    }

    pub(super) fn has_unsent(&self) -> bool {
        self.written < self.outgoing.len()
    }

    /// Returns since when the other side has taken nothing of what waits for it.
    pub(super) fn blocked_since(&self) -> Option<Instant> {
        self.blocked_since
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
