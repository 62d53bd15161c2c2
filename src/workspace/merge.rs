//! Merges the work of a workspace: makes a commit without any checkout, then moves the branch to it,
//! if the branch is still where it was.

use std::fs;
use std::path::{Path, PathBuf};

use super::WorkspaceError;
use super::inside::resolved;
use super::merge_refusals::{refuse_in_use, refuse_private_submodules};
use super::missing::is_missing;
use super::places::Site;
use super::removal::{erase, is_absent};
use crate::git::{GitError, Merged, Repository};
use crate::model::{DIRECTORY_MISSING, Merge, MergeForm, Workspace};

/// Commits that are put on top one by one; whoever has more means another form.
const REPLAYED_MAX: usize = 500;

/// What would come of bringing work back.
#[derive(Debug)]
pub enum Prospect {
    /// All of it is already there.
    There {
        commit: String,
        tip: String,
    },
    Conflict {
        files: Vec<String>,
        onto: String,
    },
    Ready(Candidate),
}

/// A commit that the branch may move to.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub commit: String,
    /// The commit of the workspace that is in it.
    pub tip: String,
    /// What it stands on.
    pub ours: String,
    /// Where the branch stood, if it was there.
    onto: Option<String>,
    pub files: Vec<String>,
}

/// Finds out what comes of it. What is not committed in the workspace is, unless it is to stay behind;
/// in a trial nothing moves at all.
pub fn prepare(merge: &Merge, workspace: &Workspace) -> Result<Prospect, WorkspaceError> {
    let (plot, terms) = (&workspace.plot, &merge.terms);
    let repository = Repository::find(&plot.project)?;
    refuse_in_use(&repository, &terms.into)?;
    let gone = || WorkspaceError::Refused("git does not know its workspace any more".to_owned());
    let tree = repository.worktree(&plot.root).ok_or_else(gone)?;
    if is_missing(&plot.root)? {
        let place = plot.root.display();
        return Err(WorkspaceError::Advised {
            message: format!("{DIRECTORY_MISSING}: {place}"),
            hint: "Mount its disk or move it back, then merge".to_owned(),
        });
    }
    if let Some(what) = tree.operation() {
        let words = format!("{what} is not finished in its workspace");
        return Err(WorkspaceError::Refused(words));
    }
    let head = tree.head()?.ok_or_else(gone)?;
    let title = message(merge);
    let saved = if terms.committed_only { None } else { tree.commit_all(&title, !terms.is_trial)? };
    let tip = saved.unwrap_or(head);
    let onto = repository.commit(&branch(&terms.into))?;
    // A branch that is behind comes along: what the work stands on is part of it.
    let ours = match &onto {
        Some(onto) if !repository.is_ancestor(onto, &plot.base)? => onto.clone(),
        Some(_) | None => plot.base.clone(),
    };
    if repository.is_ancestor(&tip, &ours)? {
        return Ok(Prospect::There { commit: ours, tip });
    }
    let base = since(&repository, workspace, &ours, &tip)?;
    let merged = match repository.merge(&ours, &tip, base.as_deref())? {
        Merged::Conflicts { files } => {
            let files = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            return Ok(Prospect::Conflict { files, onto: terms.into.clone() });
        }
        Merged::Clean { tree } => tree,
    };
    if merged == repository.tree_of(&ours)? {
        return Ok(Prospect::There { commit: ours, tip });
    }
    let commit = match terms.form {
        MergeForm::Merge => {
            let parents = [ours.clone(), tip.clone()];
            repository.commit_tree(&merged, &parents, &title, None)?
        }
        MergeForm::Squash => {
            repository.commit_tree(&merged, std::slice::from_ref(&ours), &title, None)?
        }
        MergeForm::Rebase => match replay(&repository, &ours, &tip, base.as_deref())? {
            Some(commit) => commit,
            // What was resolved in a merge cannot be told commit by commit.
            None => repository.commit_tree(&merged, std::slice::from_ref(&ours), &title, None)?,
        },
    };
    refuse_private_submodules(&repository, &tree, workspace, (&ours, &commit))?;
    let files = repository.changed_between(&ours, &commit)?;
    let files = files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    Ok(Prospect::Ready(Candidate { commit, tip, ours, onto, files }))
}

/// Moves the branch; returns false if it stands elsewhere by now.
pub fn advance(
    site: &Site,
    merge: &Merge,
    workspace: &Workspace,
    candidate: &Candidate,
) -> Result<bool, WorkspaceError> {
    let repository = Repository::find(&workspace.plot.project)?;
    let _turn = site.turn(&repository)?;
    refuse_in_use(&repository, &merge.terms.into)?;
    let name = branch(&merge.terms.into);
    match repository.move_ref(&name, &candidate.commit, candidate.onto.as_deref()) {
        Ok(()) => Ok(true),
        Err(GitError::Moved { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the commit up to which the work is in the other side already, where that cannot be seen
/// from what they have in common: after a squash or a rebase.
fn since(
    repository: &Repository,
    workspace: &Workspace,
    ours: &str,
    tip: &str,
) -> Result<Option<String>, WorkspaceError> {
    let Some(merged) = &workspace.merged else { return Ok(None) };
    let is_behind = repository.is_ancestor(merged, tip)?;
    let common = repository.common(ours, tip)?;
    let is_seen = match &common {
        Some(common) => repository.is_ancestor(merged, common)?,
        None => false,
    };
    Ok((is_behind && !is_seen).then(|| merged.clone()))
}

/// Puts commits on top one by one; nothing, if one of them does not fit.
fn replay(
    repository: &Repository,
    ours: &str,
    tip: &str,
    base: Option<&str>,
) -> Result<Option<String>, WorkspaceError> {
    let mut from = vec![ours];
    from.extend(base);
    let commits = repository.commits_between(&from, tip)?;
    if commits.len() > REPLAYED_MAX {
        let words = format!("{} commits are too many to rebase", commits.len());
        return Err(WorkspaceError::Refused(format!("{words}: use `--squash`")));
    }
    let mut top = ours.to_owned();
    for commit in commits {
        let before = format!("{commit}^");
        let Some(before) = repository.commit(&before)? else { return Ok(None) };
        let Merged::Clean { tree } = repository.merge(&top, &commit, Some(&before))? else {
            return Ok(None);
        };
        if tree == repository.tree_of(&top)? {
            continue;
        }
        let (author, words) = repository.commit_words(&commit)?;
        top = repository.commit_tree(&tree, &[top], &words, Some(&author))?;
    }
    Ok(Some(top))
}

/// Returns what the commits say that bring work back.
pub fn message(merge: &Merge) -> String {
    let title = merge.terms.message.clone();
    let title = title.unwrap_or_else(|| format!("Merge the work of {}", merge.agent));
    let task = merge.task.map(|task| format!(", task {task}")).unwrap_or_default();
    format!("{title}\n\nBy agent {}{task}.\n", merge.agent)
}

pub(super) fn branch(name: &str) -> String {
    format!("refs/heads/{name}")
}

/// A working tree in which gates run, and in which nobody works.
#[derive(Debug)]
pub struct Scratch {
    repository: Repository,
    root: PathBuf,
    place: PathBuf,
}

impl Scratch {
    /// Lays a commit out.
    pub fn lay_out(
        site: &Site,
        merge: &Merge,
        workspace: &Workspace,
        commit: &str,
    ) -> Result<Self, WorkspaceError> {
        let repository = Repository::find(&workspace.plot.project)?;
        let root = resolved(&site.scratch(merge.id));
        let scratch = Self { repository, root, place: workspace.plot.place.clone() };
        // One that a hub left which died.
        scratch.take_away(site)?;
        if let Some(folder) = scratch.root.parent() {
            fs::create_dir_all(folder).map_err(WorkspaceError::at(folder))?;
        }
        {
            let _turn = site.turn(&scratch.repository)?;
            scratch.repository.add_worktree(&scratch.root, None, commit)?;
        }
        let lost = || WorkspaceError::Refused("git does not know the scratch tree".to_owned());
        scratch.repository.worktree(&scratch.root).ok_or_else(lost)?.check_out(commit)?;
        Ok(scratch)
    }

    /// Returns where the project lies in it.
    pub fn project(&self) -> PathBuf {
        self.root.join(&self.place)
    }

    /// Removes it with all that gates have made in it.
    pub fn take_away(&self, site: &Site) -> Result<(), WorkspaceError> {
        remove(&self.root)?;
        let _turn = site.turn(&self.repository)?;
        if self.repository.worktree(&self.root).is_some() {
            self.repository.forget_worktree(&self.root)?;
        }
        Ok(())
    }
}

/// Removes all that gates have left, in directories that they made unwritable too.
fn remove(root: &Path) -> Result<(), WorkspaceError> {
    if is_absent(root)? {
        return Ok(());
    }
    erase(root, |_, _| true);
    // What is left is more than is walked through, or cannot be removed, which this tells.
    if is_absent(root)? {
        Ok(())
    } else {
        fs::remove_dir_all(root).map_err(WorkspaceError::at(root))
    }
}
