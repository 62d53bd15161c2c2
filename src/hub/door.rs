//! A door of one agent's own: whoever comes through it speaks for that agent and for nobody else.

use std::path::Path;

use tokio::task::JoinHandle;

use super::inbox::Senders;
use super::session::accept;
use super::socket::listen;
use crate::config::secure_dir;
use crate::model::{AgentName, RunId};

/// Stands open until it is dropped.
#[derive(Debug)]
pub(super) struct Door(JoinHandle<()>);

impl Door {
    pub(super) fn open(
        path: &Path,
        agent: &AgentName,
        run: RunId,
        senders: Senders,
    ) -> Option<Self> {
        let made = path.parent().map_or(Ok(()), secure_dir);
        if let Err(error) = made {
            tracing::warn!(%agent, %error, "its programs cannot speak to us");
            return None;
        }
        let opened = listen(path);
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
