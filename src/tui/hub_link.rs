//! The connection to the hub: requests out, frames in, never waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::api::{Ask, FrameError, FrameReader, FromHub, encode_frame};

/// Bytes taken in one turn of the loop, so that a flood from the hub cannot keep keys waiting.
const TURN_BYTES_MAX: usize = 1024 * 1024;

/// Bytes that may wait for the hub to read them; more means that it no longer does.
const UNSENT_BYTES_MAX: usize = 4 * 1024 * 1024;

const CHUNK_BYTES: usize = 64 * 1024;

/// Says why the connection is of no more use.
#[derive(Debug, thiserror::Error)]
pub(super) enum HubLinkError {
    #[error("it closed the connection")]
    Closed,
    #[error("it does not read its input")]
    Deaf,
    #[error("it sent data that cannot be read")]
    Unreadable(#[from] FrameError),
    #[error("{0}")]
    Failed(#[from] io::Error),
}

/// One connection to the hub.
#[derive(Debug)]
pub(super) struct HubLink {
    stream: UnixStream,
    reader: FrameReader,
    unsent: Vec<u8>,
    chunk: Box<[u8]>,
}

impl HubLink {
    /// Takes a fresh connection over.
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let chunk = vec![0; CHUNK_BYTES].into_boxed_slice();
        Ok(Self { stream, reader: FrameReader::default(), unsent: Vec::new(), chunk })
    }

    /// Returns what to wait for.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Says whether something waits to be written.
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Sends requests, as far as the hub takes them now.
    pub(super) fn send(&mut self, asks: &[Ask]) -> Result<(), HubLinkError> {
        for ask in asks {
            self.unsent.extend(encode_frame(ask)?);
        }
        if self.unsent.len() > UNSENT_BYTES_MAX {
            return Err(HubLinkError::Deaf);
        }
        self.flush()
    }

    /// Writes what waits, as far as the hub takes it now.
    pub(super) fn flush(&mut self) -> Result<(), HubLinkError> {
        let mut written = 0;
        while written < self.unsent.len() {
            match self.stream.write(&self.unsent[written..]) {
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.unsent.drain(..written);
        Ok(())
    }

    /// Returns the frames that have arrived.
    pub(super) fn receive(&mut self) -> Result<Vec<FromHub>, HubLinkError> {
        let mut frames = Vec::new();
        let mut taken = 0;
        while taken < TURN_BYTES_MAX {
            match self.stream.read(&mut self.chunk) {
                Ok(0) if frames.is_empty() => return Err(HubLinkError::Closed),
                Ok(0) => break,
                Ok(count) => {
                    taken += count;
                    self.reader.push(&self.chunk[..count]);
                    while let Some(frame) = self.reader.next_from_hub()? {
                        frames.push(frame);
                    }
                    // A short read has emptied the socket: the call that would say so is saved.
                    if count < self.chunk.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(frames)
    }
}
