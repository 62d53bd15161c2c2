//! What workspaces become while their agents work: looked at when a turn ends.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::journal::Place;
use crate::engine::{Effect, Engine, WorkspaceOrder};
use crate::model::{AgentName, Entry, Workspace, WorkspaceKind, WorkspaceState};

/// Files that the record names of each workspace.
const FILES_MAX: usize = 200;

/// Which workspaces are to be compared with what they began with.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Comparisons {
    wanted: BTreeSet<AgentName>,
    under_way: BTreeSet<AgentName>,
}

impl Engine {
    /// Wants to know what an agent's workspace has become.
    pub(in crate::engine) fn want_comparison(&mut self, agent: &AgentName) {
        let is_tree = |one: &Workspace| one.plot.kind == WorkspaceKind::Worktree;
        if self.workspaces.get(agent).is_some_and(is_tree) {
            self.comparisons.wanted.insert(agent.clone());
        }
    }

    /// Orders the comparisons that are wanted, one at a time for each workspace.
    pub(in crate::engine) fn order_comparisons(&mut self, effects: &mut Vec<Effect>) {
        let Comparisons { wanted, under_way } = &mut self.comparisons;
        let next = wanted.extract_if(.., |agent| !under_way.contains(agent));
        for agent in next.collect::<Vec<_>>() {
            let ready = self.workspaces.get(&agent);
            let ready = ready.filter(|one| one.state == WorkspaceState::Ready).cloned();
            if let Some(workspace) = ready {
                under_way.insert(agent);
                effects.push(Effect::Workspace(WorkspaceOrder::Compare(Box::new(workspace))));
            }
        }
    }

    pub(in crate::engine) fn note_comparison(
        &mut self,
        agent: &AgentName,
        files: Option<Vec<String>>,
        settings: Option<BTreeMap<String, String>>,
    ) {
        self.comparisons.under_way.remove(agent);
        let Some(workspace) = self.workspaces.get_mut(agent) else { return };
        let before = (workspace.files.clone(), workspace.changed_settings.clone());
        if let Some(mut files) = files {
            files.truncate(FILES_MAX);
            workspace.files = files;
        }
        if let Some(now) = settings {
            let then = &workspace.settings;
            let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
            let changed = names.into_iter().filter(|name| then.get(*name) != now.get(*name));
            workspace.changed_settings = changed.cloned().collect();
        }
        if before == (workspace.files.clone(), workspace.changed_settings.clone()) {
            return;
        }
        let news = workspace.changed_settings.clone();
        self.touch(Place::Workspace(agent.clone()));
        if news != before.1 && !news.is_empty() {
            self.tell(Entry::new("workspace.settings", news.join(", ")).of(agent));
        }
    }
}
