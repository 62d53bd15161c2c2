//! Makes a workspace completely, or leaves nothing behind.

use std::collections::BTreeMap;
use std::fs;

use super::places::Site;
use super::rescue::{Rescued, rescued};
use super::{WorkspaceError, local, ports, removal};
use crate::config::Hash;
use crate::git::{GitError, Repository};
use crate::model::{Made, Plot, Workspace, WorkspaceKind};

/// Makes the workspace that is on record as being made.
pub fn make(site: &Site, workspace: &Workspace) -> Result<Made, WorkspaceError> {
    let plot = &workspace.plot;
    if plot.root.symlink_metadata().is_ok() {
        let words = format!("{} is there already: move it away", plot.root.display());
        return Err(WorkspaceError::Refused(words));
    }
    if let Some(folder) = plot.root.parent() {
        fs::create_dir_all(folder).map_err(WorkspaceError::at(folder))?;
    }
    site.make_own()?;
    // What was decided about one before is not about this one.
    removal::forget(&site.removal(&workspace.agent))?;
    let mark = site.setup_mark(&workspace.agent);
    if mark.exists() {
        fs::remove_file(&mark).map_err(WorkspaceError::at(&mark))?;
    }
    let folder = mark.parent().unwrap_or(&mark);
    fs::create_dir_all(folder).map_err(WorkspaceError::at(folder))?;
    match plot.kind {
        WorkspaceKind::Worktree => make_worktree(site, plot),
        WorkspaceKind::Copy => make_copy(site, workspace),
        WorkspaceKind::Shared => Ok(Made::default()),
    }
}

fn make_copy(site: &Site, workspace: &Workspace) -> Result<Made, WorkspaceError> {
    let plot = &workspace.plot;
    // Nobody works in it before it is whole, so that a part of one may go without being looked into.
    let draft = plot.root.with_extension("part");
    if draft.symlink_metadata().is_ok() {
        fs::remove_dir_all(&draft).map_err(WorkspaceError::at(&draft))?;
    }
    let copied = local::copy_all(&plot.project, &draft);
    if copied.is_err() && draft.is_dir() {
        fs::remove_dir_all(&draft).map_err(WorkspaceError::at(&draft))?;
    }
    let inventory = copied?;
    let file = site.inventory(&workspace.agent);
    let text = serde_json::to_vec(&inventory).map_err(std::io::Error::from);
    text.and_then(|text| fs::write(&file, text)).map_err(WorkspaceError::at(&file))?;
    fs::rename(&draft, &plot.root).map_err(WorkspaceError::at(&plot.root))?;
    let port = ports::claim(&site.ports(), &plot.root, plot.port_base, plot.port_count)?;
    Ok(Made { port, ..Made::default() })
}

fn make_worktree(site: &Site, plot: &Plot) -> Result<Made, WorkspaceError> {
    let repository = Repository::find(&plot.project)?;
    {
        let _turn = site.turn(&repository)?;
        free_branch(&repository, plot)?;
        let begin = match &plot.restores {
            Some(rescue) => rescued(&repository, rescue)?.head,
            None => plot.base.clone(),
        };
        repository.add_worktree(&plot.root, Some(&plot.branch), &begin)?;
    }
    fill(site, &repository, plot)
}

fn fill(site: &Site, repository: &Repository, plot: &Plot) -> Result<Made, WorkspaceError> {
    let unknown = || WorkspaceError::Refused("git does not know the new working tree".to_owned());
    let tree = repository.worktree(&plot.root).ok_or_else(unknown)?;
    match &plot.restores {
        Some(rescue) => {
            let Rescued { head, staged } = rescued(repository, rescue)?;
            tree.show(&head, rescue, &staged)?;
        }
        None => tree.check_out(&plot.base)?,
    }
    let root = plot.project_root();
    if !root.is_dir() {
        let words = format!("the project is not part of commit {}", &plot.base);
        return Err(WorkspaceError::Refused(format!("{words}: commit it first")));
    }
    let copied = match plot.restores {
        // What it was given then is in the rescue, as it became.
        Some(_) => BTreeMap::new(),
        None => local::copy_listed(&plot.project, &root, &plot.copy)?,
    };
    let port = ports::claim(&site.ports(), &plot.root, plot.port_base, plot.port_count)?;
    Ok(Made { port, copied, settings: settings(repository)?, outpost: None })
}

/// Makes room for the branch: an old one of its name goes if all of its commits are held elsewhere.
fn free_branch(repository: &Repository, plot: &Plot) -> Result<(), WorkspaceError> {
    let name = plot.branch_ref();
    let Some(tip) = repository.commit(&name)? else { return Ok(()) };
    if let Some((_, place)) = repository.usage(&name)? {
        return Err(WorkspaceError::Refused(format!(
            "somebody works on the branch `{}` in {}: check out another one there",
            plot.branch,
            place.display()
        )));
    }
    if repository.unheld(std::slice::from_ref(&tip), &name, &[&plot.base])?.is_empty() {
        return Ok(repository.delete_ref(&name, &tip)?);
    }
    Err(WorkspaceError::Refused(format!(
        "the branch `{}` has commits that no other branch has: merge them with `git merge {}`, or rename it with `git branch -m {} NAME`",
        plot.branch, plot.branch, plot.branch
    )))
}

/// Returns what is set for a repository: the names, and what stands for the values, which may be
/// secrets.
pub(super) fn settings(repository: &Repository) -> Result<BTreeMap<String, String>, GitError> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in repository.own_settings()? {
        let known = settings.entry(name).or_default();
        let number = Hash::of(format!("{known}{value}").as_bytes());
        number.short().clone_into(known);
    }
    Ok(settings)
}
