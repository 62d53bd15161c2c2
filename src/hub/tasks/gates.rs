//! Checks claims by ourselves: runs the gates of a task one after the other.

use std::path::PathBuf;

use super::file_tree;
use super::gate_check::{self, ContractFiles, GateContext};
use crate::hub::remote::workspace::{RemoteWorkspace, refresh};
use crate::model::{Check, Checks, Gate, GateResult};

/// Adds to a gate about a contract what the engine knows of it.
pub(in crate::hub) fn with_promise(
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
pub(in crate::hub) async fn check_fresh(
    remote: Option<RemoteWorkspace>,
    gates: Vec<(String, Option<ContractFiles>)>,
    bench: GateContext,
) -> Checks {
    match refresh(remote).await {
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
