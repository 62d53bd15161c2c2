//! Why a hub cannot do its work.

use std::io;
use std::path::PathBuf;

use crate::config::SecureDirError;
use crate::store::StoreError;

/// Why a hub does not come up.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    #[error("Another hub serves this project")]
    Busy,
    #[error("An agent cannot run the hub that it works for")]
    InsideAgent,
    #[error("Failed to lock {}", path.display())]
    Lock { path: PathBuf, source: io::Error },
    #[error("Failed to listen at {}", path.display())]
    Listen { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Directory(#[from] SecureDirError),
    #[error("The record at {} was written by a newer version (form {found})", path.display())]
    NewerRecord { path: PathBuf, found: u32 },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "The record `{}` has a row that this version does not understand\n\
         hint: Use the version of wheelhouse that wrote it", path.display()
    )]
    UnknownRow { path: PathBuf, source: serde_json::Error },
    #[error("Failed to take over the record of an older version, `{}`: {reason}", path.display())]
    Import { path: PathBuf, reason: String },
    #[error("Failed to read the record at {}", path.display())]
    ReadRecord { path: PathBuf, source: io::Error },
    #[error("Failed to detach from the terminal")]
    Detach(#[source] io::Error),
    #[error("Failed to open the log at {}", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("Failed to start the runtime")]
    Runtime(#[source] io::Error),
}
