//! Makes a git directory of our own beside a repository's files.
//!
//! To compare files with the index, git runs the filters that the repository's settings name for
//! them. A list of those to override would be old by the time it is used: an agent may write another
//! meanwhile. So git is given a directory in which there are no settings but ours. It reads the real
//! index, the real objects and the real files; a filter, a hook or a monitor is named nowhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::call::Call;
use super::found::{Found, read_small};

/// Settings that say how files are compared and run nothing: what a person set counts here too.
const CARRIED_OVER: &[&str] = &[
    "core.autocrlf",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
];

/// A list of files to ignore; a longer one is not a person's.
const EXCLUDE_BYTES_MAX: u64 = 1024 * 1024;

/// The directory; it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Aside {
    directory: TempDir,
    settings: Vec<(String, String)>,
    has_long_names: bool,
    /// The index is a copy of our own, which may be written to.
    has_own_index: bool,
}

impl Aside {
    /// Lays it out for a repository with these settings, whose HEAD is this commit.
    pub(super) fn lay_out(
        found: &Found,
        settings: &[(String, String)],
        head: Option<&str>,
    ) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("wheelhouse-git-").tempdir()?;
        let root = directory.path();
        for name in ["objects", "refs", "info"] {
            fs::create_dir(root.join(name))?;
        }
        let head = head.unwrap_or("ref: refs/heads/none");
        fs::write(root.join("HEAD"), format!("{head}\n"))?;
        let has_long_names = settings
            .iter()
            .any(|(name, value)| name == "extensions.objectformat" && value == "sha256");
        let config = if has_long_names {
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"
        } else {
            "[core]\n\trepositoryformatversion = 0\n"
        };
        fs::write(root.join("config"), config)?;
        let exclude = read_small(&found.common_dir.join("info/exclude"), EXCLUDE_BYTES_MAX);
        fs::write(root.join("info/exclude"), exclude.unwrap_or_default())?;
        let carried = settings.iter().filter(|(name, _)| CARRIED_OVER.contains(&name.as_str()));
        let settings = carried.cloned().collect();
        Ok(Self { directory, settings, has_long_names, has_own_index: false })
    }

    /// Takes a copy of the index, so that more can be entered into it.
    pub(super) fn copy_index(&mut self, found: &Found) -> io::Result<()> {
        self.has_own_index = true;
        for entry in fs::read_dir(&found.git_dir)?.flatten() {
            let name = entry.file_name();
            // The second name is the part of an index that was split in two.
            let is_part = name == "index" || name.as_encoded_bytes().starts_with(b"sharedindex.");
            if is_part && entry.file_type()?.is_file() {
                self.copy(&entry.path(), Path::new(&name))?;
            }
        }
        Ok(())
    }

    /// Returns the index that calls are given.
    pub(super) fn index(&self, found: &Found) -> PathBuf {
        let folder = if self.has_own_index { self.directory.path() } else { &found.git_dir };
        folder.join("index")
    }

    /// Copies a file with its time: git compares those of files with that of the index, to know
    /// which may have changed since in the same tick of the clock.
    fn copy(&self, from: &Path, name: &Path) -> io::Result<()> {
        let to = self.directory.path().join(name);
        let changed = fs::metadata(from)?.modified()?;
        fs::copy(from, &to)?;
        fs::File::options().write(true).open(&to)?.set_modified(changed)
    }

    /// Writes a file beside, and opens it to be read.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> io::Result<fs::File> {
        let path = self.directory.path().join(name);
        fs::write(&path, content)?;
        fs::File::open(path)
    }

    /// Returns what git calls a tree without files.
    pub(super) fn empty_tree(&self) -> &'static str {
        if self.has_long_names {
            "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
        } else {
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        }
    }

    /// Returns what git calls a file without content.
    pub(super) fn empty_file(&self) -> &'static str {
        if self.has_long_names {
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        } else {
            "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        }
    }

    /// Returns a call that knows of no settings but ours.
    pub(super) fn call<'a>(&self, found: &'a Found) -> Call<'a> {
        Call {
            variables: vec![
                ("GIT_DIR", self.directory.path().into()),
                ("GIT_WORK_TREE", found.top.clone().into()),
                ("GIT_INDEX_FILE", self.index(found).into()),
                ("GIT_OBJECT_DIRECTORY", found.common_dir.join("objects").into()),
            ],
            settings: self.settings.clone(),
            ..Call::new(&found.top)
        }
    }
}
