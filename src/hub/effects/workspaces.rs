//! Routes orders about workspaces, and takes in those that are on the disk and not on record.

use std::collections::BTreeSet;
use std::path::Path;

use crate::engine::WorkspaceOrder;
use crate::hub::Hub;
use crate::hub::remote::way::way;
use crate::hub::remote::workspace::RemoteWorkspace;
use crate::hub::workspaces::orders::{WorkspaceContext, carry_out, found, leave_undone};
use crate::hub::workspaces::terms::{plain_plot, workspace_folder};
use crate::model::{AgentName, Workspace};
use crate::workspace::{Search, Site};

impl Hub {
    pub(in crate::hub) fn carry_out_workspace(&self, order: WorkspaceOrder) {
        let workspace = order.workspace();
        let context = WorkspaceContext {
            site: Site::of(&self.paths),
            session: self.paths.session.to_string(),
            now: self.clock.now(),
            remote: self.remote_of(workspace),
            search: self.search(Some(&workspace.agent)),
        };
        self.when_done(carry_out(order, context), |hub, events| {
            for event in events {
                hub.decide(event);
            }
        });
    }

    /// Tells the engine that an order is not carried out, since it cannot be put on record.
    pub(in crate::hub) fn leave_workspace_undone(&mut self, order: WorkspaceOrder, reason: &str) {
        match leave_undone(order, reason) {
            Ok(event) => self.decide(event),
            Err(order) => self.carry_out_workspace(order),
        }
    }

    /// Takes in workspaces before anyone is served: an agent that is started would be refused its own.
    pub(in crate::hub) async fn take_in_workspaces(&mut self) {
        let search = self.search(None);
        let found = tokio::task::spawn_blocking(move || found(search)).await;
        for event in found.unwrap_or_default() {
            self.decide(event);
        }
    }

    /// Returns where to look for those of whom nothing is on record, or will be.
    fn search(&self, without: Option<&AgentName>) -> Search {
        let known = self.engine.workspaces().map(|one| one.agent.clone());
        let known: BTreeSet<AgentName> = known.filter(|agent| Some(agent) != without).collect();
        let settings = &self.settings.workspace;
        Search {
            site: Site::of(&self.paths),
            plan: plain_plot(&self.paths, settings),
            folder: workspace_folder(&self.paths, settings),
            session: self.paths.session.to_string(),
            known,
            now: self.clock.now(),
        }
    }

    /// Returns what it takes to reach a workspace, if it is elsewhere.
    pub(in crate::hub) fn remote_of(&self, workspace: &Workspace) -> Option<RemoteWorkspace> {
        let runner = workspace.plot.runner.as_deref()?;
        let way = way(&self.paths, &workspace.agent, runner.clone());
        Some(RemoteWorkspace::new(Site::of(&self.paths), way, workspace.clone()))
    }

    /// Returns what it takes to have the files at a place as they are elsewhere, if they are shown
    /// there.
    pub(in crate::hub) fn shown_at(&self, place: &Path) -> Option<RemoteWorkspace> {
        let is_it = |one: &&Workspace| place.starts_with(&one.plot.root) && one.outpost.is_some();
        self.remote_of(self.engine.workspaces().find(is_it)?)
    }
}
