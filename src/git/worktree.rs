//! Adds, fills, inspects and removes worktrees.
//!
//! A checkout runs the filters that the settings name, and an agent may name some. So git only makes
//! the place, and its files are written from a git directory of our own, where none is named: a file
//! behind a filter is there as the repository keeps it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::call::{Call, GitError};
use super::found::{Found, read_small};
use super::refs::line;
use super::repository::{Repository, path, paths};

/// A large repository on a slow disk.
const CHECKOUT_LIMIT: Duration = Duration::from_mins(10);

/// The reason for a lock, the name of a branch: one line.
const LINE_BYTES_MAX: u64 = 4096;

/// Where HEAD has been: what is older is held by something else, or nobody's.
const LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What git leaves in its directory while something is not finished.
const OPERATIONS: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("BISECT_LOG", "a bisection"),
    ("sequencer", "a sequence of picks"),
];

impl Repository {
    /// Makes a working tree at a commit, on a new branch or on none; its files are written later.
    pub fn add_worktree(
        &self,
        root: &Path,
        branch: Option<&str>,
        commit: &str,
    ) -> Result<(), GitError> {
        let mut arguments = vec!["worktree", "add", "--quiet", "--no-checkout"];
        match branch {
            Some(branch) => arguments.extend(["--no-track", "-b", branch]),
            None => arguments.push("--detach"),
        }
        let root = root.to_string_lossy();
        arguments.extend([root.as_ref(), commit]);
        self.shared_call().run(&arguments).map(drop)
    }

    /// Returns the working tree at a place, by what the repository itself knows of it: the place's own
    /// word for it may have been changed.
    pub fn worktree(&self, root: &Path) -> Option<Self> {
        // Whoever has put a link in its place would have us read, and commit, what lies behind it.
        if fs::symlink_metadata(root).is_ok_and(|told| told.is_symlink()) {
            return None;
        }
        let entries = fs::read_dir(self.found.common_dir.join("worktrees")).ok()?.flatten();
        let link = root.join(".git");
        let git_dir = entries.map(|entry| entry.path()).find(|git_dir| {
            let named = read_small(&git_dir.join("gitdir"), LINE_BYTES_MAX).unwrap_or_default();
            named.trim_ascii_end() == link.as_os_str().as_bytes()
        })?;
        let common_dir = self.found.common_dir.clone();
        let found = Found { top: root.to_owned(), git_dir, common_dir };
        Some(Self { found, directory: root.to_owned() })
    }

    /// Returns the same working tree for questions that need none of its files: its directory may be
    /// missing.
    #[must_use]
    pub fn without_files(&self) -> Self {
        let git_dir = self.found.git_dir.clone();
        Self { found: Found { top: git_dir.clone(), ..self.found.clone() }, directory: git_dir }
    }

    /// Writes the files of a commit into this working tree, and its index.
    pub fn check_out(&self, commit: &str) -> Result<(), GitError> {
        let aside = self.aside()?;
        let call = Call { limit: CHECKOUT_LIMIT, ..aside.call(&self.found) };
        call.run(&["read-tree", "--reset", "-u", commit]).map(drop)
    }

    /// Writes the files of one commit into this working tree, and has it stand on another: what they
    /// differ in is then what is not committed, and a third has what is staged.
    pub fn show(&self, head: &str, files: &str, staged: &str) -> Result<(), GitError> {
        self.check_out(files)?;
        let stands = self.head()?;
        self.move_ref("HEAD", head, stands.as_deref())?;
        let aside = self.aside()?;
        aside.call(&self.found).run(&["read-tree", "--reset", staged]).map(drop)
    }

    /// Returns where git writes when someone commits here on a branch, where this is a working tree
    /// beside the first: in what all of them share, and there in few places. Those that are missing
    /// are made.
    pub fn own_places(&self, branch: &str) -> io::Result<Vec<PathBuf>> {
        let Found { git_dir, common_dir, .. } = &self.found;
        let refs = Path::new("refs/heads").join(branch);
        let refs = refs.parent().unwrap_or(&refs);
        let places =
            [common_dir.join("objects"), common_dir.join(refs), common_dir.join("logs").join(refs)];
        places.iter().try_for_each(fs::create_dir_all)?;
        Ok(places.into_iter().chain([git_dir.clone()]).collect())
    }

    /// Says whether this is a working tree beside the first.
    pub fn is_linked(&self) -> bool {
        self.found.git_dir != self.found.common_dir
    }

    /// Takes a working tree off the repository's list whose directory is gone.
    pub fn forget_worktree(&self, root: &Path) -> Result<(), GitError> {
        let root = root.to_string_lossy();
        self.shared_call().run(&["worktree", "remove", root.as_ref()]).map(drop)
    }

    /// Lets a working tree go that was never finished.
    pub fn unlock_unfinished(&self) -> io::Result<()> {
        match self.locked().as_deref() {
            Some("initializing") => fs::remove_file(self.found.git_dir.join("locked")),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns why this working tree is locked, if it is.
    pub fn locked(&self) -> Option<String> {
        let reason = read_small(&self.found.git_dir.join("locked"), LINE_BYTES_MAX)?;
        Some(line(&reason))
    }

    /// Returns what was begun here and not finished.
    pub fn operation(&self) -> Option<&'static str> {
        let is_there = |name: &str| self.found.git_dir.join(name).exists();
        OPERATIONS.iter().find(|(name, _)| is_there(name)).map(|(_, what)| *what)
    }

    /// Says whether repositories inside of this working tree keep something here.
    pub fn has_modules(&self) -> bool {
        let inside = fs::read_dir(self.found.git_dir.join("modules"));
        inside.is_ok_and(|mut entries| entries.next().is_some())
    }

    /// Returns every commit that HEAD of this working tree has stood at, as far as its log tells.
    pub fn visited(&self) -> Vec<String> {
        let log = read_small(&self.found.git_dir.join("logs/HEAD"), LOG_BYTES_MAX);
        let log = String::from_utf8_lossy(&log.unwrap_or_default()).into_owned();
        let mut commits: Vec<String> = log
            .lines()
            .flat_map(|line| line.split(' ').take(2))
            .filter(|id| id.len() >= 40 && id.chars().all(|c| c.is_ascii_hexdigit()))
            .filter(|id| id.chars().any(|c| c != '0'))
            .map(str::to_owned)
            .collect();
        commits.sort();
        commits.dedup();
        commits
    }

    /// Returns the files here that git was told to ignore, relative to the top.
    pub fn ignored(&self) -> Result<Vec<PathBuf>, GitError> {
        let aside = self.aside()?;
        let arguments = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
        Ok(paths(&aside.call(&self.found).run(&arguments)?))
    }

    /// Returns the files that differ from a commit, those that git would add included.
    pub fn differing(&self, commit: &str) -> Result<Vec<PathBuf>, GitError> {
        let aside = self.aside()?;
        let call = aside.call(&self.found);
        let compared = ["diff", "--name-only", "-z", "--no-renames", "--ignore-submodules", commit];
        let mut files = paths(&call.run(&compared)?);
        let others = ["ls-files", "-z", "--others", "--exclude-standard"];
        files.extend(paths(&call.run(&others)?));
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Returns the files that differ from those of a commit, whatever the index says.
    pub fn unlike(&self, commit: &str) -> Result<Vec<PathBuf>, GitError> {
        let mut aside = self.aside()?;
        aside.copy_index(&self.found)?;
        let call = Call { limit: CHECKOUT_LIMIT, ..aside.call(&self.found) };
        call.run(&["read-tree", "--reset", commit])?;
        let compared = ["diff-files", "--name-only", "-z", "--ignore-submodules"];
        let others = ["ls-files", "-z", "--others", "--exclude-standard"];
        // It says by its exit code that some differ.
        call.ask(&["update-index", "-q", "--refresh"], None)?;
        Ok([paths(&call.run(&compared)?), paths(&call.run(&others)?)].concat())
    }

    /// Commits everything that git would add to whatever HEAD stands on, as `git commit` would: no
    /// hook and no filter runs. Returns the commit, or nothing if there was nothing to commit. If it is
    /// not to move, only the commit is made.
    pub fn commit_all(&self, message: &str, is_to_move: bool) -> Result<Option<String>, GitError> {
        let head = self.head()?.ok_or(GitError::NoRepository)?;
        let mut aside = self.aside()?;
        aside.copy_index(&self.found)?;
        let (index, draft) = (self.found.git_dir.join("index"), aside.index(&self.found));
        let call = Call { limit: CHECKOUT_LIMIT, ..aside.call(&self.found) };
        call.run(&["add", "--all", "--", "."])?;
        let tree = line(&call.run(&["write-tree"])?);
        if tree == self.tree_of(&head)? {
            return Ok(None);
        }
        refuse_filtered(&call, &head)?;
        let commit = self.commit_tree(&tree, std::slice::from_ref(&head), message, None)?;
        if !is_to_move {
            return Ok(Some(commit));
        }
        let lock = index.with_extension("lock");
        let mut locked = fs::File::create_new(&lock)?;
        let kept = self.move_ref("HEAD", &commit, Some(&head)).and_then(|()| {
            locked.write_all(&fs::read(&draft)?)?;
            // By its time git tells which files may have changed since in the same second.
            locked.set_modified(fs::metadata(&draft)?.modified()?)?;
            Ok(fs::rename(&lock, &index)?)
        });
        if kept.is_err() {
            let _ = fs::remove_file(&lock);
        }
        kept.map(|()| Some(commit))
    }
}

/// Refuses to commit files that belong behind a filter, which does not run here, and repositories
/// inside of this one.
fn refuse_filtered(call: &Call, head: &str) -> Result<(), GitError> {
    let refuse = |words: String| Err(GitError::Failed { verb: "add".to_owned(), words });
    let compared = ["diff-index", "--cached", "-z", "--no-renames", head];
    let listed = call.run(&compared)?;
    let mut fields = listed.split(|byte| *byte == 0);
    let mut names = Vec::new();
    while let (Some(about), Some(name)) = (fields.next(), fields.next()) {
        let modes = String::from_utf8_lossy(about).into_owned();
        if modes.split(' ').nth(1) == Some(super::objects::Blob::LINK) {
            let name = path(name);
            return refuse(format!("`{}` is a repository of its own", name.display()));
        }
        names.extend_from_slice(name);
        names.push(0);
    }
    if names.is_empty() {
        return Ok(());
    }
    let told = call.feed(&["check-attr", "-z", "--stdin", "filter"], names)?;
    let fields: Vec<&[u8]> = told.split(|byte| *byte == 0).collect();
    let is_behind =
        |told: &&[&[u8]]| told.len() == 3 && !matches!(told[2], b"unspecified" | b"unset" | b"");
    match fields.chunks(3).find(is_behind) {
        Some(told) => refuse(format!(
            "`{}` belongs behind the filter `{}`, which is not run for others: commit it in the \
             workspace",
            path(told[0]).display(),
            String::from_utf8_lossy(told[2])
        )),
        None => Ok(()),
    }
}
