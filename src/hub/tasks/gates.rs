//! Checks claims by ourselves: the gates of a task run beside the hub, and their outcome comes
//! back as an event.

use std::path::PathBuf;

use super::file_tree;
use super::gate_check::{self, ContractFiles, GateContext};
use crate::engine::Event;
use crate::hub::Hub;
use crate::hub::remote::workspace::{RemoteWorkspace, refresh};
use crate::model::{Check, Checks, ClaimProgress, Gate, GateResult, PlayId, Task, TaskId};

impl Hub {
    /// Runs the gates of a claim, one after the other, where its agent works.
    pub(in crate::hub) fn run_gates(
        &self,
        task: TaskId,
        attempt: usize,
        gates: Vec<String>,
        cwd: PathBuf,
    ) {
        let mark = format!("WHEELHOUSE_GATE={}:{task}:{attempt}", self.paths.session);
        let known = self.engine.task(task).filter(|task| task.attempts.len() == attempt);
        let Some(open) = known.and_then(Task::open) else { return };
        // What was put off may not be wanted any more.
        if !open.claim.as_ref().is_some_and(|claim| claim.progress == ClaimProgress::Gates) {
            return;
        }
        let began = open.started;
        let abroad = self.shown_at(&cwd);
        let bench = GateContext { cwd, mark, began };
        let promised = |title: &str, version| self.engine.promised(task, title, version);
        let gates = gates.into_iter().map(|gate| with_promise(gate, promised)).collect();
        self.when_done(check_fresh(abroad, gates, bench), move |hub, checks| {
            hub.decide(Event::Gates { task, attempt, checks });
        });
    }

    /// Runs the gates that stand between a run's stage, in a round of it, and the next.
    pub(in crate::hub) fn run_stage_gates(
        &self,
        (play, stage, round): (PlayId, usize, u32),
        gates: Vec<String>,
        cwd: PathBuf,
    ) {
        let mark = format!("WHEELHOUSE_GATE={}:{play}:{stage}", self.paths.session);
        let Some(began) = self.engine.play(play).map(|play| play.started) else { return };
        let abroad = self.shown_at(&cwd);
        let bench = GateContext { cwd, mark, began };
        let promised = |title: &str, version| self.engine.promised_in(play, title, version);
        let gates = gates.into_iter().map(|gate| with_promise(gate, promised)).collect();
        self.when_done(check_fresh(abroad, gates, bench), move |hub, checks| {
            hub.decide(Event::StageGates { play, stage, round, checks });
        });
    }

    /// Looks which files were modified where an agent works.
    pub(in crate::hub) fn survey(&self, task: TaskId, attempt: usize, cwd: PathBuf) {
        self.in_background(
            move || file_tree::modified(&cwd),
            move |hub, files| {
                let files = files.unwrap_or_default();
                hub.decide(Event::ModifiedListed { task, attempt, files });
            },
        );
    }
}

/// Adds to a gate about a contract what the engine knows of it.
fn with_promise(
    gate: String,
    promised: impl Fn(&str, Option<u32>) -> ContractFiles,
) -> (String, Option<ContractFiles>) {
    let promise = match Gate::parse(&gate) {
        Ok(Gate { check: Check::Contract { title, version }, .. }) => {
            Some(promised(&title, version))
        }
        _ => None,
    };
    (gate, promise)
}

/// Runs gates on the files as they are now, also where those are elsewhere.
async fn check_fresh(
    abroad: Option<RemoteWorkspace>,
    gates: Vec<(String, Option<ContractFiles>)>,
    bench: GateContext,
) -> Checks {
    match refresh(abroad).await {
        Ok(()) => check_all(gates, &bench).await,
        Err(reason) => unfetched(gates, &reason),
    }
}

/// Nothing passes on files that are not those that are claimed to be good.
fn unfetched(gates: Vec<(String, Option<ContractFiles>)>, reason: &str) -> Checks {
    let failed = |(gate, _)| GateResult { gate, passed: false, output: reason.to_owned() };
    let results = gates.into_iter().map(failed).collect();
    Checks { results, tree_before: None, tree_after: None }
}

/// Runs gates one after the other, and numbers the files before and after.
async fn check_all(gates: Vec<(String, Option<ContractFiles>)>, bench: &GateContext) -> Checks {
    let tree_before = number(bench.cwd.clone()).await;
    let mut results = Vec::new();
    for (gate, promise) in gates {
        let (passed, output) = gate_check::check(&gate, bench, promise).await;
        results.push(GateResult { gate, passed, output });
    }
    let tree_after = number(bench.cwd.clone()).await;
    Checks { results, tree_before, tree_after }
}

async fn number(cwd: PathBuf) -> Option<String> {
    tokio::task::spawn_blocking(move || file_tree::number(&cwd)).await.ok().flatten()
}
