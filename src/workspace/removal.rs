//! Deletes a workspace's files: moves the tree aside first, then deletes file by file.
//!
//! A tree that was deleted in part looks like one whose files somebody has deleted. So no file goes
//! while it lies where the workspace was. Once it is aside and still as it was looked at, a list of
//! its files is on the disk, and from then on it is decided: whoever is cut off goes on from the list.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::WorkspaceError;
use super::local::key;
use super::places::Site;
use super::processes::inhabitants;
use super::walk::{Stamp, Walked, stamp_of, walk};
use crate::model::{AgentName, Workspace};

/// Directories that a removal could not empty; nobody keeps more of them.
const LEFT_MAX: u32 = 1000;

/// The removal of one workspace.
#[derive(Debug)]
pub(super) struct Removal {
    agent: AgentName,
    root: PathBuf,
    /// Where the tree lies while it is deleted: beside where it was, so that moving it copies nothing
    /// and asks for no right to the tree itself.
    aside: PathBuf,
    list: PathBuf,
}

/// What was decided about a tree: which files may go, and where the work in it is held.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Decided {
    #[serde(default)]
    pub(super) rescue: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, Stamp>,
}

impl Removal {
    pub(super) fn of(site: &Site, workspace: &Workspace) -> Self {
        let (agent, root) = (workspace.agent.clone(), workspace.plot.root.clone());
        let aside = root.with_file_name(format!(".removing-{agent}"));
        Self { list: site.removal(&agent), agent, root, aside }
    }

    /// Returns what was decided about it before. A tree that stands where it was is still to be looked
    /// at, whatever was decided about an earlier one.
    pub(super) fn decided(&self) -> Result<Option<Decided>, WorkspaceError> {
        if !is_absent(&self.root)? || is_absent(&self.list)? {
            return Ok(None);
        }
        let read = fs::read(&self.list).and_then(|text| Ok(serde_json::from_slice(&text)?));
        read.map(Some).map_err(WorkspaceError::at(&self.list))
    }

    /// Puts a tree back that was moved aside by someone who then was cut off: nothing of it is gone.
    pub(super) fn put_back(&self) -> Result<(), WorkspaceError> {
        let is_moved = is_absent(&self.root)? && !is_absent(&self.aside)?;
        if is_moved && is_absent(&self.list)? {
            fs::rename(&self.aside, &self.root).map_err(WorkspaceError::at(&self.aside))?;
        }
        Ok(())
    }

    /// Moves a tree aside, if it is as it was looked at, and puts on the disk that it may go. Where it
    /// has changed, or that cannot be written, it is back in its place.
    pub(super) fn decide(
        &self,
        walked: &Walked,
        rescue: Option<String>,
        leaves_out_git: bool,
    ) -> Result<Decided, WorkspaceError> {
        forget(&self.list)?;
        let mut decided = Decided { rescue, ..Decided::default() };
        if is_absent(&self.root)? {
            self.write(&decided)?;
            return Ok(decided);
        }
        if !is_absent(&self.aside)? {
            self.set_apart()?;
        }
        fs::rename(&self.root, &self.aside).map_err(WorkspaceError::at(&self.root))?;
        let listed = self.list(walked, leaves_out_git).and_then(|files| {
            decided.files = files;
            self.write(&decided)
        });
        if let Err(error) = listed {
            fs::rename(&self.aside, &self.root).map_err(WorkspaceError::at(&self.aside))?;
            return Err(error);
        }
        Ok(decided)
    }

    /// Returns the files of a tree that was moved aside, if nothing has changed since it was looked at.
    fn list(
        &self,
        walked: &Walked,
        leaves_out_git: bool,
    ) -> Result<BTreeMap<String, Stamp>, WorkspaceError> {
        let found = walk(&self.aside, false);
        if let Some(path) = differing(walked, &found, leaves_out_git) {
            let path = self.root.join(path);
            let words = format!("{} changed while it was removed", path.display());
            return Err(WorkspaceError::Refused(words));
        }
        let inside = inhabitants(&self.aside);
        if !inside.is_empty() {
            let words = format!("processes run in it: {}", inside.join(", "));
            return Err(WorkspaceError::Refused(words));
        }
        Ok(found.files.into_iter().map(|seen| (key(&seen.path), seen.stamp)).collect())
    }

    /// Deletes what was decided to go. Returns where something was left: what came since, or what
    /// cannot be deleted.
    pub(super) fn carry_out(&self, decided: &Decided) -> Result<Option<String>, WorkspaceError> {
        if !is_absent(&self.aside)? {
            let several = decided.with_several_names();
            erase(&self.aside, |path, found| decided.allows(path, found, &several));
        }
        if is_absent(&self.aside)? { Ok(None) } else { self.set_apart().map(Some) }
    }

    /// Moves a tree with work in it to where nobody takes it for a workspace.
    pub(super) fn set_work_apart(&self) -> Result<Decided, WorkspaceError> {
        let place = free_place(&self.root, &self.agent)?;
        let decided = Decided { rescue: Some(place.display().to_string()), ..Decided::default() };
        self.write(&decided)?;
        fs::rename(&self.root, &place).map_err(WorkspaceError::at(&self.root))?;
        Ok(decided)
    }

    /// Notes that nothing of it is left. The note itself stays until the next one is made: a hub that
    /// dies now would take the missing directory for one that is away.
    pub(super) fn end(&self) -> Result<(), WorkspaceError> {
        self.write(&Decided::default())
    }

    /// Moves what is left to where nobody takes it for a workspace.
    fn set_apart(&self) -> Result<String, WorkspaceError> {
        let place = free_place(&self.aside, &self.agent)?;
        fs::rename(&self.aside, &place).map_err(WorkspaceError::at(&self.aside))?;
        Ok(place.display().to_string())
    }

    fn write(&self, decided: &Decided) -> Result<(), WorkspaceError> {
        let draft = self.list.with_extension("draft");
        let write = || -> io::Result<()> {
            let folder = self.list.parent().unwrap_or(&self.list);
            fs::create_dir_all(folder)?;
            let mut file = File::create(&draft)?;
            file.write_all(&serde_json::to_vec(decided)?)?;
            file.sync_all()?;
            fs::rename(&draft, &self.list)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(WorkspaceError::at(&self.list))
    }
}

impl Decided {
    /// Returns the files that have more than one name in the list.
    fn with_several_names(&self) -> BTreeSet<(u64, u64)> {
        let mut seen = BTreeSet::new();
        let mut is_again = |file: &(u64, u64)| !seen.insert(*file);
        self.files.values().map(|stamp| (stamp.0, stamp.1)).filter(|file| is_again(file)).collect()
    }

    fn allows(&self, path: &Path, found: Stamp, several: &BTreeSet<(u64, u64)>) -> bool {
        let Some(known) = self.files.get(&key(path)) else { return false };
        // Such a file changes its last time whenever one of its names goes.
        let last_time = |stamp: Stamp| Some((stamp.5, stamp.6));
        let kept = |stamp: Stamp| {
            let (device, place, size, seconds, nanoseconds, ..) = stamp;
            let last = last_time(stamp).filter(|_| !several.contains(&(device, place)));
            (device, place, size, seconds, nanoseconds, last)
        };
        kept(*known) == kept(found)
    }
}

/// Forgets what was decided about an earlier workspace, for good.
pub(super) fn forget(list: &Path) -> Result<(), WorkspaceError> {
    if is_absent(list)? {
        return Ok(());
    }
    let folder = list.parent().unwrap_or(list);
    let forgotten = fs::remove_file(list).and_then(|()| File::open(folder)?.sync_all());
    forgotten.map_err(WorkspaceError::at(list))
}

/// Says whether nothing is there. What cannot be told is an error: it may be there.
pub(super) fn is_absent(path: &Path) -> Result<bool, WorkspaceError> {
    match path.symlink_metadata() {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(WorkspaceError::at(path)(error)),
    }
}

/// Returns a name in `rescued/` beside a directory that nobody has.
fn free_place(path: &Path, agent: &AgentName) -> Result<PathBuf, WorkspaceError> {
    let folder = path.with_file_name("rescued");
    fs::create_dir_all(&folder).map_err(WorkspaceError::at(&folder))?;
    (1..=LEFT_MAX)
        .map(|number| folder.join(format!("{agent}-{number}")))
        .find(|place| place.symlink_metadata().is_err())
        .ok_or_else(|| WorkspaceError::Refused(format!("{} is full", folder.display())))
}

/// Returns something that is not as it was.
fn differing(before: &Walked, now: &Walked, leaves_out_git: bool) -> Option<PathBuf> {
    if now.unread.is_some() {
        return Some(PathBuf::new());
    }
    let is_git = |path: &Path| leaves_out_git && path == Path::new(".git");
    let files = |walked: &Walked| -> BTreeSet<(PathBuf, Stamp)> {
        let files = walked.files.iter().filter(|seen| !is_git(&seen.path));
        files.map(|seen| (seen.path.clone(), seen.stamp)).collect()
    };
    let folders =
        |walked: &Walked| -> BTreeSet<PathBuf> { walked.directories.iter().cloned().collect() };
    let (one, other) = (files(before), files(now));
    let changed = one.symmetric_difference(&other).next().map(|(path, _)| path.clone());
    let moved = || folders(before).symmetric_difference(&folders(now)).next().cloned();
    changed.or_else(moved)
}

/// Deletes all files below a directory that may go, and then it and every directory in it that is
/// empty. No link is followed, and our own directories that cannot be written to are opened first.
pub(super) fn erase(root: &Path, may_go: impl Fn(&Path, Stamp) -> bool) {
    let walked = walk(root, false);
    for seen in &walked.files {
        let removed = open_parent(root, &seen.path).and_then(|(folder, name)| {
            let found = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if !may_go(&seen.path, stamp_of(&found)) {
                return Ok(());
            }
            unlink(&folder, name, AtFlags::empty())
        });
        if let Err(error) = removed {
            tracing::warn!(%error, path = %root.join(&seen.path).display(), "it is not removed");
        }
    }
    for directory in &walked.directories {
        let removed = open_parent(root, directory)
            .and_then(|(folder, name)| unlink(&folder, name, AtFlags::REMOVEDIR));
        if let Err(error) = removed {
            tracing::warn!(%error, path = %root.join(directory).display(), "it is not removed");
        }
    }
    if let Err(error) = fs::remove_dir(root) {
        tracing::warn!(%error, path = %root.display(), "it is not removed");
    }
}

/// Removes a name from a directory, which may be one of ours that cannot be written to.
fn unlink(folder: &OwnedFd, name: &Path, flags: AtFlags) -> Result<(), Errno> {
    match rustix::fs::unlinkat(folder, name, flags) {
        Err(Errno::ACCESS) => {
            let mode = Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode) | Mode::RWXU;
            rustix::fs::fchmod(folder, mode)?;
            rustix::fs::unlinkat(folder, name, flags)
        }
        removed => removed,
    }
}

/// Opens the directory that a path below the root lies in; a link on the way there is an error.
fn open_parent<'p>(root: &Path, path: &'p Path) -> Result<(OwnedFd, &'p Path), Errno> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::RDONLY;
    let mut here = rustix::fs::open(root, flags, Mode::empty())?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        if let Component::Normal(name) = part {
            here = rustix::fs::openat(&here, name, flags, Mode::empty())?;
        }
    }
    Ok((here, path.file_name().map_or(path, Path::new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with a file, and one with two names.
    fn removal() -> (tempfile::TempDir, Removal) {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("trees/one");
        fs::create_dir_all(root.join("deep/er")).unwrap();
        fs::write(root.join("a"), "a").unwrap();
        fs::write(root.join("deep/er/b"), "b").unwrap();
        fs::hard_link(root.join("deep/er/b"), root.join("deep/c")).unwrap();
        let (agent, list) = ("one".parse().unwrap(), home.path().join("plots/one.removal"));
        let aside = root.with_file_name(".removing-one");
        let removal = Removal { agent, root, aside, list };
        (home, removal)
    }

    #[test]
    fn whoever_is_cut_off_goes_on_from_the_list() {
        let (_home, removal) = removal();
        let rescue = Some("refs/r".to_owned());
        removal.decide(&walk(&removal.root, false), rescue, false).unwrap();
        assert!(!removal.root.exists());
        // One of two names is gone already.
        fs::remove_file(removal.aside.join("deep/c")).unwrap();
        removal.put_back().unwrap();
        let decided = removal.decided().unwrap().unwrap();
        assert_eq!(decided.rescue.as_deref(), Some("refs/r"));
        assert_eq!(removal.carry_out(&decided).unwrap(), None);
        removal.end().unwrap();
        let left = fs::read_dir(removal.root.parent().unwrap()).unwrap().count();
        assert_eq!(left, 0);
        assert!(removal.decided().unwrap().unwrap().files.is_empty());
        // What stands there later is another one.
        fs::create_dir(&removal.root).unwrap();
        assert!(removal.decided().unwrap().is_none());
    }

    #[test]
    fn what_is_not_on_the_list_is_set_apart() {
        let (_home, removal) = removal();
        let decided = removal.decide(&walk(&removal.root, false), None, false).unwrap();
        fs::write(removal.aside.join("a"), "changed").unwrap();
        fs::write(removal.aside.join("deep/new"), "n").unwrap();
        let place = removal.carry_out(&decided).unwrap().unwrap();
        let left: Vec<_> = walk(Path::new(&place), false).files;
        let left: Vec<_> = left.iter().map(|seen| seen.path.to_str().unwrap()).collect();
        assert_eq!(left, ["a", "deep/new"]);
    }

    #[test]
    fn a_tree_that_changed_since_it_was_looked_at_is_back_in_its_place() {
        let (_home, removal) = removal();
        let walked = walk(&removal.root, false);
        for (change, path) in [("deep/new", "deep/new"), ("a", "a")] {
            fs::write(removal.root.join(change), "changed").unwrap();
            let told = removal.decide(&walked, None, false).unwrap_err().to_string();
            assert!(told.contains(path) && told.contains("changed"), "{told}");
            assert!(removal.root.join("deep/er/b").exists() && !removal.aside.exists());
            assert!(removal.decided().unwrap().is_none());
            fs::remove_file(removal.root.join("deep/new")).unwrap_or_default();
        }
    }

    #[test]
    fn a_tree_whose_list_cannot_be_written_is_back_in_its_place() {
        let (_home, removal) = removal();
        fs::create_dir_all(removal.list.with_extension("draft")).unwrap();
        removal.decide(&walk(&removal.root, false), None, false).unwrap_err();
        assert!(removal.root.join("a").exists() && !removal.aside.exists());
    }

    #[test]
    fn a_tree_that_was_moved_and_not_decided_about_is_put_back() {
        let (_home, removal) = removal();
        fs::rename(&removal.root, &removal.aside).unwrap();
        removal.put_back().unwrap();
        assert!(removal.root.join("a").exists() && !removal.aside.exists());
    }
}
