//! Lists everything below a directory, with stamps that tell whether it changed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// More than this is not one agent's work, and nobody waits for it to be read.
const FILES_MAX: usize = 400_000;

/// What tells one content of a file from another, short of reading it: device, place, size, times.
pub(super) type Stamp = (u64, u64, u64, i64, i64, i64, i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    File {
        is_executable: bool,
    },
    Link,
    /// A socket or a pipe: nothing is kept in it.
    Other,
}

/// One thing that is not a directory.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Relative to where the walk began.
    pub(super) path: PathBuf,
    pub(super) shape: Shape,
    pub(super) stamp: Stamp,
    pub(super) bytes: u64,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Walked {
    /// In their order.
    pub(super) files: Vec<Seen>,
    /// What is inside comes before what is around it.
    pub(super) directories: Vec<PathBuf>,
    /// Directories that are repositories of their own.
    pub(super) repositories: Vec<PathBuf>,
    /// What could not be looked into, and why.
    pub(super) unread: Option<String>,
}

/// Walks through a directory, but for the `.git` right in it if that is to be left out.
pub(super) fn walk(root: &Path, leaves_out_git: bool) -> Walked {
    let mut walked = Walked::default();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        let entries = match fs::read_dir(root.join(&inner)) {
            Ok(entries) => entries,
            Err(error) => {
                walked.unread = Some(format!("{}: {error}", root.join(&inner).display()));
                return walked;
            }
        };
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    walked.unread = Some(format!("{}: {error}", root.join(&inner).display()));
                    return walked;
                }
            };
            let path = inner.join(entry.file_name());
            let is_top = inner.as_os_str().is_empty();
            if entry.file_name() == ".git" {
                if is_top && leaves_out_git {
                    continue;
                }
                if !is_top {
                    walked.repositories.push(inner.clone());
                }
            }
            let told = match fs::symlink_metadata(entry.path()) {
                Ok(told) => told,
                // It is gone by now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    walked.unread = Some(format!("{}: {error}", entry.path().display()));
                    return walked;
                }
            };
            if told.is_dir() {
                walked.directories.push(path.clone());
                open.push(path);
            } else {
                let shape = shape(&told);
                walked.files.push(Seen { path, shape, stamp: stamp(&told), bytes: told.len() });
            }
        }
        if walked.files.len() > FILES_MAX {
            walked.unread = Some(format!("it holds more than {FILES_MAX} files"));
            return walked;
        }
    }
    walked.files.sort_by(|one, other| one.path.cmp(&other.path));
    // What is inside of a directory has a longer path.
    walked.directories.sort_by(|one, other| other.cmp(one));
    walked
}

fn shape(told: &fs::Metadata) -> Shape {
    if told.is_symlink() {
        Shape::Link
    } else if told.is_file() {
        Shape::File { is_executable: told.mode() & 0o100 != 0 }
    } else {
        Shape::Other
    }
}

pub(super) fn stamp(told: &fs::Metadata) -> Stamp {
    (
        told.dev(),
        told.ino(),
        told.len(),
        told.mtime(),
        told.mtime_nsec(),
        told.ctime(),
        told.ctime_nsec(),
    )
}

#[expect(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the kernel's types differ from platform to platform"
)]
pub(super) fn stamp_of(found: &rustix::fs::Stat) -> Stamp {
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
