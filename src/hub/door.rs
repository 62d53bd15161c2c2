//! A door of one agent's own: whoever comes through it speaks for that agent and for nobody else.

use std::path::Path;

use tokio::task::JoinHandle;

use super::inbox::Senders;
use super::session::accept;
use super::socket::{Bound, Place, Socket};
use crate::config::Paths;
use crate::model::{AgentName, RunId};

/// Stands open until it is dropped.
#[derive(Debug)]
pub(super) struct Door(JoinHandle<()>);

/// Returns where the door of an agent is.
pub(super) fn door_place(paths: &Paths, agent: &AgentName) -> Place {
    let path = paths.agent_door(agent);
    let mut directories = paths.runtime_directories();
    directories.extend(path.parent().map(Path::to_path_buf));
    Place { path, directories }
}

impl Bound {
    /// Binds the door of an agent, which goes without one if that fails.
    pub(super) fn for_agent(place: Place, agent: &AgentName) -> Option<Self> {
        let warn = |error: &_| tracing::warn!(%agent, %error, "its programs cannot speak to us");
        Self::bind(place).inspect_err(warn).ok()
    }
}

impl Door {
    pub(super) fn open(
        bound: Bound,
        agent: &AgentName,
        run: RunId,
        senders: Senders,
    ) -> Option<Self> {
        let opened = Socket::listen(bound);
        if let Err(error) = &opened {
            tracing::warn!(%agent, %error, "its programs cannot speak to us");
        }
        let guest = Some((agent.clone(), run));
        Some(Self(tokio::task::spawn_local(accept(opened.ok()?, guest, senders))))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.0.abort();
    }
}
