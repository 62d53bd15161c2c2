//! Lists what can fail between a client and its hub.

use std::io;
use std::path::PathBuf;

use crate::api::{Fault, FrameError};
use crate::config::SecureDirError;
use crate::model::AgentName;

/// Why a request did not get its answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("No hub runs for {}", project.display())]
    NotRunning { project: PathBuf },
    #[error("Failed to start the hub")]
    Start(#[source] io::Error),
    #[error("The hub did not come up: {reason}")]
    NotReady { reason: String, log: PathBuf },
    #[error("The hub at {} belongs to another user", socket.display())]
    Foreign { socket: PathBuf },
    #[error("Agent `{agent}` listens at {} instead of the hub", socket.display())]
    Impostor { agent: AgentName, socket: PathBuf },
    #[error("The connection to the hub was lost")]
    Lost(#[source] io::Error),
    #[error("The hub closed the connection")]
    Closed,
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(
        "The hub is {} than this program: it runs version {hub}, and this is version {ours}",
        if *.is_older { "older" } else { "newer" }
    )]
    Version { hub: String, ours: String, is_older: bool, pid: u32 },
    #[error("The program at the hub's socket is not a hub: {reason}")]
    Strange { reason: String },
    #[error("Unexpected answer from the hub")]
    Unexpected,
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error(transparent)]
    Directory(#[from] SecureDirError),
}

impl ClientError {
    /// Says whether nothing came for as long as one was ready to wait.
    pub fn is_timeout(&self) -> bool {
        use io::ErrorKind::{TimedOut, WouldBlock};
        matches!(self, Self::Lost(error) if matches!(error.kind(), TimedOut | WouldBlock))
    }

    /// Says whether nobody listens, or who listened has just died.
    pub fn is_absence(&self) -> bool {
        use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
        let is_lost = |error: &io::Error| {
            matches!(error.kind(), NotFound | ConnectionRefused | ConnectionReset | BrokenPipe)
        };
        matches!(self, Self::Closed) || matches!(self, Self::Lost(error) if is_lost(error))
    }

    /// Returns what to type next, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotRunning { .. } => Some("Start a team with `wheelhouse up TEAM`".to_owned()),
            Self::NotReady { reason, .. } if reason.contains("\nhint: ") => None,
            Self::NotReady { log, .. } => Some(format!("Its log may say more: {}", log.display())),
            Self::Start(_) | Self::Lost(_) | Self::Closed | Self::Frame(_) => {
                Some("Look closer with `wheelhouse doctor`".to_owned())
            }
            Self::Version { is_older: true, pid, .. } => Some(format!(
                "Replace it with a hub of this version: `kill {pid}`. Agents keep running"
            )),
            Self::Version { hub, .. } => {
                Some(format!("Use the program of version {hub}, which runs the hub"))
            }
            Self::Strange { .. } => Some(
                "It may be a hub of another version: find it with `ps -ef | grep wheelhouse`"
                    .to_owned(),
            ),
            Self::Fault(fault) => fault.hint.clone(),
            Self::Impostor { .. } => Some(
                "End that program, then the hub, which restarts by itself: find both with `ps -ef | grep wheelhouse`"
                    .to_owned(),
            ),
            Self::Foreign { .. } | Self::Unexpected | Self::Directory(_) => None,
        }
    }
}
