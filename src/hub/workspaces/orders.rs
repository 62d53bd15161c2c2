//! Carries out what was decided about workspaces beside the hub: makes, compares, merges and removes them.

use crate::engine::{Event, WorkspaceEvent, WorkspaceOrder};
use crate::hub::remote::workspace::{RemoteWorkspace, refresh};
use crate::hub::tasks::gate_check::{self, GateContext};
use crate::model::{Clearing, Merge, MergeOutcome, Moment, Workspace};
use crate::workspace::inside::resolved;
use crate::workspace::{self, Candidate, Cleared, Prospect, Scratch, Search, Site, WorkspaceError};

/// A branch that moves away under us this often is in other hands.
const MERGES_MAX: usize = 5;

/// What orders about workspaces need to know.
#[derive(Debug)]
pub(in crate::hub) struct WorkspaceContext {
    pub(in crate::hub) site: Site,
    pub(in crate::hub) session: String,
    pub(in crate::hub) now: Moment,
    /// Present if the workspace is elsewhere.
    pub(in crate::hub) remote: Option<RemoteWorkspace>,
    /// Finds what is left of one that could not be made.
    pub(in crate::hub) search: Search,
}

/// Carries an order out; the engine is told what came of it.
pub(in crate::hub) async fn carry_out(
    order: WorkspaceOrder,
    context: WorkspaceContext,
) -> Vec<Event> {
    let WorkspaceContext { site, session, now, remote, search } = context;
    let event = match order {
        WorkspaceOrder::Make(workspace) => make(site, *workspace, remote).await,
        WorkspaceOrder::Clear(workspace, clearing) => {
            clear(site, *workspace, clearing, (remote, session, now)).await
        }
        WorkspaceOrder::Rescue(workspace) => rescue(site, *workspace, remote).await,
        WorkspaceOrder::Compare(workspace) => compare(*workspace, remote).await,
        WorkspaceOrder::Merge(merge, workspace) => {
            let outcome = match commit_there(remote.clone(), &merge).await {
                Ok(()) => merge_back(site, &merge, &workspace, (session, now)).await,
                Err(error) => Err(error),
            };
            if let Ok(MergeOutcome::Conflict { .. } | MergeOutcome::Broken { .. }) = outcome {
                offer_there(remote, merge.terms.into.clone()).await;
            }
            let outcome = outcome.unwrap_or_else(|error| failed(&error));
            Event::Merged { merge: merge.id, outcome }
        }
    };
    let mut events = vec![event];
    // What was left of one that could not be made is on record from then on.
    if let [Event::Workspace { event: WorkspaceEvent::NotMade { .. }, .. }] = events.as_slice() {
        let left = tokio::task::spawn_blocking(move || found(search)).await;
        events.extend(left.unwrap_or_default());
    }
    events
}

/// Returns what the engine is told of an order that cannot be put on record, and so is not carried out; an
/// order that only looks is carried out all the same.
pub(in crate::hub) fn leave_undone(
    order: WorkspaceOrder,
    reason: &str,
) -> Result<Event, WorkspaceOrder> {
    let reason = format!("it could not be put on record: {reason}");
    Ok(match order {
        WorkspaceOrder::Make(workspace) => told(&workspace, WorkspaceEvent::NotMade { reason }),
        WorkspaceOrder::Clear(workspace, _) => told(&workspace, WorkspaceEvent::Kept { reason }),
        order @ (WorkspaceOrder::Rescue(_) | WorkspaceOrder::Compare(_)) => return Err(order),
        WorkspaceOrder::Merge(merge, _) => {
            let outcome = MergeOutcome::Failed { reason, hint: None };
            Event::Merged { merge: merge.id, outcome }
        }
    })
}

/// Looks for workspaces that are on the disk and not on record, and returns what the engine is told of them.
pub(in crate::hub) fn found(mut search: Search) -> Vec<Event> {
    search.folder = resolved(&search.folder);
    let found = search.run().unwrap_or_else(|error| {
        tracing::warn!(%error, "workspaces on the disk could not be looked for");
        Vec::new()
    });
    let told = |workspace: Workspace| {
        tracing::warn!(agent = %workspace.agent, "a workspace is there that is not on record");
        let agent = workspace.agent.clone();
        Event::Workspace { agent, event: WorkspaceEvent::Found(Box::new(workspace)) }
    };
    found.into_iter().map(told).collect()
}

fn told(workspace: &Workspace, event: WorkspaceEvent) -> Event {
    Event::Workspace { agent: workspace.agent.clone(), event }
}

/// Does what takes long elsewhere.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(WorkspaceError::Refused(error.to_string())))
}

async fn make(site: Site, workspace: Workspace, remote: Option<RemoteWorkspace>) -> Event {
    let (place, plan, there) = (site.clone(), workspace.clone(), remote.clone());
    let making = aside(move || {
        // What was there before is nobody's to clear away.
        let was_there = plan.plot.root.symlink_metadata().is_ok();
        let made = match there {
            Some(there) => there.make(),
            None => workspace::make(&place, &plan),
        };
        Ok((made, was_there))
    });
    let (made, was_there) = making.await.unwrap_or_else(|error| (Err(error), true));
    let event = match made {
        Ok(made) => WorkspaceEvent::Made(made),
        Err(error) if was_there => WorkspaceEvent::NotMade { reason: error.to_string() },
        Err(error) => {
            let reason = error.to_string();
            let plan = workspace.clone();
            let clearing = Clearing { is_unfinished: true, ..Clearing::default() };
            let clearing = aside(move || match remote {
                Some(there) => there.undo(),
                None => workspace::clear(&site, &plan, clearing),
            });
            let left = match clearing.await {
                Ok(Cleared::Removed { .. }) => String::new(),
                Ok(Cleared::Kept { reason }) => format!("; what was made of it is kept: {reason}"),
                Err(error) => format!("; what was made of it is kept: {error}"),
            };
            WorkspaceEvent::NotMade { reason: format!("{reason}{left}") }
        }
    };
    told(&workspace, event)
}

async fn clear(
    site: Site,
    workspace: Workspace,
    clearing: Clearing,
    (remote, session, now): (Option<RemoteWorkspace>, String, Moment),
) -> Event {
    let cleared = match remote {
        Some(there) => aside(move || there.clear(clearing)).await,
        None => try_to_clear(site, &workspace, clearing, (session, now)).await,
    };
    let event = match cleared {
        Ok(Cleared::Removed { rescue }) => WorkspaceEvent::Cleared { rescue },
        Ok(Cleared::Kept { reason }) => WorkspaceEvent::Kept { reason },
        Err(error) => WorkspaceEvent::Kept { reason: error.to_string() },
    };
    told(&workspace, event)
}

async fn try_to_clear(
    site: Site,
    workspace: &Workspace,
    clearing: Clearing,
    (session, began): (String, Moment),
) -> Result<Cleared, WorkspaceError> {
    let root = workspace.plot.root.clone();
    let is_there = aside(move || Ok(root.is_dir())).await?;
    if let Some(command) = workspace.plot.teardown.clone().filter(|_| is_there) {
        let (place, plan) = (site.clone(), workspace.clone());
        let refused = aside(move || workspace::refuse_to_clear(&place, &plan, clearing)).await?;
        if let Some(reason) = refused {
            return Ok(Cleared::Kept { reason });
        }
        if clearing.rescues {
            // What the command takes away with it is held by then.
            let (place, plan) = (site.clone(), workspace.clone());
            aside(move || workspace::rescue(&place, &plan)).await?;
        }
        let cwd = workspace.plot.project_root();
        let mark = format!("WHEELHOUSE_TEARDOWN={session}:{}", workspace.agent);
        let command = with_ports(workspace, &command);
        let (passed, output) =
            gate_check::check(&command, &GateContext { cwd, mark, began }, None).await;
        if !passed {
            let last = output.trim().lines().last().unwrap_or_default().to_owned();
            return Ok(Cleared::Kept { reason: format!("its tear-down command failed: {last}") });
        }
    }
    let plan = workspace.clone();
    aside(move || workspace::clear(&site, &plan, clearing)).await
}

fn with_ports(workspace: &Workspace, command: &str) -> String {
    let count = workspace.plot.port_count;
    match workspace.port {
        Some(port) => {
            format!("export WHEELHOUSE_PORT_BASE={port} WHEELHOUSE_PORT_COUNT={count}; {command}")
        }
        None => command.to_owned(),
    }
}

async fn rescue(site: Site, workspace: Workspace, remote: Option<RemoteWorkspace>) -> Event {
    let plan = workspace.clone();
    let rescuing = aside(move || match remote {
        Some(there) => there.rescue(),
        None => workspace::rescue(&site, &plan),
    });
    let outcome = rescuing.await;
    told(
        &workspace,
        WorkspaceEvent::Rescued { outcome: outcome.map_err(|error| error.to_string()) },
    )
}

/// Looks what has become of a workspace; where it is elsewhere and cannot be reached, of what is known
/// of it.
pub(in crate::hub) async fn compare(
    workspace: Workspace,
    remote: Option<RemoteWorkspace>,
) -> Event {
    if let Err(reason) = refresh(remote).await {
        tracing::warn!(agent = %workspace.agent, reason, "it is compared as it was");
    }
    let plan = workspace.clone();
    let looked = aside(move || {
        Ok((workspace::differing(&plan).ok().flatten(), workspace::shared_settings(&plan).ok()))
    });
    let (files, settings) = looked.await.unwrap_or_default();
    told(&workspace, WorkspaceEvent::Compared { files, settings })
}

fn failed(error: &WorkspaceError) -> MergeOutcome {
    let hint = error.hint().map(str::to_owned);
    MergeOutcome::Failed { reason: error.to_string(), hint }
}

/// Fetches what is to be merged from elsewhere; what is not committed there is, unless it is to
/// stay behind.
async fn commit_there(
    remote: Option<RemoteWorkspace>,
    merge: &Merge,
) -> Result<(), WorkspaceError> {
    let Some(there) = remote else { return Ok(()) };
    let is_to_commit = !merge.terms.committed_only && !merge.terms.is_trial;
    let message = is_to_commit.then(|| workspace::message(merge));
    let gone = || WorkspaceError::Refused("its workspace elsewhere is gone".to_owned());
    aside(move || there.fetch(message)?.then_some(()).ok_or_else(gone)).await
}

/// Lets an agent elsewhere see the branch that its work did not fit onto.
async fn offer_there(remote: Option<RemoteWorkspace>, branch: String) {
    let Some(there) = remote else { return };
    if let Err(error) = aside(move || there.offer(&branch)).await {
        tracing::warn!(%error, "a remote agent cannot see the branch that its work conflicts with");
    }
}

/// Merges, has the gates run on the merged tree, and only then moves the branch.
async fn merge_back(
    site: Site,
    merge: &Merge,
    workspace: &Workspace,
    about: (String, Moment),
) -> Result<MergeOutcome, WorkspaceError> {
    for _ in 0..MERGES_MAX {
        let (terms, plan) = (merge.clone(), workspace.clone());
        let candidate = match aside(move || workspace::prepare(&terms, &plan)).await? {
            Prospect::There { commit, tip } => {
                let (files, was_there) = (Vec::new(), true);
                return Ok(MergeOutcome::Done { commit, tip, files, was_there });
            }
            Prospect::Conflict { files, onto } => {
                return Ok(MergeOutcome::Conflict { files, onto });
            }
            Prospect::Ready(candidate) => candidate,
        };
        if !merge.terms.is_trial {
            if let Some(broken) = run_gates(&site, merge, workspace, &candidate, &about).await? {
                return Ok(broken);
            }
            let (place, terms) = (site.clone(), merge.clone());
            let (plan, next) = (workspace.clone(), candidate.clone());
            if !aside(move || workspace::advance(&place, &terms, &plan, &next)).await? {
                continue;
            }
        }
        let Candidate { commit, tip, files, .. } = candidate;
        return Ok(MergeOutcome::Done { commit, tip, files, was_there: false });
    }
    let reason = format!("`{}` moves whenever it is about to be moved", merge.terms.into);
    Err(WorkspaceError::Refused(reason))
}

/// Runs the gates on the merged tree; returns the first that fails, and whose fault it is.
async fn run_gates(
    site: &Site,
    merge: &Merge,
    workspace: &Workspace,
    candidate: &Candidate,
    about: &(String, Moment),
) -> Result<Option<MergeOutcome>, WorkspaceError> {
    if merge.terms.gates.is_empty() {
        return Ok(None);
    }
    let gates = merge.terms.gates.clone();
    let commit = candidate.commit.clone();
    let failed = gates_at(site, merge, workspace, commit, &gates, about).await?;
    let Some((gate, output)) = failed else { return Ok(None) };
    let ours = candidate.ours.clone();
    let alone = [gate.clone()];
    let without = gates_at(site, merge, workspace, ours, &alone, about).await?;
    Ok(Some(MergeOutcome::Broken { gate, output, fails_without: without.is_some() }))
}

/// Returns the first gate that does not pass on a commit, with what it printed.
async fn gates_at(
    site: &Site,
    merge: &Merge,
    workspace: &Workspace,
    commit: String,
    gates: &[String],
    (session, began): &(String, Moment),
) -> Result<Option<(String, String)>, WorkspaceError> {
    let (place, terms, plan) = (site.clone(), merge.clone(), workspace.clone());
    let scratch = aside(move || Scratch::lay_out(&place, &terms, &plan, &commit)).await?;
    let mark = format!("WHEELHOUSE_GATE={session}:{}", merge.id);
    let bench = GateContext { cwd: scratch.project(), mark, began: *began };
    let mut failed = None;
    for gate in gates {
        let (passed, output) = gate_check::check(gate, &bench, None).await;
        if !passed {
            failed = Some((gate.clone(), output));
            break;
        }
    }
    let place = site.clone();
    aside(move || scratch.take_away(&place)).await?;
    Ok(failed)
}
