//! Lists what can fail in a keeper.

use std::io;
use std::path::PathBuf;

/// Says why a keeper could not take up its work.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    #[error("Another keeper holds {}", path.display())]
    Held { path: PathBuf },
    #[error("The order on the standard input is not complete")]
    BadOrder(#[from] serde_json::Error),
    #[error("Failed to read the order")]
    Order(#[source] io::Error),
    #[error("Failed to lock {}", path.display())]
    Lock { path: PathBuf, source: io::Error },
    #[error("The start `{ticket}` was carried out before, or given up")]
    Fenced { ticket: String },
    #[error("Failed to read or write {}", path.display())]
    StartTickets { path: PathBuf, source: io::Error },
    #[error("Failed to listen on {}", path.display())]
    Listen { path: PathBuf, source: io::Error },
    #[error("Failed to start `wheelhouse {verb}`")]
    Start { verb: &'static str, source: io::Error },
    #[error("Failed to watch over the process tree")]
    Watch(#[source] io::Error),
}

/// Says why a stream of bytes is not the keeper's protocol.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("A frame of {0} bytes is too large")]
    TooLarge(usize),
    #[error("A frame of kind {0} is cut short")]
    Short(u8),
    #[error("A frame of kind {kind} is malformed")]
    Malformed { kind: u8, source: serde_json::Error },
}
