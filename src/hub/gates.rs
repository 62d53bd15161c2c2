//! Checks claims by ourselves: the gates of a task run beside the hub, and their outcome comes
//! back as an event.

use std::path::PathBuf;
use std::time::Duration;

use super::check::Gate;
use super::inbox::Input;
use super::state::Hub;
use super::tree;
use crate::engine::Event;
use crate::model::{Checks, GateResult, PlayId, TaskId};

/// How long one gate may take.
const GATE_MAX: Duration = Duration::from_mins(10);

impl Hub {
    /// Runs the gates of a claim, one after the other, where its agent works.
    pub(super) fn run_gates(&self, task: TaskId, attempt: usize, gates: Vec<String>, cwd: PathBuf) {
        let mark = format!("WHEELHOUSE_GATE={}:{task}:{attempt}", self.paths.session);
        let requests = self.senders.requests.clone();
        tokio::task::spawn_local(async move {
            let checks = check_all(gates, cwd, &mark).await;
            let _ = requests.send(Input::Came(Event::Gates { task, attempt, checks })).await;
        });
    }

    /// Runs the gates that stand between a run's stage, in a round of it, and the next.
    pub(super) fn run_stage_gates(
        &self,
        (play, stage, round): (PlayId, usize, u32),
        gates: Vec<String>,
        cwd: PathBuf,
    ) {
        let mark = format!("WHEELHOUSE_GATE={}:{play}:{stage}", self.paths.session);
        let requests = self.senders.requests.clone();
        tokio::task::spawn_local(async move {
            let checks = check_all(gates, cwd, &mark).await;
            let _ =
                requests.send(Input::Came(Event::StageGates { play, stage, round, checks })).await;
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

/// Runs gates one after the other, and numbers the files before and after.
async fn check_all(gates: Vec<String>, cwd: PathBuf, mark: &str) -> Checks {
    let tree_before = number(cwd.clone()).await;
    let mut results = Vec::new();
    for gate in gates {
        let (passed, output) = Gate::parse(&gate).check(&cwd, mark, GATE_MAX).await;
        results.push(GateResult { gate, passed, output });
    }
    let tree_after = number(cwd).await;
    Checks { results, tree_before, tree_after }
}

async fn number(cwd: PathBuf) -> Option<String> {
    tokio::task::spawn_blocking(move || tree::number(&cwd)).await.ok().flatten()
}
