//! Checks claims by ourselves: the gates of a task run beside the hub, and their outcome comes
//! back as an event.

use std::path::PathBuf;
use std::time::Duration;

use super::check::Gate;
use super::inbox::Input;
use super::state::Hub;
use super::tree;
use crate::engine::Event;
use crate::model::{AgentName, Checks, GateResult, Key, TaskId};
use crate::screen::key_bytes;

/// How long one gate may take.
const GATE_MAX: Duration = Duration::from_mins(10);

impl Hub {
    /// Runs the gates of a claim, one after the other, where its agent works.
    pub(super) fn run_gates(&self, task: TaskId, attempt: usize, gates: Vec<String>, cwd: PathBuf) {
        let mark = format!("WHEELHOUSE_GATE={}:{task}:{attempt}", self.paths.session);
        let requests = self.senders.requests.clone();
        tokio::task::spawn_local(async move {
            let tree_before = number(cwd.clone()).await;
            let mut results = Vec::new();
            for gate in gates {
                let (passed, output) = Gate::parse(&gate).check(&cwd, &mark, GATE_MAX).await;
                results.push(GateResult { gate, passed, output });
            }
            let tree_after = number(cwd).await;
            let checks = Checks { results, tree_before, tree_after };
            let _ = requests.send(Input::Came(Event::Gates { task, attempt, checks })).await;
        });
    }

    /// Looks which files were modified where an agent works.
    pub(super) fn survey(&self, task: TaskId, attempt: usize, cwd: PathBuf) {
        let requests = self.senders.requests.clone();
        tokio::task::spawn_local(async move {
            let files = tokio::task::spawn_blocking(move || tree::modified(&cwd)).await;
            let files = files.unwrap_or_default();
            let _ = requests.send(Input::Came(Event::Surveyed { task, attempt, files })).await;
        });
    }

    /// Presses the keys by which an agent's cli ends its turn.
    pub(super) fn interrupt(&mut self, agent: &AgentName) {
        let now = self.clock.now();
        let cli = self.engine.seat(agent).map(|seat| seat.member.cli.clone());
        let manifest = cli.and_then(|cli| self.manifests.get(&cli));
        let keys = manifest.map(|manifest| manifest.keys.interrupt.clone()).unwrap_or_default();
        let Some(pane) = self.panes.get_mut(agent) else { return };
        let modes = pane.screen.modes();
        let keys = keys.iter().filter_map(|key| key.parse::<Key>().ok());
        let bytes: Vec<u8> = keys.flat_map(|key| key_bytes(key, &modes)).collect();
        if bytes.is_empty() || !pane.type_bytes(bytes, now) {
            tracing::warn!(%agent, "it cannot be interrupted");
        }
    }
}

async fn number(cwd: PathBuf) -> Option<String> {
    tokio::task::spawn_blocking(move || tree::number(&cwd)).await.ok().flatten()
}
