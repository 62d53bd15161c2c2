//! Refuses merges into a branch that is in use, or without a submodule's commit.

use std::path::PathBuf;

use super::WorkspaceError;
use super::merge::branch;
use crate::git::{GitError, Holder, Repository, Usage};
use crate::model::Workspace;

/// What is shown of a commit's name.
const SHOWN: usize = 12;

/// A branch that someone uses is never moved: their files would look like a change that undoes all of
/// it, and the end of a rebase would overwrite what was brought.
pub(super) fn refuse_in_use(repository: &Repository, into: &str) -> Result<(), WorkspaceError> {
    if !repository.is_branch_name(into)? {
        return Err(WorkspaceError::Refused(format!("`{into}` cannot name a branch")));
    }
    let Some((usage, place)) = repository.usage(&branch(into))? else { return Ok(()) };
    let place = place.display();
    let (what, hint) = match usage {
        Usage::CheckedOut => (
            "checked out",
            format!(
                "Merge into `wheelhouse/integration`, then type `git -C {place} merge --ff-only wheelhouse/integration`"
            ),
        ),
        Usage::Rebased => (
            "being rebased",
            format!(
                "Finish that with `git -C {place} rebase --continue`, or abort it with `git -C {place} rebase --abort`; or merge into `wheelhouse/integration`"
            ),
        ),
        Usage::Bisected => (
            "being bisected",
            format!(
                "End that with `git -C {place} bisect reset`, or merge into `wheelhouse/integration`"
            ),
        ),
    };
    let message = format!("`{into}` is {what} in {place}, so it is not moved");
    Err(WorkspaceError::Advised { message, hint })
}

/// A commit of a submodule that nobody but the workspace has would be lost with it.
pub(super) fn refuse_private_submodules(
    repository: &Repository,
    tree: &Repository,
    workspace: &Workspace,
    (ours, commit): (&str, &str),
) -> Result<(), WorkspaceError> {
    let plot = &workspace.plot;
    for (link, id) in repository.changed_links(ours, commit)? {
        if is_known(repository, workspace, &link, &id)?
            || repository.holder_of_link(&link, &id, true)? != Holder::Nobody
        {
            continue;
        }
        let is_private = match tree.holder_of_link(&link, &id, false)? {
            Holder::Here => true,
            Holder::Remote => false,
            // What is elsewhere cannot be looked into from here.
            Holder::Nobody => plot.runner.is_some(),
        };
        if is_private {
            let (name, short) = (link.display(), id.get(..SHOWN).unwrap_or(&id));
            let place = plot.root.join(&link);
            return Err(WorkspaceError::Advised {
                message: format!(
                    "the submodule `{name}` stands at {short}, a commit that only the workspace has"
                ),
                hint: format!(
                    "Push it with `git -C {} push origin {short}:refs/heads/NAME`, or fetch it into the project's own `{name}`, then merge",
                    place.display()
                ),
            });
        }
    }
    Ok(())
}

/// Says whether the commit that the workspace began at, or the one that is checked out in the project,
/// names the same: then it did not come from the workspace.
fn is_known(
    repository: &Repository,
    workspace: &Workspace,
    link: &PathBuf,
    id: &str,
) -> Result<bool, GitError> {
    let commits = std::iter::once(workspace.plot.base.clone()).chain(repository.head()?);
    for commit in commits {
        if repository.tree(&commit)?.get(link).is_some_and(|blob| blob.id == id) {
            return Ok(true);
        }
    }
    Ok(false)
}
