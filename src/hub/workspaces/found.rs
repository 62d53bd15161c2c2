//! Takes in workspaces that are on the disk and not on record.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::engine::{Event, WorkspaceEvent};
use crate::hub::Hub;
use crate::hub::agents::workspace_plan::workspace_folder;
use crate::model::{AgentName, Plot, WorkspaceKind};
use crate::workspace::Search;
use crate::workspace::inside::resolved;

impl Hub {
    /// Looks for them before anyone is served: an agent that is started would be refused its own.
    pub(in crate::hub) async fn take_in_workspaces(&mut self) {
        let search = self.search(None);
        let found = tokio::task::spawn_blocking(move || events(search)).await;
        for event in found.unwrap_or_default() {
            self.decide(event);
        }
    }

    /// Returns where to look for those of whom nothing is on record, or will be.
    pub(in crate::hub) fn search(&self, without: Option<&AgentName>) -> Search {
        let known = self.engine.workspaces().map(|one| one.agent.clone());
        let known: BTreeSet<AgentName> = known.filter(|agent| Some(agent) != without).collect();
        let settings = &self.settings.workspace;
        let plan = Plot {
            kind: WorkspaceKind::Worktree,
            project: self.paths.project.clone(),
            root: PathBuf::new(),
            place: PathBuf::new(),
            cwd: PathBuf::new(),
            branch: String::new(),
            base: String::new(),
            copy: Vec::new(),
            setup: settings.setup.clone(),
            teardown: settings.teardown.clone(),
            disposable: settings.disposable.clone(),
            port_base: settings.port_base,
            port_count: settings.ports,
            runner: None,
            restores: None,
        };
        Search {
            site: self.site(),
            plan,
            folder: workspace_folder(&self.paths, settings),
            session: self.paths.session.to_string(),
            known,
            now: self.clock.now(),
        }
    }
}

/// Returns what is found, as the engine is told of it.
pub(in crate::hub) fn events(mut search: Search) -> Vec<Event> {
    search.folder = resolved(&search.folder);
    let found = search.run().unwrap_or_else(|error| {
        tracing::warn!(%error, "workspaces on the disk could not be looked for");
        Vec::new()
    });
    let told = |workspace: crate::model::Workspace| {
        tracing::warn!(agent = %workspace.agent, "a workspace is there that is not on record");
        let agent = workspace.agent.clone();
        Event::Workspace { agent, event: WorkspaceEvent::Found(Box::new(workspace)) }
    };
    found.into_iter().map(told).collect()
}
