//! Removes a workspace, file by file: only what was looked at, and only if it is still the same.
//!
//! A file that came or changed since stops it, and stays. There is no other way to remove one.

use std::fs;
use std::path::{Component, Path};
use std::thread;
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};

use super::inhabitants::inhabitants;
use super::inspect::{Snapshot, inspect};
use super::rescue::rescue_seen;
use super::site::Site;
use super::walk::Stamp;
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
    let snapshot = look(site, workspace, clearing)?;
    Ok(snapshot.findings.reason_to_keep(clearing))
}

/// Removes a workspace unless there is a reason to keep it: looked for now, and rescued first.
pub fn clear(
    site: &Site,
    workspace: &Workspace,
    clearing: Clearing,
) -> Result<Cleared, WorkspaceError> {
    let snapshot = look(site, workspace, clearing)?;
    if let Some(reason) = snapshot.findings.reason_to_keep(clearing) {
        return Ok(Cleared::Kept { reason });
    }
    let has_work = !snapshot.findings.work(clearing).is_empty();
    let rescue = match workspace.plot.kind {
        WorkspaceKind::Copy | WorkspaceKind::Shared if has_work => Some(put_aside(workspace)?),
        WorkspaceKind::Copy | WorkspaceKind::Shared => {
            remove_files(&workspace.plot.root, &snapshot)?;
            None
        }
        WorkspaceKind::Worktree => {
            let rescue = rescue_seen(workspace, &snapshot, clearing)?;
            remove_files(&workspace.plot.root, &snapshot)?;
            give_up_branch(site, workspace)?;
            rescue
        }
    };
    ports::release(&site.ports(), &workspace.plot.root)?;
    for file in [site.setup_mark(&workspace.agent), site.inventory(&workspace.agent)] {
        if file.exists() {
            fs::remove_file(&file).map_err(WorkspaceError::at(&file))?;
        }
    }
    Ok(Cleared::Removed { rescue })
}

fn look(
    site: &Site,
    workspace: &Workspace,
    clearing: Clearing,
) -> Result<Snapshot, WorkspaceError> {
    let root = &workspace.plot.root;
    if clearing.is_unfinished {
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

/// Moves a copy with work in it to where nobody looks for one.
fn put_aside(workspace: &Workspace) -> Result<String, WorkspaceError> {
    let root = &workspace.plot.root;
    let folder = root.parent().unwrap_or(root).join("rescued");
    fs::create_dir_all(&folder).map_err(WorkspaceError::at(&folder))?;
    let place = (1..=1000)
        .map(|number| folder.join(format!("{}-{number}", workspace.agent)))
        .find(|place| place.symlink_metadata().is_err())
        .ok_or_else(|| WorkspaceError::Refused(format!("{} is full", folder.display())))?;
    fs::rename(root, &place).map_err(WorkspaceError::at(root))?;
    Ok(place.display().to_string())
}

/// Takes the working tree off git's list, and its branch if others hold all that is in it.
fn give_up_branch(site: &Site, workspace: &Workspace) -> Result<(), WorkspaceError> {
    let plot = &workspace.plot;
    let repository = Repository::find(&plot.project)?;
    let _turn = site.turn(&repository)?;
    if repository.worktree(&plot.root).is_some() {
        repository.forget_worktree(&plot.root)?;
    }
    let own = plot.branch_ref();
    if let Some(tip) = repository.commit(&own)?
        && repository.unheld(std::slice::from_ref(&tip), &own, &[&plot.base])?.is_empty()
    {
        repository.delete_ref(&own, &tip)?;
    }
    Ok(())
}

fn remove_files(root: &Path, snapshot: &Snapshot) -> Result<(), WorkspaceError> {
    if root.symlink_metadata().is_err() {
        return Ok(());
    }
    let changed = |path: &Path| {
        let path = root.join(path);
        WorkspaceError::Refused(format!("{} changed while it was removed", path.display()))
    };
    for seen in &snapshot.walked.files {
        let (folder, name) = open_parent(root, &seen.path)?;
        let found = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let Ok(found) = found else { return Err(changed(&seen.path)) };
        if stamp(&found) != seen.stamp {
            return Err(changed(&seen.path));
        }
        rustix::fs::unlinkat(&folder, name, AtFlags::empty())
            .map_err(|error| WorkspaceError::at(&root.join(&seen.path))(error.into()))?;
    }
    for directory in &snapshot.walked.directories {
        let (folder, name) = open_parent(root, directory)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR)
            .map_err(|error| WorkspaceError::at(&root.join(directory))(error.into()))?;
    }
    // Git's own word for the repository goes last: until then it is known what this was.
    let link = root.join(".git");
    if snapshot.tree.is_some() && link.symlink_metadata().is_ok_and(|told| told.is_file()) {
        fs::remove_file(&link).map_err(WorkspaceError::at(&link))?;
    }
    fs::remove_dir(root).map_err(WorkspaceError::at(root))
}

/// Opens the directory that a path below the root lies in; a link on the way there is an error.
fn open_parent<'p>(root: &Path, path: &'p Path) -> Result<(OwnedFd, &'p Path), WorkspaceError> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::RDONLY;
    let fail = |error: rustix::io::Errno| WorkspaceError::at(&root.join(path))(error.into());
    let mut here = rustix::fs::open(root, flags, Mode::empty()).map_err(fail)?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        if let Component::Normal(name) = part {
            here = rustix::fs::openat(&here, name, flags, Mode::empty()).map_err(fail)?;
        }
    }
    Ok((here, path.file_name().map_or(path, Path::new)))
}

#[expect(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the kernel's types differ from platform to platform"
)]
fn stamp(found: &rustix::fs::Stat) -> Stamp {
    (
        found.st_dev as u64,
        found.st_ino as u64,
        found.st_size as u64,
        found.st_mtime as i64,
        found.st_mtime_nsec as i64,
        found.st_ctime as i64,
        found.st_ctime_nsec as i64,
    )
}
