//! The keeper of an agent on this machine, seen from the hub.

use std::path::PathBuf;

use tokio::net::UnixStream;

use super::socket::is_own;
use crate::keeper::{self, Tracer};
use crate::model::{AgentName, SessionName};

/// The way to a keeper on this machine.
#[derive(Debug)]
pub(super) struct Here {
    pub(super) session: SessionName,
    pub(super) socket: PathBuf,
    pub(super) lock: PathBuf,
}

impl Here {
    /// Connects to the agent's keeper, if it is that one who listens.
    pub(super) async fn reach(&self, agent: &AgentName, tracer: &Tracer) -> Option<UnixStream> {
        let stream = UnixStream::connect(&self.socket).await.ok()?;
        let is_it = is_own(&stream) && tracer.is_keeper(&stream, &self.session, agent);
        is_it.then_some(stream)
    }

    /// Says whether a keeper, or what watches over its tree, is alive.
    pub(super) fn is_held(&self) -> bool {
        keeper::is_held(&self.lock)
    }
}
