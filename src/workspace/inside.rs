//! Opens files of a workspace so that no link leads out of it, even one made meanwhile.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::model::{lies_inside, plain};

/// What is told of a name.
const SHOWN_BYTES_MAX: usize = 200;

/// How directories on the way are opened: to go through, not to list.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STEP: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STEP: OFlags = OFlags::RDONLY;

/// A directory that is held open: what takes its place meanwhile is not taken for it.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    handle: OwnedFd,
    /// Lists of files go directory by directory: the one that was asked for last.
    last: Option<(PathBuf, OwnedFd)>,
}

impl Root {
    /// Holds a directory; returns why that cannot be. It was written down with its links resolved, so
    /// that a link anywhere on the way has been put there since.
    pub fn hold(path: &Path) -> Result<Self, String> {
        let told = |error| match error {
            Errno::NOTDIR | Errno::LOOP => {
                format!("{} is no directory any more, or a link leads there", path.display())
            }
            other => format!("{}: {other}", path.display()),
        };
        if !path.is_absolute() {
            return Err(format!("`{}` is no directory to work in", path.display()));
        }
        let mut handle =
            rustix::fs::open("/", STEP | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                .map_err(told)?;
        for part in path.components() {
            match part {
                Component::RootDir | Component::CurDir => {}
                Component::Normal(name) => handle = step(&handle, name).map_err(told)?,
                Component::ParentDir | Component::Prefix(_) => return Err(told(Errno::NOTDIR)),
            }
        }
        Ok(Self { path: path.components().collect(), handle, last: None })
    }

    /// Opens a file that an agent or a gate names; returns why that cannot be.
    pub fn open(&self, path: &str) -> Result<File, String> {
        let told = |reason: &dyn std::fmt::Display| format!("{}: {reason}", shown(path));
        let outside = || format!("{} does not lie in the workspace", shown(path));
        if !lies_inside(path) {
            return Err(outside());
        }
        let real = fs::canonicalize(self.path.join(path)).map_err(|error| told(&error))?;
        let below = real.strip_prefix(&self.path).map_err(|_| outside())?;
        // No part of it is a link any more; where one has become one since, this fails.
        let folder = descend(&self.handle, below.parent()).map_err(|error| told(&error))?;
        let name = below.file_name().ok_or_else(outside)?;
        let file = open_file(folder.as_ref().unwrap_or(&self.handle), name);
        let file = file.map_err(|error| told(&error))?;
        let is_file = file.metadata().map_err(|error| told(&error))?.is_file();
        if is_file { Ok(file) } else { Err(format!("{} is not a file", shown(path))) }
    }

    /// Returns a path for a program that is to be started in it, good for as long as this is held.
    pub fn to_enter(&self) -> PathBuf {
        if cfg!(target_os = "linux") {
            // Between the fork and the program's own beginning this is what the handle stands for.
            return PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()));
        }
        self.path.clone()
    }

    /// Says whether a file of a list is still reached without a link.
    pub fn reaches(&mut self, path: &Path) -> bool {
        self.folder_of(path).is_some()
    }

    /// Reads a plain file of a list where it stands; whatever has taken its place meanwhile is not
    /// waited for.
    pub fn read_plain(&mut self, path: &Path, max: u64) -> Option<Vec<u8>> {
        let file = open_file(self.folder_of(path)?, path.file_name()?).ok()?;
        let mut text = Vec::new();
        file.metadata().ok().filter(fs::Metadata::is_file)?;
        file.take(max).read_to_end(&mut text).ok()?;
        Some(text)
    }

    /// Returns where a link of a list leads.
    pub fn read_link(&mut self, path: &Path) -> Option<Vec<u8>> {
        let name = path.file_name()?;
        let target = rustix::fs::readlinkat(self.folder_of(path)?, name, Vec::new()).ok()?;
        Some(target.into_bytes())
    }

    fn folder_of(&mut self, path: &Path) -> Option<&OwnedFd> {
        let folder = path.parent()?;
        if self.last.as_ref().is_none_or(|(last, _)| last != folder) {
            self.last = None;
            if let Some(handle) = descend(&self.handle, Some(folder)).ok()? {
                self.last = Some((folder.to_owned(), handle));
            }
        }
        Some(self.last.as_ref().map_or(&self.handle, |(_, handle)| handle))
    }
}

/// Goes down through directories, none of which is a link; returns nothing for no step at all.
fn descend(from: &OwnedFd, path: Option<&Path>) -> Result<Option<OwnedFd>, Errno> {
    let mut here: Option<OwnedFd> = None;
    for part in path.into_iter().flat_map(Path::components) {
        let Component::Normal(name) = part else { return Err(Errno::NOTDIR) };
        here = Some(step(here.as_ref().unwrap_or(from), name)?);
    }
    Ok(here)
}

fn step(from: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = STEP | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(from, name, flags, Mode::empty())
}

fn open_file(folder: &OwnedFd, name: &OsStr) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat(folder, name, flags | OFlags::NOCTTY, Mode::empty()).map(File::from)
}

/// Returns the path with its links resolved, as far as there is anything.
pub fn resolved(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut here = path;
    loop {
        if let Ok(real) = fs::canonicalize(here) {
            return rest.iter().rev().fold(real, |path, name| path.join(name));
        }
        let (Some(folder), Some(name)) = (here.parent(), here.file_name()) else {
            return path.to_owned();
        };
        rest.push(name);
        here = folder;
    }
}

/// Returns a name as it can be told: an agent may have written lines into it, or more than one reads.
pub fn shown(path: &str) -> String {
    let mut name = plain(path);
    if name.len() > SHOWN_BYTES_MAX {
        name.truncate(name.floor_char_boundary(SHOWN_BYTES_MAX));
        name.push('…');
    }
    name
}

/// Opens a file that an agent or a gate names, below a directory.
pub fn open(root: &Path, path: &str) -> Result<File, String> {
    Root::hold(root)?.open(path)
}

/// Reads such a file; an empty one and one that is larger than this are refused.
pub fn read(root: &Path, path: &str, max: u64) -> Result<Vec<u8>, String> {
    let file = open(root, path)?;
    let mut text = Vec::new();
    let name = shown(path);
    file.take(max + 1).read_to_end(&mut text).map_err(|error| format!("{name}: {error}"))?;
    if text.is_empty() {
        return Err(format!("{name} is empty"));
    }
    if text.len() as u64 > max {
        return Err(format!("{name} is larger than {} KiB", max / 1024));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::thread;

    use super::*;

    #[test]
    fn a_link_counts_only_if_it_stays_inside() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("work");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(directory.path().join("secret"), "s").unwrap();
        fs::write(root.join("sub/a"), "1").unwrap();
        symlink("sub/a", root.join("near")).unwrap();
        symlink("../secret", root.join("far")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        for path in ["sub/a", "near", "./sub/./a"] {
            assert_eq!(read(&root, path, 10).unwrap(), b"1", "{path}");
        }
        for path in
            ["far", "up/secret", "etc/passwd", "../secret", "sub/../../secret", "/etc/passwd"]
        {
            let said = read(&root, path, 10).unwrap_err();
            assert!(said.contains("does not lie in the workspace"), "{path}: {said}");
        }
        for path in ["sub", "none", "a\0b", ""] {
            assert!(read(&root, path, 10).is_err(), "{path:?}");
        }
        fs::write(root.join("-f"), "x".repeat(11)).unwrap();
        assert!(read(&root, "-f", 10).unwrap_err().contains("larger"));
    }

    #[test]
    fn a_pipe_in_place_of_a_file_holds_nobody_up() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        assert!(read(directory.path(), "pipe", 10).unwrap_err().contains("not a file"));
    }

    #[test]
    fn a_folder_that_is_swapped_for_a_link_again_and_again_never_leads_out() {
        let directory = tempfile::tempdir().unwrap();
        let (root, outer) = (directory.path().join("work"), directory.path().join("outer"));
        for (folder, text) in [(root.join("real"), "in"), (outer.clone(), "out")] {
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("f"), text).unwrap();
        }
        let door = root.join("door");
        let swapping = {
            let (door, root) = (door.clone(), root.clone());
            thread::spawn(move || {
                for round in 0..2000 {
                    let target = if round % 2 == 0 { outer.clone() } else { root.join("real") };
                    let draft = root.join("draft");
                    symlink(target, &draft).unwrap();
                    fs::rename(&draft, &door).unwrap();
                }
            })
        };
        while !swapping.is_finished() {
            if let Ok(text) = read(&root, "door/f", 10) {
                assert_eq!(text, b"in");
            }
        }
        swapping.join().unwrap();
    }
}
