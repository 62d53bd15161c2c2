//! Finds branches that are checked out, rebased or bisected in any worktree.

use std::fs;
use std::path::PathBuf;

use super::call::GitError;
use super::found::read_small;
use super::repository::{Repository, path};

/// The name of a branch, and the list of those that a rebase moves at its end.
const NAMES_BYTES_MAX: u64 = 1024 * 1024;

/// Files in which git keeps the names of branches that it will move, or go back to.
const HELD_BY: &[(&str, Usage)] = &[
    ("rebase-merge/head-name", Usage::Rebased),
    ("rebase-merge/update-refs", Usage::Rebased),
    ("rebase-apply/head-name", Usage::Rebased),
    ("BISECT_START", Usage::Bisected),
];

/// What somebody does with a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    CheckedOut,
    /// It is moved when the rebase ends, from where it stood when it began.
    Rebased,
    Bisected,
}

impl Repository {
    /// Returns what somebody does with a branch, by its full name, and in which working tree.
    pub fn usage(&self, branch: &str) -> Result<Option<(Usage, PathBuf)>, GitError> {
        let checked_out = self.checked_out()?.into_iter().find(|(name, _)| name == branch);
        if let Some((_, place)) = checked_out {
            return Ok(Some((Usage::CheckedOut, place)));
        }
        let held = self.git_dirs().into_iter().find_map(|(git_dir, place)| {
            let names = |file: &str| read_small(&git_dir.join(file), NAMES_BYTES_MAX);
            let is_named = |(file, _): &&(&str, Usage)| {
                names(file).is_some_and(|text| is_listed(&text, branch))
            };
            Some((HELD_BY.iter().find(is_named)?.1, place))
        });
        Ok(held)
    }

    /// Returns the git directory of every working tree, and where its files are.
    fn git_dirs(&self) -> Vec<(PathBuf, PathBuf)> {
        let common = &self.found.common_dir;
        let is_hidden = common.file_name().is_some_and(|name| name == ".git");
        let first = if is_hidden { common.parent().unwrap_or(common) } else { common };
        let linked = self.worktrees().into_iter();
        std::iter::once((common.clone(), first.to_owned())).chain(linked).collect()
    }

    /// Returns the working trees beside the first, by what the repository itself knows of them: the
    /// git directory of each, and where its files are or were.
    pub fn worktrees(&self) -> Vec<(PathBuf, PathBuf)> {
        let entries = fs::read_dir(self.found.common_dir.join("worktrees"));
        let place = |git_dir: PathBuf| {
            let named = read_small(&git_dir.join("gitdir"), NAMES_BYTES_MAX)?;
            let link = path(named.trim_ascii_end());
            // Newer versions of git may write it relative to where it stands.
            let link = if link.is_absolute() { link } else { git_dir.join(link) };
            Some((git_dir, link.parent()?.to_owned()))
        };
        let mut found: Vec<_> =
            entries.into_iter().flatten().flatten().filter_map(|one| place(one.path())).collect();
        found.sort();
        found
    }
}

fn is_listed(text: &[u8], branch: &str) -> bool {
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.any(|line| line == branch.as_bytes() || line == short.as_bytes())
}
