//! Files of a workspace, opened so that no link leads out of it, not even one that is made meanwhile.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags};

use crate::model::lies_inside;

/// Opens a file that an agent or a gate names; returns why that cannot be.
pub fn open(root: &Path, path: &str) -> Result<File, String> {
    let told = |reason: &dyn std::fmt::Display| format!("{path}: {reason}");
    let outside = || format!("{path} does not lie in the workspace");
    if !lies_inside(path) {
        return Err(outside());
    }
    let root = fs::canonicalize(root).map_err(|error| told(&error))?;
    let real = fs::canonicalize(root.join(path)).map_err(|error| told(&error))?;
    let below = real.strip_prefix(&root).map_err(|_| outside())?;
    // No part of it is a link any more; where one has become one since, this fails.
    let step = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut here = rustix::fs::open(&root, step | OFlags::DIRECTORY, Mode::empty())
        .map_err(|error| told(&error))?;
    for part in below.components() {
        let Component::Normal(name) = part else { return Err(outside()) };
        here = rustix::fs::openat(&here, name, step | OFlags::NOCTTY, Mode::empty())
            .map_err(|error| told(&error))?;
    }
    let file = File::from(here);
    let is_file = file.metadata().map_err(|error| told(&error))?.is_file();
    if is_file { Ok(file) } else { Err(format!("{path} is not a file")) }
}

/// Reads a plain file where it stands; whatever has taken its place meanwhile is not waited for.
pub fn read_plain(path: &Path, max: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags | OFlags::NOCTTY, Mode::empty()).ok()?);
    let mut text = Vec::new();
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    file.take(max).read_to_end(&mut text).ok()?;
    Some(text)
}

/// Reads such a file; an empty one and one that is larger than this are refused.
pub fn read(root: &Path, path: &str, max: u64) -> Result<Vec<u8>, String> {
    let file = open(root, path)?;
    let mut text = Vec::new();
    file.take(max + 1).read_to_end(&mut text).map_err(|error| format!("{path}: {error}"))?;
    if text.is_empty() {
        return Err(format!("{path} is empty"));
    }
    if text.len() as u64 > max {
        return Err(format!("{path} is larger than {} KiB", max / 1024));
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
