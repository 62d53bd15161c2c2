//! Computes merges without a worktree; moves no reference.

use std::path::PathBuf;

use super::call::GitError;
use super::repository::{Repository, path, paths};

/// What comes of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    Clean { tree: String },
    Conflicts { files: Vec<PathBuf> },
}

impl Repository {
    /// Merges two commits from a third, or from what they have in common.
    ///
    /// It is asked from a git directory of our own, since settings can name programs that merge.
    pub fn merge(&self, ours: &str, theirs: &str, base: Option<&str>) -> Result<Merged, GitError> {
        let aside = self.aside()?;
        let base = base.map(|base| format!("--merge-base={base}"));
        let mut arguments =
            vec!["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"];
        arguments.extend(base.as_deref());
        arguments.extend([ours, theirs]);
        let ended = aside.call(&self.found).ask(&arguments, None)?;
        let mut fields = ended.output.split(|byte| *byte == 0);
        let tree = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
        match ended.status.code() {
            Some(0) => Ok(Merged::Clean { tree }),
            Some(1) if !tree.is_empty() => {
                let files = fields.filter(|name| !name.is_empty()).map(path).collect();
                Ok(Merged::Conflicts { files })
            }
            _ => Err(ended.failure(&arguments)),
        }
    }

    /// Returns the files that differ between two commits.
    pub fn changed_between(&self, from: &str, to: &str) -> Result<Vec<PathBuf>, GitError> {
        let compared = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to];
        Ok(paths(&self.shared_call().run(&compared)?))
    }
}
