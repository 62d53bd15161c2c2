//! Mirrors a remote workspace in a worktree here.

use std::fs::{self, File};
use std::path::PathBuf;

use super::places::{Site, Turn};
use super::remote::{Given, Tips};
use super::rescue::{name, place, rescue};
use super::{WorkspaceError, local};
use crate::git::Repository;
use crate::model::{Clearing, Workspace};

/// Somebody's turn to ask for what a workspace elsewhere holds.
#[derive(Debug)]
pub struct Mirror<'w> {
    site: &'w Site,
    workspace: &'w Workspace,
    _turn: Turn,
}

impl<'w> Mirror<'w> {
    /// Waits for its turn.
    pub fn open(site: &'w Site, workspace: &'w Workspace) -> Result<Self, WorkspaceError> {
        let turn = Turn::take(&site.tips(&workspace.agent).with_extension("turn"))?;
        Ok(Self { site, workspace, _turn: turn })
    }

    /// Returns what it shows.
    pub fn tips(&self) -> Option<Tips> {
        let text = fs::read(self.site.tips(&self.workspace.agent)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Returns where a pack may lie for a moment.
    pub fn draft(&self) -> PathBuf {
        self.site.tips(&self.workspace.agent).with_extension("pack")
    }

    /// Shows what came. Whatever somebody has changed here meanwhile is rescued first.
    pub fn take_in(&self, tips: &Tips, pack: Option<File>) -> Result<(), WorkspaceError> {
        let plot = &self.workspace.plot;
        let repository = Repository::find(&plot.project)?;
        repository.take_in(pack, &[tips.head.clone(), tips.files.clone()])?;
        let gone = || WorkspaceError::Refused("git does not know its workspace any more".into());
        let tree = repository.worktree(&plot.root).ok_or_else(gone)?;
        let base = || Tips { head: plot.base.clone(), files: plot.base.clone() };
        let known = self.tips();
        let shown = known.clone().unwrap_or_else(base);
        let strange = match repository.commit(&shown.files)? {
            Some(files) => tree.unlike(&files)?,
            None => Vec::new(),
        };
        let stands = tree.head()?;
        let is_same = known.as_ref() == Some(tips) && stands.as_ref() == Some(&tips.head);
        if is_same && strange.is_empty() {
            return Ok(());
        }
        // One that was cut off stands at what it was to show, or at what it showed.
        let is_known = [Some(&shown.head), Some(&tips.head)].contains(&stands.as_ref());
        let is_cut_off = is_known && tree.unlike(&tips.files)?.is_empty();
        let is_ours = strange.is_empty() && is_known;
        if !is_ours && !is_cut_off {
            rescue(self.site, self.workspace)?;
        }
        tree.show(&tips.head, &tips.files, &tips.head)?;
        for path in tree.unlike(&tips.files)?.iter().filter(|path| strange.contains(path)) {
            let path = plot.root.join(path);
            fs::remove_file(&path).map_err(WorkspaceError::at(&path))?;
        }
        let (file, text) = (self.site.tips(&self.workspace.agent), serde_json::to_vec(tips));
        let draft = file.with_extension("new");
        text.map_err(std::io::Error::from)
            .and_then(|text| fs::write(&draft, text))
            .and_then(|()| fs::rename(&draft, &file))
            .map_err(WorkspaceError::at(&file))
    }

    /// Names what was rescued elsewhere. Returns the newest, if there is any.
    pub fn take_rescues(
        &self,
        rescues: &[(String, String)],
        pack: Option<File>,
    ) -> Result<Option<String>, WorkspaceError> {
        let commits: Vec<String> = rescues.iter().map(|(_, commit)| commit.clone()).collect();
        if commits.is_empty() {
            return Ok(None);
        }
        let repository = Repository::find(&self.workspace.plot.project)?;
        repository.take_in(pack, &commits)?;
        let mut newest = None;
        for commit in commits {
            let known = repository.refs_below(&place(self.workspace))?;
            let known = known.into_iter().find(|(_, held)| *held == commit);
            newest = Some(match known {
                Some((name, _)) => name,
                None => name(&repository, self.workspace, &commit)?,
            });
        }
        Ok(newest)
    }

    /// Forgets what it showed: it is gone.
    pub fn forget(&self) -> Result<(), WorkspaceError> {
        let file = self.site.tips(&self.workspace.agent);
        if file.exists() {
            fs::remove_file(&file).map_err(WorkspaceError::at(&file))?;
        }
        Ok(())
    }
}

/// Returns a commit as a pack for someone who has others.
pub fn packed(
    workspace: &Workspace,
    commit: &str,
    had: &[String],
) -> Result<Option<File>, WorkspaceError> {
    let repository = Repository::find(&workspace.plot.project)?;
    Ok(repository.pack(&[commit.to_owned()], had)?)
}

/// Returns the commit that a branch of the project stands at.
pub fn branch_tip(workspace: &Workspace, branch: &str) -> Result<Option<String>, WorkspaceError> {
    let repository = Repository::find(&workspace.plot.project)?;
    Ok(repository.commit(&format!("refs/heads/{branch}"))?)
}

/// Returns the local files that a workspace gets, and what is in them, one after the other.
pub fn given(workspace: &Workspace) -> Result<(Vec<Given>, Vec<u8>), WorkspaceError> {
    let plot = &workspace.plot;
    let (mut files, mut content) = (Vec::new(), Vec::new());
    for (name, text, mode) in local::listed(&plot.project, &plot.copy)? {
        files.push(Given { name, mode, bytes: text.len() as u64 });
        content.extend(text);
    }
    Ok((files, content))
}

/// Returns the terms on which what is here goes, once what it showed is gone: what git ignores here
/// was made by gates.
pub fn clearing_here(clearing: Clearing) -> Clearing {
    Clearing { drops_ignored: true, ..clearing }
}
