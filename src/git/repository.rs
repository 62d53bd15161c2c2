//! Asks a repository for what we need to know.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::aside::Aside;
use super::call::{Call, GitError};
use super::found::{Found, find};

/// The repository that a directory lies in.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(super) found: Found,
    pub(super) directory: PathBuf,
}

impl Repository {
    /// Finds the repository that the directory lies in.
    pub fn find(directory: &Path) -> Result<Self, GitError> {
        let found = find(directory).ok_or(GitError::NoRepository)?;
        Ok(Self { found, directory: directory.to_owned() })
    }

    /// Returns the directory that its files lie in.
    pub fn top(&self) -> &Path {
        &self.found.top
    }

    /// Returns the files that git knows or would add, relative to the directory.
    pub fn files(&self) -> Result<Vec<PathBuf>, GitError> {
        let ignored = self.settings()?.into_iter().filter(|(name, _)| name == "core.excludesfile");
        let call = Call { settings: ignored.collect(), ..self.call() };
        let listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let mut files = paths(&call.run(&listed)?);
        // A file in conflict is listed once for each side.
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Returns the files that differ from the last commit, relative to the repository's top.
    pub fn changed(&self) -> Result<Vec<PathBuf>, GitError> {
        let aside = self.aside()?;
        let status = [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            // Git would call itself in there, by the settings that it finds there.
            "--ignore-submodules=all",
            "--no-renames",
        ];
        let listed = aside.call(&self.found).run(&status)?;
        let names = listed.split(|byte| *byte == 0).filter_map(|line| line.get(3..));
        Ok(names.map(path).collect())
    }

    /// Returns the commit that is checked out, if there is one yet.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        match self.call().run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) {
            Ok(name) => Ok(Some(String::from_utf8_lossy(&name).trim().to_owned())),
            Err(GitError::Failed { words, .. }) if words.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Says whether a commit has a directory, named from the top on.
    pub fn has_directory(&self, commit: &str, path: &Path) -> Result<bool, GitError> {
        let words = ["ls-tree", "-d", "-z", "--full-tree", commit, "--"].map(OsStr::new);
        let listed = self.call().run(&[&words[..], &[path.as_os_str()]].concat())?;
        // A repository inside is listed too, as a commit.
        Ok(listed.starts_with(b"040000 "))
    }

    /// Counts the commits of HEAD that a reference lacks.
    pub fn commits_beyond(&self, reference: &str) -> Result<u64, GitError> {
        // A name that begins with a dash would be an option.
        let range = format!("^{reference}");
        self.count(&[&range, "HEAD"])
    }

    /// Counts the commits of HEAD that were made at this second since 1970 or later.
    pub fn commits_since(&self, second: u64) -> Result<u64, GitError> {
        if self.head()?.is_none() {
            return Ok(0);
        }
        self.count(&[&format!("--max-age={second}"), "HEAD"])
    }

    fn count(&self, arguments: &[&str]) -> Result<u64, GitError> {
        let words = [&["rev-list", "--count"], arguments, &["--"]].concat();
        let counted = String::from_utf8_lossy(&self.call().run(&words)?).trim().to_owned();
        counted
            .parse()
            .map_err(|_| GitError::Failed { verb: "rev-list".to_owned(), words: counted })
    }

    /// Returns what is set here, by whomever; that runs nothing.
    pub(super) fn settings(&self) -> Result<Vec<(String, String)>, GitError> {
        let call = Call { is_about_settings: true, ..self.call() };
        Ok(pairs(&call.run(&["config", "--list", "-z"])?))
    }

    /// Returns what is set for this repository alone.
    pub fn own_settings(&self) -> Result<Vec<(String, String)>, GitError> {
        Ok(pairs(&self.call().run(&["config", "--list", "-z", "--local"])?))
    }

    /// Waits until all that was written into it, by whomever, is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        let directory = File::open(&self.found.common_dir)?;
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(&directory)?;
        #[cfg(not(target_os = "linux"))]
        {
            rustix::fs::sync();
            directory.sync_all()?;
        }
        Ok(())
    }

    /// Returns what all its working trees share.
    pub fn common_dir(&self) -> &Path {
        &self.found.common_dir
    }

    /// Returns a call that knows of no settings but ours: no filter, no merge driver.
    pub(super) fn aside(&self) -> Result<Aside, GitError> {
        let head = self.head()?;
        Ok(Aside::lay_out(&self.found, &self.settings()?, head.as_deref())?)
    }

    pub(super) fn call(&self) -> Call<'_> {
        Call {
            variables: vec![
                ("GIT_DIR", self.found.git_dir.clone().into()),
                ("GIT_WORK_TREE", self.found.top.clone().into()),
            ],
            ..Call::new(&self.directory)
        }
    }
}

fn pairs(listed: &[u8]) -> Vec<(String, String)> {
    let pair = |entry: &[u8]| {
        let entry = String::from_utf8_lossy(entry).into_owned();
        let (name, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
        (name.to_owned(), value.to_owned())
    };
    listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()).map(pair).collect()
}

pub(super) fn paths(listed: &[u8]) -> Vec<PathBuf> {
    listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path).collect()
}

pub(super) fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}
