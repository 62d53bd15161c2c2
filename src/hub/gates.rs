//! Checks claims by ourselves: the gates of a task run beside the hub, and their outcome comes
//! back as an event.

use std::path::PathBuf;
use std::time::Duration;

use super::check::Gate;
use super::inbox::Input;
use super::state::Hub;
use super::tree;
use crate::engine::Event;
use crate::model::{Checks, GateResult, TaskId};

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
}

async fn number(cwd: PathBuf) -> Option<String> {
    tokio::task::spawn_blocking(move || tree::number(&cwd)).await.ok().flatten()
}
