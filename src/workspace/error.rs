//! Lists what can fail with a workspace.

use std::io;
use std::path::Path;

use crate::git::GitError;

/// Why a workspace could not be made, looked into, rescued, merged or removed.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("{0}")]
    Refused(String),
    #[error("{message}")]
    Advised { message: String, hint: String },
}

impl WorkspaceError {
    /// Returns what to type next, where that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Advised { hint, .. } => Some(hint),
            Self::Git(_) | Self::Io { .. } | Self::Refused(_) => None,
        }
    }

    /// Returns a closure that says which path an error is about.
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let what = path.display().to_string();
        move |source| Self::Io { what, source }
    }
}
