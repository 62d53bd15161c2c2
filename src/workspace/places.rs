//! Knows where a workspace's files and lists lie, and locks its repository.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::WorkspaceError;
use crate::config::{Hash, Paths};
use crate::git::Repository;
use crate::model::{AgentName, MergeId};

/// The places that this user's hubs share, and those of one session.
#[derive(Clone, Debug)]
pub struct Site {
    /// For all projects: locks of repositories, ports that are given out.
    shared: PathBuf,
    /// What is known of each workspace of this session beside the record.
    own: PathBuf,
}

impl Site {
    pub fn of(paths: &Paths) -> Self {
        let shared = paths.state_dir.parent().unwrap_or(&paths.state_dir);
        Self::new(shared, &paths.state_dir)
    }

    /// Returns the places below the state of all sessions, and of one.
    pub fn new(shared: &Path, session: &Path) -> Self {
        Self { shared: shared.to_owned(), own: session.join("plots") }
    }

    /// Returns the file that says that an agent's set-up command has succeeded; in a directory of its
    /// own, since a sandboxed agent writes it.
    pub fn setup_mark(&self, agent: &AgentName) -> PathBuf {
        self.own.join(format!("{agent}.mark")).join("setup")
    }

    /// Returns the list of what a copy was made with.
    pub(super) fn inventory(&self, agent: &AgentName) -> PathBuf {
        self.own.join(format!("{agent}.files"))
    }

    /// Returns the list of what may go of a workspace that is being removed.
    pub(super) fn removal(&self, agent: &AgentName) -> PathBuf {
        self.own.join(format!("{agent}.removal"))
    }

    /// Returns the file that says what is shown of a workspace elsewhere.
    pub(super) fn tips(&self, agent: &AgentName) -> PathBuf {
        self.own.join(format!("{agent}.tips"))
    }

    /// Returns how long ago a workspace elsewhere was last asked for what is in it.
    pub fn shown_for(&self, agent: &AgentName) -> Duration {
        let told = fs::metadata(self.tips(agent).with_extension("turn"));
        let asked = told.and_then(|told| told.modified()).ok();
        asked.and_then(|asked| asked.elapsed().ok()).unwrap_or(Duration::MAX)
    }

    pub(super) fn scratch(&self, merge: MergeId) -> PathBuf {
        self.own.join("scratch").join(merge.to_string())
    }

    pub(super) fn own(&self) -> &Path {
        &self.own
    }

    pub(super) fn ports(&self) -> PathBuf {
        self.shared.join("ports")
    }

    pub(super) fn make_own(&self) -> Result<(), WorkspaceError> {
        fs::create_dir_all(&self.own).map_err(WorkspaceError::at(&self.own))
    }

    /// Waits until nobody else changes which working trees and branches of ours a repository has.
    ///
    /// Git itself fails where two add one at the same moment.
    pub(super) fn turn(&self, repository: &Repository) -> Result<Turn, WorkspaceError> {
        let name = Hash::of(repository.common_dir().as_os_str().as_encoded_bytes());
        Turn::take(&self.shared.join("repositories").join(format!("{}.lock", name.short())))
    }
}

/// Somebody's turn; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _lock: File,
}

impl Turn {
    pub(super) fn take(path: &Path) -> Result<Self, WorkspaceError> {
        let take = || {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut file = File::options().create(true).append(true).open(path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            // Its time tells when it was last taken.
            file.set_len(0)?;
            file.write_all(b"\n")?;
            Ok(Self { _lock: file })
        };
        take().map_err(WorkspaceError::at(path))
    }
}
