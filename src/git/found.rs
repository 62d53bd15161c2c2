//! Finds a repository without asking git, whose settings could name another place.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// A `.git` that is a file holds one line.
const LINK_BYTES_MAX: u64 = 4096;

/// The places of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The directory whose files it keeps.
    pub(super) top: PathBuf,
    /// What belongs to this working tree alone: its index, its HEAD.
    pub(super) git_dir: PathBuf,
    /// What all working trees share: objects, refs, settings.
    pub(super) common_dir: PathBuf,
}

/// Returns the repository that a directory lies in.
pub(super) fn find(directory: &Path) -> Option<Found> {
    let directory = fs::canonicalize(directory).ok()?;
    directory.ancestors().find_map(|top| {
        let git = top.join(".git");
        let told = fs::metadata(&git).ok()?;
        let git_dir = if told.is_dir() { git } else { linked(top, &git)? };
        let common = read_line(&git_dir.join("commondir"));
        let common_dir = common.map_or_else(|| git_dir.clone(), |path| git_dir.join(path));
        let is_one = common_dir.join("objects").is_dir() && git_dir.join("HEAD").exists();
        is_one.then(|| Found { top: top.to_owned(), git_dir, common_dir })
    })
}

fn linked(top: &Path, git: &Path) -> Option<PathBuf> {
    let line = read_line(git)?;
    Some(top.join(line.strip_prefix("gitdir: ")?))
}

fn read_line(path: &Path) -> Option<String> {
    let text = read_small(path, LINK_BYTES_MAX)?;
    Some(String::from_utf8(text).ok()?.trim_end().to_owned())
}

/// Reads a small plain file; whatever else stands in its place is not waited for.
pub(super) fn read_small(path: &Path, max: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(max).read_to_end(&mut text).ok()?;
    Some(text)
}
