//! Serves workspaces for a hub on another machine: worktrees beside a clone.
//!
//! It is made, looked into and removed as one here is. The clone itself stays: it holds whatever was
//! rescued there.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::local::write_inside;
use super::merge_refusals::refuse_in_use;
use super::places::{Site, Turn};
use super::rescue::{place, rescue};
use super::{Cleared, WorkspaceError, clear, make, refuse_to_clear};
use crate::git::Repository;
use crate::model::{Clearing, Made, Workspace, lies_inside};

/// Which commits show what is in a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tips {
    /// The commit that is checked out.
    pub head: String,
    /// One with all files as they are; the same, if all of them are committed.
    pub files: String,
}

/// A local file that a workspace gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    pub name: String,
    pub mode: u32,
    pub bytes: u64,
}

/// Rescue refs, and the commits that they stand for.
type Rescues = Vec<(String, String)>;

/// A workspace here whose hub is elsewhere.
#[derive(Debug)]
pub struct Station {
    site: Site,
    workspace: Workspace,
    repository: Repository,
}

impl Station {
    /// Finds the clone in a folder, and makes it if it is not there yet.
    pub fn open(
        site: Site,
        folder: &Path,
        mut workspace: Workspace,
    ) -> Result<Self, WorkspaceError> {
        let clone = folder.join("repository");
        let given = clone.join("given").join(workspace.agent.as_str());
        fs::create_dir_all(&given).map_err(WorkspaceError::at(&given))?;
        let folder = folder.canonicalize().map_err(WorkspaceError::at(folder))?;
        let clone = folder.join("repository");
        let repository = {
            let _turn = Turn::take(&folder.join("repository.lock"))?;
            match Repository::find(&clone) {
                Ok(found) if found.top() == clone => found,
                // There is none, or one that the folder happens to lie in.
                Ok(_) | Err(_) => Repository::begin(&clone)?,
            }
        };
        let plot = &mut workspace.plot;
        plot.project = clone.join("given").join(workspace.agent.as_str());
        plot.root = folder.join("trees").join(workspace.agent.as_str());
        plot.runner = None;
        Ok(Self { site, workspace, repository })
    }

    pub fn root(&self) -> &Path {
        &self.workspace.plot.root
    }

    /// Returns where the project lies in it.
    pub fn project(&self) -> PathBuf {
        self.workspace.plot.project_root()
    }

    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    pub fn setup_mark(&self) -> PathBuf {
        self.site.setup_mark(&self.workspace.agent)
    }

    /// Returns commits that are here, if this one is not.
    pub fn lacks(&self, commit: &str) -> Result<Option<Vec<String>>, WorkspaceError> {
        if self.repository.commit(commit)?.is_some() {
            return Ok(None);
        }
        let refs = self.repository.refs_below("refs")?;
        Ok(Some(refs.into_iter().map(|(_, commit)| commit).collect()))
    }

    /// Takes a commit in under a name.
    pub fn take(&self, pack: Option<File>, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        self.repository.take_in(pack, &[commit.to_owned()])?;
        if let Some(branch) = name.strip_prefix("refs/heads/") {
            refuse_in_use(&self.repository, branch)?;
        }
        let old = self.repository.commit(name)?;
        Ok(self.repository.move_ref(name, commit, old.as_deref())?)
    }

    /// Makes the workspace, with these files, whose content follows.
    pub fn make(&self, given: &[Given], content: &mut dyn Read) -> Result<Made, WorkspaceError> {
        if self.root().symlink_metadata().is_ok() {
            // A call that broke off made it; nobody has worked in it, or it stays.
            let clearing = Clearing { is_unfinished: true, ..Clearing::default() };
            if let Cleared::Kept { reason } = clear(&self.site, &self.workspace, clearing)? {
                let root = self.root().display();
                let words = format!("{root} is there already, and is kept: {reason}");
                return Err(WorkspaceError::Refused(words));
            }
        }
        let folder = &self.workspace.plot.project;
        for file in given {
            if !lies_inside(&file.name) {
                let words = format!("`{}` is not in the project", file.name);
                return Err(WorkspaceError::Refused(words));
            }
            let mut text = Vec::new();
            content
                .take(file.bytes)
                .read_to_end(&mut text)
                .and_then(|_| write_inside(folder, &file.name, &text, file.mode))
                .map_err(WorkspaceError::at(&folder.join(&file.name)))?;
        }
        let made = make(&self.site, &self.workspace);
        // They are where they belong by now, or nowhere.
        let emptied = fs::remove_dir_all(folder).and_then(|()| fs::create_dir(folder));
        emptied.map_err(WorkspaceError::at(folder))?;
        made
    }

    /// Returns what is in the workspace, and a pack with what the other side has not; nothing, if it
    /// is gone. With a message, what is not committed is first.
    pub fn send(
        &self,
        message: Option<&str>,
        known: Option<&Tips>,
    ) -> Result<Option<(Tips, Option<File>)>, WorkspaceError> {
        let plot = &self.workspace.plot;
        if plot.root.symlink_metadata().is_err() {
            return Ok(None);
        }
        let gone = || WorkspaceError::Refused("git does not know its workspace any more".into());
        let tree = self.repository.worktree(&plot.root).ok_or_else(gone)?;
        if let Some(what) = tree.operation().filter(|_| message.is_some()) {
            let words = format!("{what} is not finished in its workspace");
            return Err(WorkspaceError::Refused(words));
        }
        let head = tree.head()?.ok_or_else(gone)?;
        let saved = tree.commit_all(message.unwrap_or("As it is"), message.is_some())?;
        let tips = match saved {
            None => Tips { head: head.clone(), files: head },
            Some(commit) if message.is_some() => Tips { head: commit.clone(), files: commit },
            Some(commit) => Tips { head, files: commit },
        };
        if let Some(known) = known.filter(|known| self.is_same(known, &tips)) {
            return Ok(Some((known.clone(), None)));
        }
        let mut theirs = vec![plot.base.clone()];
        theirs
            .extend(known.into_iter().flat_map(|known| [known.head.clone(), known.files.clone()]));
        let pack = self.repository.pack(&[tips.head.clone(), tips.files.clone()], &theirs)?;
        Ok(Some((tips, pack)))
    }

    /// Says whether two show the same, though one was made later.
    fn is_same(&self, known: &Tips, tips: &Tips) -> bool {
        let tree = |commit: &str| self.repository.tree_of(commit).ok();
        let is_known = || tree(&known.files).is_some_and(|one| Some(one) == tree(&tips.files));
        known.head == tips.head && is_known()
    }

    /// Puts all that is in the workspace into a rescue ref here.
    pub fn rescue(&self) -> Result<(), WorkspaceError> {
        rescue(&self.site, &self.workspace).map(drop)
    }

    /// Says whether it may be removed, before anything is done about it. Returns why not.
    pub fn refuse_to_clear(&self, clearing: Clearing) -> Result<Option<String>, WorkspaceError> {
        refuse_to_clear(&self.site, &self.workspace, clearing)
    }

    /// Notes that the other side holds a commit, and all before it.
    pub fn hold(&self, commit: Option<&str>) -> Result<(), WorkspaceError> {
        let name = self.held_name();
        let old = self.repository.commit(&name)?;
        match (commit, old) {
            (Some(commit), old) if self.repository.commit(commit)?.is_some() => {
                Ok(self.repository.move_ref(&name, commit, old.as_deref())?)
            }
            (None, Some(old)) => Ok(self.repository.delete_ref(&name, &old)?),
            (Some(_) | None, _) => Ok(()),
        }
    }

    fn held_name(&self) -> String {
        format!("refs/wheelhouse/held/{}", self.workspace.agent)
    }

    /// Removes the workspace unless there is a reason to keep it.
    pub fn clear(&self, clearing: Clearing) -> Result<Cleared, WorkspaceError> {
        clear(&self.site, &self.workspace, clearing)
    }

    /// Returns all rescue refs of this agent that are here, and a pack with them.
    pub fn rescues(&self) -> Result<(Rescues, Option<File>), WorkspaceError> {
        let found = self.repository.refs_below(&place(&self.workspace))?;
        let commits: Vec<String> = found.iter().map(|(_, commit)| commit.clone()).collect();
        if commits.is_empty() {
            return Ok((found, None));
        }
        let pack =
            self.repository.pack(&commits, std::slice::from_ref(&self.workspace.plot.base))?;
        Ok((found, pack))
    }
}
