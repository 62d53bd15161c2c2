//! Connects an agent's program to its hub, by what its environment says.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{Call, ClientError, Connection};
use crate::api::{Request, Response};
use crate::model::Token;

/// A hub that was lost is back within a second or two; it is asked at a growing pace.
const RETRY_LEAST: Duration = Duration::from_millis(20);
const RETRY_MOST: Duration = Duration::from_millis(500);

/// How long a hub that is just coming back is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who an agent is, and where its hub listens.
#[derive(Clone, Debug)]
pub struct Identity {
    socket: PathBuf,
    token: Token,
}

impl Identity {
    /// Returns who this process speaks for: nobody, if no agent started it.
    pub fn of_this_process() -> Option<Self> {
        let socket = std::env::var_os("WHEELHOUSE_SOCKET").filter(|path| !path.is_empty())?;
        let token = std::env::var("WHEELHOUSE_TOKEN").ok().filter(|token| !token.is_empty())?;
        Some(Self { socket: socket.into(), token: Token(token) })
    }

    /// Asks the hub, and waits for one that is just coming back. A request whose answer was lost is
    /// made again if that does no harm.
    pub fn ask(&self, request: Request, patience: Duration) -> Result<Response, ClientError> {
        self.call(&Call::new(request), patience)
    }

    /// Makes a request under its key; again, if its answer was lost.
    pub fn call(&self, call: &Call, patience: Duration) -> Result<Response, ClientError> {
        let mut patience = Patience { left: patience, pause: RETRY_LEAST };
        loop {
            match self.open(&mut patience)?.call(call) {
                Err(error)
                    if error.is_absence() && call.is_repeatable() && patience.is_spent_well() => {}
                result => return result,
            }
        }
    }

    /// Connects to the hub, and waits for one that is just coming back.
    pub fn connect(&self) -> Result<Connection, ClientError> {
        let connection = self.open(&mut Patience { left: PATIENCE, pause: RETRY_LEAST })?;
        connection.forget_patience()?;
        Ok(connection)
    }

    /// Returns where its hub listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Returns the project of its hub, where that is on this machine.
    pub fn project(&self) -> Option<PathBuf> {
        let project = std::env::var_os("WHEELHOUSE_PROJECT").map(PathBuf::from)?;
        project.is_absolute().then_some(project)
    }

    fn open(&self, patience: &mut Patience) -> Result<Connection, ClientError> {
        loop {
            let token = Some(self.token.clone());
            match Connection::open(&self.socket, None, token, Some(patience.left)) {
                Err(error) if error.is_absence() && patience.is_spent_well() => {}
                result => return result,
            }
        }
    }
}

/// What is left of the time that a hub is waited for.
struct Patience {
    left: Duration,
    pause: Duration,
}

impl Patience {
    /// Waits a little, and says whether trying again makes sense.
    fn is_spent_well(&mut self) -> bool {
        if self.left <= self.pause {
            return false;
        }
        thread::sleep(self.pause);
        self.left -= self.pause;
        self.pause = (self.pause * 2).min(RETRY_MOST);
        true
    }
}

/// Returns an id that no other request has.
pub fn random_id() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    }))
}
