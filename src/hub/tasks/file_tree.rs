//! A number for all files below a directory, so that it is known what a gate was about.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags};

use super::board::is_mirror;
use crate::git::Repository;
use crate::workspace::inside::Root;

/// More files than this are told apart by size and time alone.
const FILES_MAX: usize = 50_000;

/// A directory without git that holds more than this is somebody's home, not a project.
const WALKED_MAX: usize = 1_000_000;

/// Larger files are told apart by size and time alone.
const CONTENT_BYTES_MAX: u64 = 1024 * 1024;

/// Directories that builds fill, where no git says what to ignore.
const IGNORED: &[&str] = &[".git", "target", "node_modules", "__pycache__", ".venv"];

/// What an agent that lost its thread is told.
const MODIFIED_MAX: usize = 200;

/// Returns a number that is another as soon as a file is; nothing if they cannot be listed.
pub(in crate::hub) fn number(directory: &Path) -> Option<String> {
    let mut root = Root::hold(directory).ok()?;
    let files = files(directory)?;
    let content_max = if files.len() > FILES_MAX { 0 } else { CONTENT_BYTES_MAX };
    let mut hasher = DefaultHasher::new();
    for file in &files {
        file.as_os_str().as_bytes().hash(&mut hasher);
        hash_file(&mut root, (directory, file), content_max, &mut hasher);
    }
    Some(format!("{:016x}", hasher.finish()))
}

/// Returns the files that differ from the last commit.
pub(in crate::hub) fn modified(directory: &Path) -> Vec<String> {
    if Root::hold(directory).is_err() {
        return Vec::new();
    }
    let changed = Repository::find(directory).and_then(|repository| repository.changed());
    let names = changed.unwrap_or_default().into_iter().take(MODIFIED_MAX);
    names.map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Returns the files below a directory in their order, without what builds make.
pub(in crate::hub) fn files(directory: &Path) -> Option<Vec<PathBuf>> {
    let listed = Repository::find(directory).and_then(|repository| repository.files());
    let mut files = listed.ok().or_else(|| walked(directory))?;
    files.retain(|file| !is_mirror(file));
    files.sort();
    Some(files)
}

fn walked(directory: &Path) -> Option<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        // A link that has taken the place of a directory is not followed.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = rustix::fs::open(directory.join(&inner), flags, Mode::empty()).ok()?;
        for entry in Dir::read_from(&held).ok()?.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let path = inner.join(name);
            let Ok(told) = fs::symlink_metadata(directory.join(&path)) else { continue };
            if !told.is_dir() {
                files.push(path);
            } else if IGNORED.iter().all(|one| name != *one) {
                open.push(path);
            }
        }
        if files.len() > WALKED_MAX {
            return None;
        }
    }
    Some(files)
}

fn hash_file(
    root: &mut Root,
    (directory, file): (&Path, &Path),
    content_max: u64,
    hasher: &mut DefaultHasher,
) {
    let told = fs::symlink_metadata(directory.join(file)).ok();
    let Some(told) = told.filter(|_| root.reaches(file)) else {
        return "gone".hash(hasher);
    };
    (told.mode(), told.len()).hash(hasher);
    if told.is_symlink() {
        root.read_link(file).hash(hasher);
    } else if told.is_file() && told.len() <= content_max {
        root.read_plain(file, content_max).hash(hasher);
    } else {
        (told.mtime(), told.mtime_nsec(), told.ctime(), told.ctime_nsec()).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_a_new_and_a_lost_file_give_another_number() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let set = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
        set("a", "1");
        let first = number(root).unwrap();
        assert_eq!(number(root).unwrap(), first);
        set("a", "2");
        let second = number(root).unwrap();
        assert_ne!(second, first);
        set("b", "1");
        assert_ne!(number(root).unwrap(), second);
        fs::remove_file(root.join("b")).unwrap();
        assert_eq!(number(root).unwrap(), second);
    }

    #[test]
    fn what_git_ignores_does_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        crate::git::run(root, &["init", "-q"]).unwrap();
        fs::write(root.join(".gitignore"), "out/\n").unwrap();
        let before = number(root).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        fs::write(root.join("out/x"), "1").unwrap();
        assert_eq!(number(root).unwrap(), before);
        fs::write(root.join("new"), "1").unwrap();
        assert_ne!(number(root).unwrap(), before);
        assert_eq!(modified(root), [".gitignore", "new"]);
    }
}
