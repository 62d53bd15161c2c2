//! An agent's own way to the hub: by what it finds in its environment, and for itself alone.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{ClientError, Connection};
use crate::model::Token;
use crate::wire::{Request, Response};

/// A hub that was lost is back within a second or two; it is asked at a growing pace.
const RETRY_LEAST: Duration = Duration::from_millis(20);
const RETRY_MOST: Duration = Duration::from_millis(500);

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
    /// made again: it carries an id of its own.
    pub fn ask(&self, request: &Request, patience: Duration) -> Result<Response, ClientError> {
        let mut left = patience;
        let mut pause = RETRY_LEAST;
        loop {
            let asked = ask_once(&self.socket, &self.token, request.clone(), left);
            match asked {
                Err(error) if error.is_absence() && left > pause => {
                    thread::sleep(pause);
                    left -= pause;
                    pause = (pause * 2).min(RETRY_MOST);
                }
                result => return result,
            }
        }
    }
}

fn ask_once(
    socket: &Path,
    token: &Token,
    request: Request,
    patience: Duration,
) -> Result<Response, ClientError> {
    Connection::open(socket, Some(token.clone()), Some(patience))?.ask(request)
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
