//! Reads and moves references.

use std::path::PathBuf;

use super::call::{Call, GitError};
use super::repository::{Repository, path};

impl Repository {
    /// Moves a reference, if it still stands where it did; without an old commit, if it is not there.
    pub fn move_ref(&self, name: &str, new: &str, old: Option<&str>) -> Result<(), GitError> {
        let why = "wheelhouse";
        let arguments = ["update-ref", "-m", why, name, new, old.unwrap_or("")];
        self.swap(name, old, &arguments)
    }

    /// Takes a reference away, if it still stands where it did.
    pub fn delete_ref(&self, name: &str, old: &str) -> Result<(), GitError> {
        self.swap(name, Some(old), &["update-ref", "-d", name, old])
    }

    fn swap(&self, name: &str, old: Option<&str>, arguments: &[&str]) -> Result<(), GitError> {
        match self.call().run(arguments) {
            Ok(_) => Ok(()),
            Err(error) => match self.commit(name) {
                Ok(now) if now.as_deref() != old => Err(GitError::Moved { name: name.to_owned() }),
                Ok(_) | Err(_) => Err(error),
            },
        }
    }

    /// Returns the references below a prefix, with what each stands for.
    pub fn refs_below(&self, prefix: &str) -> Result<Vec<(String, String)>, GitError> {
        let format = "--format=%(objectname) %(refname)";
        let listed = self.shared_call().run(&["for-each-ref", format, prefix])?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let pair = |line: &str| line.split_once(' ').map(|(id, name)| (name.into(), id.into()));
        Ok(listed.lines().filter_map(pair).collect())
    }

    /// Says whether all of one commit's history is in another's.
    pub fn is_ancestor(&self, older: &str, newer: &str) -> Result<bool, GitError> {
        let arguments = ["merge-base", "--is-ancestor", older, newer];
        let ended = self.call().ask(&arguments, None)?;
        match ended.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(ended.failure(&arguments)),
        }
    }

    /// Returns which of these commits, and of those before them, no reference holds but the one that
    /// is left out, and none of the others does either. Commits that are gone do not count.
    pub fn unheld(
        &self,
        commits: &[String],
        left_out: &str,
        others: &[&str],
    ) -> Result<Vec<String>, GitError> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let exclude = format!("--exclude={left_out}");
        let arguments =
            ["rev-list", "--ignore-missing", "--stdin", "--not", &exclude, "--glob=refs/*"];
        let mut named = commits.join("\n");
        for other in others {
            named.extend(["\n^", other]);
        }
        named.push('\n');
        Ok(lines(&self.shared_call().feed(&arguments, named.into_bytes())?))
    }

    /// Returns the commits after one, up to another, oldest first, without merges.
    pub fn commits_between(&self, from: &[&str], to: &str) -> Result<Vec<String>, GitError> {
        let mut arguments =
            vec!["rev-list", "--reverse", "--topo-order", "--no-merges", to, "--not"];
        arguments.extend(from);
        arguments.push("--");
        Ok(lines(&self.call().run(&arguments)?))
    }

    /// Returns the commit up to which two have the same history, if they have any in common.
    pub fn common(&self, one: &str, other: &str) -> Result<Option<String>, GitError> {
        let arguments = ["merge-base", one, other];
        let ended = self.call().ask(&arguments, None)?;
        match ended.status.code() {
            Some(0) => Ok(Some(line(&ended.output))),
            Some(1) => Ok(None),
            _ => Err(ended.failure(&arguments)),
        }
    }

    /// Says whether a branch can have this name.
    pub fn is_branch_name(&self, name: &str) -> Result<bool, GitError> {
        let full = format!("refs/heads/{name}");
        let ended = self.shared_call().ask(&["check-ref-format", &full], None)?;
        Ok(ended.status.success() && !name.starts_with('-'))
    }

    /// Returns where each branch is checked out, by its full name.
    pub fn checked_out(&self) -> Result<Vec<(String, PathBuf)>, GitError> {
        let listed = self.shared_call().run(&["worktree", "list", "--porcelain", "-z"])?;
        let (mut places, mut place) = (Vec::new(), PathBuf::new());
        for field in listed.split(|byte| *byte == 0) {
            if let Some(root) = field.strip_prefix(b"worktree ") {
                place = path(root);
            } else if let Some(branch) = field.strip_prefix(b"branch ") {
                places.push((String::from_utf8_lossy(branch).into_owned(), place.clone()));
            }
        }
        Ok(places)
    }

    /// Returns a call about what all working trees share, whichever of them this one is.
    pub(super) fn shared_call(&self) -> Call<'_> {
        Call {
            variables: vec![("GIT_DIR", self.found.common_dir.clone().into())],
            ..Call::new(&self.found.common_dir)
        }
    }
}

pub(super) fn line(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim().to_owned()
}

fn lines(output: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(output).lines().map(str::to_owned).collect()
}
