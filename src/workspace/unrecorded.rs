//! Finds workspaces that the record does not know.
//!
//! Git and the disk say where they are and what they stand on. What only the record knew is made up so
//! that nothing counts as known that may be work.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::make::settings;
use super::places::Site;
use super::{WorkspaceError, ports};
use crate::git::{GitError, Repository};
use crate::model::{AgentName, Moment, Plot, Workspace, WorkspaceKind, WorkspaceState};

/// Where to look, and for whom.
#[derive(Clone, Debug)]
pub struct Search {
    pub site: Site,
    /// As one would be made now; what is found is as it was made.
    pub plan: Plot,
    /// Where the workspaces of the session lie.
    pub folder: PathBuf,
    pub session: String,
    pub known: BTreeSet<AgentName>,
    pub now: Moment,
}

impl Search {
    /// Returns the workspaces that are found and not known, each as one whose agent has ended.
    pub fn run(&self) -> Result<Vec<Workspace>, WorkspaceError> {
        let mut found = Vec::new();
        match Repository::find(&self.plan.project) {
            Ok(repository) => {
                for (_, root) in repository.worktrees() {
                    let Some(agent) = self.agent_at(&root) else { continue };
                    match self.worktree(&repository, agent) {
                        Ok(workspace) => found.push(workspace),
                        Err(error) => {
                            tracing::warn!(%error, root = %root.display(), "not taken in");
                        }
                    }
                }
            }
            Err(GitError::NoRepository) => {}
            Err(error) => return Err(error.into()),
        }
        for agent in self.site.copies() {
            let is_new = found.iter().all(|one: &Workspace| one.agent != agent);
            if is_new && !self.known.contains(&agent) {
                let plan = Plot { kind: WorkspaceKind::Copy, ..self.plan.clone() };
                found.push(self.workspace(agent, plan)?);
            }
        }
        Ok(found)
    }

    /// Returns whose workspace would lie at a place, if it is not known.
    fn agent_at(&self, root: &Path) -> Option<AgentName> {
        let name = root.strip_prefix(&self.folder).ok()?.to_str()?;
        name.parse().ok().filter(|agent| !self.known.contains(agent))
    }

    fn worktree(
        &self,
        repository: &Repository,
        agent: AgentName,
    ) -> Result<Workspace, WorkspaceError> {
        let unknown = || WorkspaceError::Refused("git does not know it any more".to_owned());
        let tree = repository.worktree(&self.folder.join(agent.as_str())).ok_or_else(unknown)?;
        let tree = tree.without_files();
        let own = format!("wheelhouse/{}/{agent}", self.session);
        // Those who are held have a directory of their own among the names of branches.
        let deeper = format!("{own}/own");
        let is_held = repository.commit(&format!("refs/heads/{deeper}"))?.is_some();
        let branch = if is_held { deeper } else { own };
        // What the project has is not the workspace's work; anything else may be.
        let stands = repository.head()?;
        let base = match (tree.head()?, &stands) {
            (Some(head), Some(stands)) => repository.common(&head, stands)?,
            (Some(_) | None, _) => None,
        };
        let base = base.or(stands).unwrap_or_default();
        let top = repository.top();
        let place = self.plan.project.strip_prefix(top).unwrap_or(Path::new("")).to_owned();
        let kind = WorkspaceKind::Worktree;
        let plan = Plot { kind, place, branch, base, ..self.plan.clone() };
        let mut workspace = self.workspace(agent, plan)?;
        workspace.settings = settings(repository)?;
        Ok(workspace)
    }

    fn workspace(&self, agent: AgentName, plan: Plot) -> Result<Workspace, WorkspaceError> {
        let root = self.folder.join(agent.as_str());
        let plot = Plot { root, ..plan };
        let (base, count) = (plot.port_base, plot.port_count);
        let port = ports::claim(&self.site.ports(), &plot.root, base, count)?;
        let mut workspace = Workspace::new(agent, plot, self.now);
        workspace.state = WorkspaceState::Ready;
        workspace.note = Some("it was found on the disk: the record did not know of it".to_owned());
        workspace.port = port;
        Ok(workspace)
    }
}

impl Site {
    /// Returns the agents that have copies of the project.
    fn copies(&self) -> Vec<AgentName> {
        let inventories = fs::read_dir(self.own()).into_iter().flatten().flatten();
        let name = |entry: fs::DirEntry| {
            entry.file_name().to_str()?.strip_suffix(".files")?.parse::<AgentName>().ok()
        };
        inventories.filter_map(name).collect()
    }
}
