//! A git directory of our own beside a repository's files.
//!
//! To compare files with the index, git runs the filters that the repository's settings name for
//! them. A list of those to override would be old by the time it is used: an agent may write another
//! meanwhile. So git is given a directory in which there are no settings but ours. It reads the real
//! index, the real objects and the real files; a filter, a hook or a monitor is named nowhere.

use std::fs;
use std::io;

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
        Ok(Self { directory, settings })
    }

    /// Returns a call that knows of no settings but ours.
    pub(super) fn call<'a>(&self, found: &'a Found) -> Call<'a> {
        Call {
            variables: vec![
                ("GIT_DIR", self.directory.path().into()),
                ("GIT_WORK_TREE", found.top.clone().into()),
                ("GIT_INDEX_FILE", found.git_dir.join("index").into()),
                ("GIT_OBJECT_DIRECTORY", found.common_dir.join("objects").into()),
            ],
            settings: self.settings.clone(),
            ..Call::new(&found.top)
        }
    }
}
