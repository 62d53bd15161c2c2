//! Copies files from the project into a workspace: those of a list, or all.
//!
//! Nothing is read through a link that leads out of the project, and nothing written through one
//! that lies in the workspace.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Component, Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

use super::walk::{Shape, walk};
use super::{WorkspaceError, inside};
use crate::config::Hash;
use crate::model::lies_inside;

/// Local files are settings and keys, not data.
const LISTED_FILES_MAX: usize = 1_000;
const LISTED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A project that is larger is not copied for every agent.
const COPIED_FILES_MAX: usize = 100_000;
const COPIED_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Stands for what is in each file, by path.
pub(super) type Inventory = BTreeMap<String, String>;

/// Copies the listed files that are there, and what is in the listed directories.
pub(super) fn copy_listed(
    project: &Path,
    to: &Path,
    list: &[String],
) -> Result<Inventory, WorkspaceError> {
    let mut copied = Inventory::new();
    for (name, content, mode) in listed(project, list)? {
        write_inside(to, &name, &content, mode).map_err(WorkspaceError::at(&to.join(&name)))?;
        copied.insert(name, Hash::of(&content).to_string());
    }
    Ok(copied)
}

/// Returns the listed files that are there, and those in the listed directories: names, what is in
/// them, modes.
pub(super) fn listed(
    project: &Path,
    list: &[String],
) -> Result<Vec<(String, Vec<u8>, u32)>, WorkspaceError> {
    let mut found = Vec::new();
    let mut bytes = 0;
    for name in list {
        if !lies_inside(name) {
            return Err(WorkspaceError::Refused(format!("`{name}` is not in the project")));
        }
        let path = project.join(name);
        let Ok(told) = fs::metadata(&path) else { continue };
        let names = if told.is_dir() { below(project, name)? } else { vec![name.clone()] };
        for name in names {
            let file = inside::open(project, &name).map_err(WorkspaceError::Refused)?;
            let told = file.metadata().map_err(WorkspaceError::at(&path))?;
            bytes += told.len();
            if found.len() >= LISTED_FILES_MAX || bytes > LISTED_BYTES_MAX {
                let mebibytes = LISTED_BYTES_MAX / (1024 * 1024);
                let words = format!("more than {LISTED_FILES_MAX} files or {mebibytes} MiB");
                let place = "`workspace.copy` is for settings and keys";
                return Err(WorkspaceError::Refused(format!("{name}: {words}: {place}")));
            }
            let mut content = Vec::new();
            file.take(LISTED_BYTES_MAX)
                .read_to_end(&mut content)
                .map_err(WorkspaceError::at(&path))?;
            found.push((name, content, told.mode()));
        }
    }
    Ok(found)
}

/// Returns the files below a listed directory, which must not be reached by a link.
fn below(project: &Path, name: &str) -> Result<Vec<String>, WorkspaceError> {
    let top = project.join(name);
    let real = top.canonicalize().map_err(WorkspaceError::at(&top))?;
    let outer = project.canonicalize().map_err(WorkspaceError::at(project))?;
    if !real.starts_with(&outer) {
        return Err(WorkspaceError::Refused(format!("`{name}` leads out of the project")));
    }
    let walked = walk(&real, false);
    if let Some(reason) = walked.unread {
        return Err(WorkspaceError::Refused(reason));
    }
    let plain = walked.files.iter().filter(|seen| seen.shape != Shape::Other);
    let path = |path: &Path| PathBuf::from(name).join(path).to_string_lossy().into_owned();
    Ok(plain.map(|seen| path(&seen.path)).collect())
}

/// Writes a file below a directory; a link on the way there is an error.
pub(super) fn write_inside(root: &Path, name: &str, content: &[u8], mode: u32) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::DIRECTORY | OFlags::RDONLY;
    let mut here: OwnedFd = rustix::fs::open(root, flags, Mode::empty())?;
    let parts: Vec<_> = Path::new(name)
        .components()
        .filter_map(|part| if let Component::Normal(name) = part { Some(name) } else { None })
        .collect();
    let Some((last, folders)) = parts.split_last() else { return Ok(()) };
    for folder in folders {
        match rustix::fs::mkdirat(&here, *folder, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        here = rustix::fs::openat(&here, *folder, flags, Mode::empty())?;
    }
    let flags =
        OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY;
    let mode = Mode::from_raw_mode(mode & 0o777);
    let mut file = File::from(rustix::fs::openat(&here, *last, flags, mode)?);
    file.write_all(content)
}

/// Copies everything below the project into a directory that is not there yet.
pub(super) fn copy_all(project: &Path, root: &Path) -> Result<Inventory, WorkspaceError> {
    let walked = walk(project, false);
    if let Some(reason) = walked.unread {
        return Err(WorkspaceError::Refused(reason));
    }
    let bytes: u64 = walked.files.iter().map(|seen| seen.bytes).sum();
    if walked.files.len() > COPIED_FILES_MAX || bytes > COPIED_BYTES_MAX {
        let (count, mebibytes) = (walked.files.len(), bytes / (1024 * 1024));
        return Err(WorkspaceError::Refused(format!(
            "the project has {count} files with {mebibytes} MiB, which is too large to copy: \
             use `workspace = \"worktree\"`, or `shared`"
        )));
    }
    if let Some(odd) = walked.files.iter().find(|seen| seen.shape == Shape::Other) {
        let name = odd.path.display();
        let words = format!("`{name}` is neither a file nor a link, and cannot be copied");
        return Err(WorkspaceError::Refused(words));
    }
    fs::create_dir(root).map_err(WorkspaceError::at(root))?;
    for directory in walked.directories.iter().rev() {
        let path = root.join(directory);
        fs::create_dir(&path).map_err(WorkspaceError::at(&path))?;
    }
    let mut inventory = Inventory::new();
    for seen in walked.files {
        let (from, to) = (project.join(&seen.path), root.join(&seen.path));
        let content = match seen.shape {
            Shape::Link => fs::read_link(&from).and_then(|target| {
                symlink(&target, &to)?;
                Ok(target.into_os_string().into_encoded_bytes())
            }),
            Shape::File { .. } | Shape::Other => fs::copy(&from, &to).and_then(|_| fs::read(&to)),
        };
        let content = content.map_err(WorkspaceError::at(&from))?;
        inventory.insert(key(&seen.path), number(seen.shape, &content));
    }
    Ok(inventory)
}

/// Returns what stands for a file's content and what kind of file it is.
pub(super) fn number(shape: Shape, content: &[u8]) -> String {
    let kind = match shape {
        Shape::Link => "link",
        Shape::File { is_executable: true } => "program",
        Shape::File { is_executable: false } | Shape::Other => "file",
    };
    format!("{kind} {}", Hash::of(content))
}

/// Returns a path as a key, whatever bytes are in it.
pub(super) fn key(path: &Path) -> String {
    let shown = path.to_string_lossy();
    if path.to_str().is_some() {
        shown.into_owned()
    } else {
        path.as_os_str().as_encoded_bytes().escape_ascii().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let world = tempfile::tempdir().unwrap();
        let (project, root) = (world.path().join("project"), world.path().join("root"));
        fs::create_dir_all(project.join("config/deep")).unwrap();
        fs::write(project.join(".env"), "KEY=1").unwrap();
        fs::write(project.join("config/deep/a"), "a").unwrap();
        fs::write(world.path().join("secret"), "s").unwrap();
        symlink("../secret", project.join("out")).unwrap();
        symlink("..", project.join("up")).unwrap();
        (world, project, root)
    }

    #[test]
    fn listed_files_come_along_and_nothing_leads_out_in_either_direction() {
        let (world, project, root) = world();
        fs::create_dir(&root).unwrap();
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let copied = copy_listed(&project, &root, &list(&[".env", "config", "none"])).unwrap();
        assert_eq!(copied.keys().collect::<Vec<_>>(), [".env", "config/deep/a"]);
        assert_eq!(fs::read_to_string(root.join("config/deep/a")).unwrap(), "a");
        for name in ["out", "up/secret", "../secret", "up", "/etc/passwd"] {
            assert!(copy_listed(&project, &root, &list(&[name])).is_err(), "{name}");
        }
        // A link that the repository itself brings along leads nowhere either.
        fs::remove_dir_all(root.join("config")).unwrap();
        symlink(world.path(), root.join("config")).unwrap();
        assert!(copy_listed(&project, &root, &list(&["config"])).is_err());
        assert!(!world.path().join("deep").exists());
        assert_eq!(fs::read_to_string(world.path().join("secret")).unwrap(), "s");
    }

    #[test]
    fn a_copy_has_everything_links_included_and_what_cannot_be_copied_is_said() {
        let (_world, project, root) = world();
        let inventory = copy_all(&project, &root).unwrap();
        assert_eq!(inventory.keys().collect::<Vec<_>>(), [".env", "config/deep/a", "out", "up"]);
        assert_eq!(fs::read_link(root.join("out")).unwrap(), Path::new("../secret"));
        assert!(copy_all(&project, &root).is_err(), "it is already there");
        let pipe = project.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR).unwrap();
        let refused = copy_all(&project, &root.with_extension("2")).unwrap_err().to_string();
        assert!(refused.contains("`pipe`"), "{refused}");
    }
}
