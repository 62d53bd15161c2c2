//! A number for all files below a directory, so that it is known what a gate was about.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::board::is_mirror;

/// More files than this are not looked at one by one.
const FILES_MAX: usize = 50_000;

/// Larger files are told apart by size and time alone.
const CONTENT_BYTES_MAX: u64 = 1024 * 1024;

/// Directories that builds fill, where no git says what to ignore.
const IGNORED: &[&str] = &[".git", "target", "node_modules", "__pycache__", ".venv"];

/// What an agent that lost its thread is told.
const MODIFIED_MAX: usize = 200;

/// Returns a number that is another as soon as a file is; nothing if there are too many.
pub(super) fn number(directory: &Path) -> Option<String> {
    let mut files = listed(directory).or_else(|| walked(directory))?;
    files.retain(|file| !is_mirror(file));
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in &files {
        file.as_os_str().as_bytes().hash(&mut hasher);
        hash_file(&directory.join(file), &mut hasher);
    }
    Some(format!("{:016x}", hasher.finish()))
}

/// Returns the files that differ from the last commit.
pub(super) fn modified(directory: &Path) -> Vec<String> {
    let output = git(directory, &["status", "--porcelain", "--untracked-files=all"]);
    let text = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
    let path = |line: &str| line.get(3..).map(|path| path.trim_matches('"').to_owned());
    text.lines().filter_map(path).take(MODIFIED_MAX).collect()
}

/// Returns the files that git knows or would add, relative to the directory.
fn listed(directory: &Path) -> Option<Vec<PathBuf>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = git(directory, &arguments)?;
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let files: Vec<PathBuf> =
        names.map(|name| PathBuf::from(std::ffi::OsStr::from_bytes(name))).collect();
    (files.len() <= FILES_MAX).then_some(files)
}

fn git(directory: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then_some(output.stdout)
}

fn walked(directory: &Path) -> Option<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(directory.join(&inner)).ok()?.flatten() {
            let name = entry.file_name();
            let path = inner.join(&name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && IGNORED.iter().all(|one| name != *one) => {
                    open.push(path);
                }
                Ok(kind) if kind.is_dir() => {}
                Ok(_) => files.push(path),
                Err(_) => return None,
            }
        }
        if files.len() > FILES_MAX {
            return None;
        }
    }
    Some(files)
}

fn hash_file(path: &Path, hasher: &mut DefaultHasher) {
    let Ok(told) = fs::symlink_metadata(path) else {
        return "gone".hash(hasher);
    };
    (told.mode(), told.len()).hash(hasher);
    if told.is_symlink() {
        fs::read_link(path).ok().hash(hasher);
    } else if told.is_file() && told.len() <= CONTENT_BYTES_MAX {
        fs::read(path).ok().hash(hasher);
    } else {
        (told.mtime(), told.mtime_nsec()).hash(hasher);
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
        assert!(git(root, &["init", "-q"]).is_some());
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
