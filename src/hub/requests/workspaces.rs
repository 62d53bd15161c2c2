//! What clients ask about workspaces.

use std::path::Path;

use crate::api::{
    Fault, MergeStatus, OverlapStatus, RescueStatus, Response, WorkspaceRequest, WorkspaceStatus,
};
use crate::config::Loaded;
use crate::engine::{Engine, Seat};
use crate::hub::Hub;
use crate::hub::agents::planner::Planner;
use crate::hub::clients::askers::{Asker, Reply};
use crate::hub::remote::workspace::refresh_at_times;
use crate::hub::tasks::gate_check;
use crate::hub::workspaces::comparison::Comparison;
use crate::hub::workspaces::orders::compare;
use crate::hub::workspaces::terms::merge_terms;
use crate::model::{
    Against, AgentName, Clearing, Command, InvalidName, Merge, MergeTerms, Workspace,
    WorkspaceCommand, WorkspaceKind, WorkspaceState,
};
use crate::workspace;

impl Hub {
    /// Returns the answer, unless it comes later.
    pub(in crate::hub) fn obey_about_workspaces(
        &mut self,
        asker: Asker,
        request: WorkspaceRequest,
    ) -> Option<Reply> {
        let command = match request {
            WorkspaceRequest::List => {
                self.list_afresh(asker);
                return None;
            }
            WorkspaceRequest::Rescues => {
                let project = self.paths.project.clone();
                let list = move || rescue_list(&project);
                self.in_background(list, move |hub, listed| hub.answer(asker, listed.flatten()));
                return None;
            }
            WorkspaceRequest::Clean { agents, rescue, drop_ignored, gone } => {
                let clearing = Clearing {
                    rescues: rescue,
                    drops_ignored: drop_ignored,
                    // Nobody gives up all of them at once without having named one.
                    accepts_missing: gone && !agents.is_empty(),
                    ..Clearing::default()
                };
                named(&agents).map(|agents| WorkspaceCommand::Clean { agents, clearing })
            }
            WorkspaceRequest::Rescue { agents } => {
                named(&agents).map(|agents| WorkspaceCommand::Rescue { agents })
            }
            WorkspaceRequest::Restore { name } => {
                self.restore(asker, name);
                return None;
            }
            merge @ WorkspaceRequest::Merge { .. } => {
                self.merge(asker, merge);
                return None;
            }
        };
        self.command(asker, command.map(Command::Workspace))
    }

    fn restore(&mut self, asker: Asker, wanted: String) {
        self.plan(
            Some(asker),
            |_, _| {
                Ok(move |planner: &Planner, loaded: &Loaded| {
                    restore_command(planner, loaded, &wanted)
                })
            },
            move |hub, _, planned| {
                let command = planned.map(|(_, command)| Command::Workspace(command));
                hub.command(asker, command)
            },
        );
    }

    fn merge(&mut self, asker: Asker, request: WorkspaceRequest) {
        self.plan(
            Some(asker),
            |_, _| Ok(|_: &Planner, _: &Loaded| Ok(())),
            move |hub, _, loaded| {
                let command = loaded.and_then(|(loaded, ())| merge_command(&loaded, request));
                hub.command(asker, command.map(Command::Workspace))
            },
        );
    }

    /// Lets git compare an agent's files; the answer comes later, unless there is no such agent.
    pub(in crate::hub) fn ask_for_diff(
        &self,
        asker: Asker,
        name: &str,
        against: Against,
        paths: Vec<String>,
    ) -> Option<Reply> {
        let into = &self.settings.workspace.into;
        let comparison = match Comparison::new(&self.engine, &self.paths, into, name, against) {
            Ok(comparison) => comparison,
            Err(fault) => return Some(Err(fault)),
        };
        let workspace = self.engine.workspace(comparison.agent());
        // Whoever asks for hunks has just asked for the files.
        let remote = workspace.filter(|_| paths.is_empty()).and_then(|one| self.remote_of(one));
        let comparing = async move {
            if let Err(reason) = refresh_at_times(remote).await {
                tracing::debug!(reason, "it is compared as it was");
            }
            let answer = tokio::task::spawn_blocking(move || comparison.run(paths)).await;
            answer.unwrap_or_else(|_| Err(Fault::new("The files could not be compared")))
        };
        self.when_done(comparing, move |hub, answer| hub.answer(asker, answer));
        None
    }

    /// Compares all workspaces first: between turns nobody looks at them.
    fn list_afresh(&self, asker: Asker) {
        let is_tree = |one: &&Workspace| {
            one.plot.kind == WorkspaceKind::Worktree && one.state == WorkspaceState::Ready
        };
        let open = self.engine.workspaces().filter(is_tree);
        let open: Vec<_> = open.map(|one| (one.clone(), self.remote_of(one))).collect();
        let comparing = async move {
            let mut events = Vec::new();
            for (workspace, remote) in open {
                events.push(compare(workspace, remote).await);
            }
            events
        };
        self.when_done(comparing, move |hub, events| {
            for event in events {
                hub.decide(event);
            }
            let workspaces = workspace_list(&hub.engine);
            hub.answer(asker, Ok(Response::Workspaces { workspaces }));
        });
    }
}

/// Returns all workspaces as they were last seen.
pub fn workspace_list(engine: &Engine) -> Vec<WorkspaceStatus> {
    let status = |workspace: &Workspace| {
        let (agent, plot) = (&workspace.agent, &workspace.plot);
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let overlaps = engine.overlaps_of(agent).into_iter().map(|overlap| {
            let with = if overlap.agent == *agent { overlap.other } else { overlap.agent };
            OverlapStatus {
                with: with.to_string(),
                owned: overlap.other_owns,
                files: overlap.files,
            }
        });
        let is_its = |merge: &&Merge| merge.agent == *agent && merge.since >= workspace.since;
        let merge = engine.merges().filter(is_its).last();
        WorkspaceStatus {
            agent: agent.to_string(),
            kind: plot.kind,
            state: workspace.state.to_string(),
            in_use: engine.seat(agent).is_some_and(Seat::is_live),
            root: plot.project_root().display().to_string(),
            runner: plot.runner.as_ref().map(|runner| runner.name.clone()),
            root_there: workspace.outpost.as_ref().map(|one| one.root.display().to_string()),
            branch: some(&plot.branch),
            base: some(&plot.base),
            merged: workspace.merged.clone(),
            port_base: workspace.port,
            port_count: plot.port_count,
            files: workspace.files.clone(),
            overlaps: overlaps.collect(),
            changed_settings: workspace.changed_settings.clone(),
            merge: merge.map(MergeStatus::from),
            note: workspace.note.clone(),
            since: workspace.since.to_rfc3339(),
        }
    };
    engine.workspaces().map(status).collect()
}

/// Returns what was rescued in the project's repository.
pub fn rescue_list(project: &Path) -> Result<Response, Fault> {
    let listed = workspace::rescues(project);
    let listed = listed.map_err(|error| Fault::new(error.to_string()))?;
    let rescue = |(name, commit)| RescueStatus { name, commit };
    Ok(Response::Rescues { rescues: listed.into_iter().map(rescue).collect() })
}

fn restore_command(
    planner: &Planner,
    loaded: &Loaded,
    wanted: &str,
) -> Result<WorkspaceCommand, Fault> {
    let session = planner.paths.session.to_string();
    let found = workspace::find_rescue(&planner.paths.project, &session, wanted);
    let found = found.map_err(|error| Fault::new(error.to_string()))?;
    let Some(found) = found else {
        let wanted: String = wanted.chars().take(200).collect();
        let hint = "List the rescues with `wheelhouse workspace rescue`";
        return Err(Fault::new(format!("Nothing was rescued as `{wanted}`")).with_hint(hint));
    };
    let agent = found.agent.clone();
    let plot = planner.restored_plot(found, &loaded.settings.workspace)?;
    Ok(WorkspaceCommand::Restore { agent, plot: Box::new(plot) })
}

/// Returns how work is brought back. The gates run commands, so they are those of files that are trusted
/// as they are now.
fn merge_command(loaded: &Loaded, request: WorkspaceRequest) -> Result<WorkspaceCommand, Fault> {
    let WorkspaceRequest::Merge { agent, form, into, gates, message, committed, trial, send_back } =
        request
    else {
        return Err(Fault::new("That is no merge"));
    };
    let mut terms = merge_terms(&loaded.settings.workspace);
    for gate in &gates {
        gate_check::refuse(gate).map_err(Fault::new)?;
    }
    terms.gates.extend(gates);
    let terms = MergeTerms {
        form: form.unwrap_or(terms.form),
        into: into.unwrap_or(terms.into),
        message,
        committed_only: committed,
        is_trial: trial,
        sends_back: send_back,
        gates: terms.gates,
    };
    let agent = name(&agent)?;
    Ok(WorkspaceCommand::Merge { agent, terms })
}

fn named(agents: &[String]) -> Result<Vec<AgentName>, Fault> {
    agents.iter().map(|agent| name(agent)).collect()
}

fn name(agent: &str) -> Result<AgentName, Fault> {
    agent.parse().map_err(|error: InvalidName| Fault::new(error.to_string()))
}
