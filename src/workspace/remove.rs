//! Removes a workspace if it is still as it was inspected.
//!
//! A file that came or changed since stops it, and stays. There is no other way to remove one.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::inspect::{Snapshot, inspect};
use super::places::Site;
use super::processes::inhabitants;
use super::removal::{Decided, Removal};
use super::rescue::rescue_seen;
use super::{WorkspaceError, ports};
use crate::git::Repository;
use crate::model::{Clearing, Workspace, WorkspaceKind};

/// A git that its hub left behind fills a tree in seconds; after this many looks it is somebody else's.
const LEFT_LOOKS_MAX: u32 = 200;
const LEFT_LOOK: Duration = Duration::from_millis(50);

/// What became of a workspace that was to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleared {
    /// It is gone; what was in it is held by this reference, or lies in this directory.
    Removed {
        rescue: Option<String>,
    },
    Kept {
        reason: String,
    },
}

/// Says whether a workspace may be removed, before anything is done about it. Returns why not.
pub fn refuse_to_clear(
    site: &Site,
    workspace: &Workspace,
    clearing: Clearing,
) -> Result<Option<String>, WorkspaceError> {
    if Removal::of(site, workspace).decided()?.is_some() {
        return Ok(None);
    }
    let snapshot = look(site, workspace, clearing)?;
    Ok(snapshot.findings.reason_to_keep(clearing))
}

/// Removes a workspace unless there is a reason to keep it: looked for now, and rescued first.
pub fn clear(
    site: &Site,
    workspace: &Workspace,
    clearing: Clearing,
) -> Result<Cleared, WorkspaceError> {
    let removal = Removal::of(site, workspace);
    if let Some(decided) = removal.decided()? {
        return finish(site, workspace, &removal, &decided);
    }
    let snapshot = look(site, workspace, clearing)?;
    if let Some(reason) = snapshot.findings.reason_to_keep(clearing) {
        return Ok(Cleared::Kept { reason });
    }
    let plot = &workspace.plot;
    let is_tree = plot.kind == WorkspaceKind::Worktree;
    let has_work = !snapshot.findings.work(clearing).is_empty();
    if has_work && !is_tree {
        let decided = removal.set_work_apart()?;
        return finish(site, workspace, &removal, &decided);
    }
    let rescue = if is_tree { rescue_seen(workspace, &snapshot, clearing)? } else { None };
    if is_tree {
        // What is held elsewhere is on the disk before the only other copy goes.
        Repository::find(&plot.project)?.sync().map_err(WorkspaceError::at(&plot.project))?;
    }
    let decided = removal.decide(&snapshot.walked, rescue, is_tree)?;
    finish(site, workspace, &removal, &decided)
}

/// Takes away what was decided to go, from wherever an earlier attempt was cut off.
fn finish(
    site: &Site,
    workspace: &Workspace,
    removal: &Removal,
    decided: &Decided,
) -> Result<Cleared, WorkspaceError> {
    if workspace.plot.kind == WorkspaceKind::Worktree {
        give_up_branch(site, workspace)?;
    }
    let left = removal.carry_out(decided)?;
    ports::release(&site.ports(), &workspace.plot.root)?;
    for file in [site.setup_mark(&workspace.agent), site.inventory(&workspace.agent)] {
        if file.exists() {
            fs::remove_file(&file).map_err(WorkspaceError::at(&file))?;
        }
    }
    removal.end()?;
    let held: Vec<String> = decided.rescue.clone().into_iter().chain(left).collect();
    let rescue = (!held.is_empty()).then(|| held.join(" and "));
    Ok(Cleared::Removed { rescue })
}

fn look(
    site: &Site,
    workspace: &Workspace,
    clearing: Clearing,
) -> Result<Snapshot, WorkspaceError> {
    let root = &workspace.plot.root;
    Removal::of(site, workspace).put_back()?;
    if clearing.is_unfinished || clearing.is_repeated {
        wait_for_gits(root);
    }
    // Nobody makes it now: git's own mark says that somebody who did was cut off.
    let repository = Repository::find(&workspace.plot.project).ok();
    if let Some(tree) = repository.and_then(|repository| repository.worktree(root)) {
        tree.unlock_unfinished().map_err(WorkspaceError::at(root))?;
    }
    inspect(site, workspace)
}

/// Waits until what a hub had git do there when it died has ended.
fn wait_for_gits(root: &Path) {
    for _ in 0..LEFT_LOOKS_MAX {
        if !inhabitants(root).iter().any(|one| one.ends_with("(git)")) {
            return;
        }
        thread::sleep(LEFT_LOOK);
    }
}

/// Takes the working tree off git's list, and its branch if others hold all that is in it and nobody
/// is in the middle of something with it.
fn give_up_branch(site: &Site, workspace: &Workspace) -> Result<(), WorkspaceError> {
    let plot = &workspace.plot;
    let repository = Repository::find(&plot.project)?;
    let _turn = site.turn(&repository)?;
    if repository.worktree(&plot.root).is_some() {
        repository.forget_worktree(&plot.root)?;
    }
    let own = plot.branch_ref();
    if let Some(tip) = repository.commit(&own)?
        && repository.usage(&own)?.is_none()
        && repository.unheld(std::slice::from_ref(&tip), &own, &[&plot.base])?.is_empty()
    {
        repository.delete_ref(&own, &tip)?;
    }
    Ok(())
}
