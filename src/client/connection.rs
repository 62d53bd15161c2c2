//! Holds one connection to a hub: one request, one answer.

use std::error::Error;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{Call, ClientError};
use crate::api::{Ask, FrameReader, FromHub, PROTOCOL, Request, Response, encode_frame};
use crate::keeper::{Standing, Tracer};
use crate::model::{SessionName, Token, plain};

/// How much is read from the socket at once.
const READ_BYTES: usize = 64 * 1024;

/// A connection that has been greeted.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    frames: FrameReader,
    next_id: u64,
}

impl Connection {
    /// Connects to a hub that listens at `socket`, and checks that both speak the same protocol.
    ///
    /// A hub of a session that is named must not run inside one of the session's own agents. With a
    /// token it speaks for an agent. With a patience it gives up when nothing comes for that
    /// long.
    pub(super) fn open(
        socket: &Path,
        session: Option<&SessionName>,
        token: Option<Token>,
        patience: Option<Duration>,
    ) -> Result<Self, ClientError> {
        let stream = Self::stream(socket, session)?;
        stream.set_read_timeout(patience).map_err(ClientError::Lost)?;
        stream.set_write_timeout(patience).map_err(ClientError::Lost)?;
        let mut connection = Self { stream, frames: FrameReader::default(), next_id: 1 };
        connection.greet(token)?;
        Ok(connection)
    }

    /// Opens a stream to a hub of our own user.
    pub(super) fn stream(
        socket: &Path,
        session: Option<&SessionName>,
    ) -> Result<UnixStream, ClientError> {
        let stream = UnixStream::connect(socket).map_err(ClientError::Lost)?;
        let (stream, peer) = peer(stream).map_err(ClientError::Lost)?;
        let is_ours = peer == rustix::process::geteuid().as_raw();
        if !is_ours {
            return Err(ClientError::Foreign { socket: socket.to_owned() });
        }
        match Tracer::new().standing(&stream) {
            Standing::Inside(kept) if Some(&kept.session) == session => {
                Err(ClientError::Impostor { agent: kept.agent, socket: socket.to_owned() })
            }
            // In a sandbox the hub's process is not to be seen.
            Standing::Inside(_) | Standing::Outside | Standing::Unknown(_) => Ok(stream),
        }
    }

    /// Sends a request and waits for its answer; notices in between are passed over.
    pub fn ask(&mut self, request: Request) -> Result<Response, ClientError> {
        let id = self.send(request)?;
        self.answer_to(id)
    }

    /// Makes a request under its key, and waits for its answer.
    pub fn call(&mut self, call: &Call) -> Result<Response, ClientError> {
        let id = self.send_under(call.key.clone(), call.request.clone())?;
        self.answer_to(id)
    }

    fn answer_to(&mut self, id: u64) -> Result<Response, ClientError> {
        loop {
            match self.receive()? {
                FromHub::Answer { id: answered, outcome } if answered == id => return Ok(outcome?),
                // The hub says why it ends the connection.
                FromHub::Answer { id: 0, outcome: Err(fault) } => return Err(fault.into()),
                FromHub::Answer { .. } | FromHub::Notice(_) => {}
            }
        }
    }

    /// Makes `receive` give up, with an error that says so, when nothing comes for this long.
    pub fn set_patience(&self, patience: Duration) -> Result<(), ClientError> {
        self.stream.set_read_timeout(Some(patience)).map_err(ClientError::Lost)
    }

    /// Makes `receive` wait for as long as it takes.
    pub(super) fn forget_patience(&self) -> Result<(), ClientError> {
        self.stream.set_read_timeout(None).map_err(ClientError::Lost)?;
        self.stream.set_write_timeout(None).map_err(ClientError::Lost)
    }

    /// Sends a request without waiting, and returns its number.
    pub fn send(&mut self, request: Request) -> Result<u64, ClientError> {
        self.send_under(None, request)
    }

    fn send_under(&mut self, key: Option<String>, request: Request) -> Result<u64, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let frame = encode_frame(&Ask { id, key, request })?;
        self.stream.write_all(&frame).map_err(ClientError::Lost)?;
        Ok(id)
    }

    /// Waits for the next frame from the hub.
    pub fn receive(&mut self) -> Result<FromHub, ClientError> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            if let Some(frame) = self.frames.next_from_hub()? {
                return Ok(frame);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(count) => self.frames.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ClientError::Lost(error)),
            }
        }
    }

    fn greet(&mut self, token: Option<Token>) -> Result<(), ClientError> {
        let ours = env!("CARGO_PKG_VERSION").to_owned();
        let hello = Request::Hello { protocol: PROTOCOL, version: ours.clone(), token };
        let welcome = match self.ask(hello) {
            Err(ClientError::Frame(error)) => {
                let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                return Err(ClientError::Strange { reason: plain(&reason) });
            }
            answer => answer?,
        };
        let Response::Welcome { protocol, version, pid, .. } = welcome else {
            return Err(ClientError::Unexpected);
        };
        if protocol == PROTOCOL {
            return Ok(());
        }
        let is_older = protocol < PROTOCOL;
        Err(ClientError::Version { hub: version, ours, is_older, pid })
    }
}

/// Returns the user at the other end, as the kernel tells it.
///
/// Seen from within a sandbox the process there has no number, and who asks for a number with the user
/// gets neither; this way of asking tells the user all the same.
fn peer(stream: UnixStream) -> io::Result<(UnixStream, u32)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let asked = {
        let _entered = runtime.enter();
        stream.set_nonblocking(true)?;
        let stream = tokio::net::UnixStream::from_std(stream)?;
        let user = stream.peer_cred()?.uid();
        (stream.into_std()?, user)
    };
    // The caller may itself be within one, where nothing may be waited for.
    runtime.shutdown_background();
    asked.0.set_nonblocking(false)?;
    Ok(asked)
}
