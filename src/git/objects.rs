//! Writes blobs, trees and commits without touching a worktree or an index.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::call::{Call, GitError};
use super::refs::line;
use super::repository::{Repository, path};

/// Reading every file of a large workspace takes a while.
const READING_LIMIT: Duration = Duration::from_mins(10);

/// What stands under a path: the mode as git writes it, and the name of the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    pub mode: String,
    pub id: String,
}

impl Blob {
    /// The mode of a repository inside of this one.
    pub const LINK: &str = "160000";
}

/// One line of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    pub path: PathBuf,
    pub blob: Blob,
    /// Others than zero belong to a merge that was not finished.
    pub stage: u8,
}

/// Under which name commits of our own are made.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Wheelhouse"),
    ("GIT_AUTHOR_EMAIL", "wheelhouse@localhost"),
    ("GIT_COMMITTER_NAME", "Wheelhouse"),
    ("GIT_COMMITTER_EMAIL", "wheelhouse@localhost"),
];

/// Whose work a commit is, as git writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub email: String,
    /// Seconds and zone, such as `@1700000000 +0100`.
    pub date: String,
}

impl Repository {
    /// Returns the files of a commit.
    pub fn tree(&self, commit: &str) -> Result<BTreeMap<PathBuf, Blob>, GitError> {
        let listed = self.call().run(&["ls-tree", "-r", "-z", "--full-tree", commit])?;
        let mut files = BTreeMap::new();
        for entry in listed.split(|byte| *byte == 0) {
            let Some((about, name)) = split(entry) else { continue };
            if let [mode, _, id] = about.split(' ').collect::<Vec<_>>()[..] {
                files.insert(path(name), Blob { mode: mode.to_owned(), id: id.to_owned() });
            }
        }
        Ok(files)
    }

    /// Returns what the index holds.
    pub fn index(&self) -> Result<Vec<Staged>, GitError> {
        let call = Call { directory: &self.found.top, ..self.call() };
        let listed = call.run(&["ls-files", "--stage", "-z"])?;
        let mut entries = Vec::new();
        for entry in listed.split(|byte| *byte == 0) {
            let Some((about, name)) = split(entry) else { continue };
            if let [mode, id, stage] = about.split(' ').collect::<Vec<_>>()[..] {
                let blob = Blob { mode: mode.to_owned(), id: id.to_owned() };
                let stage = stage.parse().unwrap_or_default();
                entries.push(Staged { path: path(name), blob, stage });
            }
        }
        Ok(entries)
    }

    /// Returns the names of these files' contents, byte for byte; they are kept if wanted.
    ///
    /// The paths are relative to the repository's top, and none of them may be a link.
    pub fn hash_files(&self, files: &[PathBuf], keeps: bool) -> Result<Vec<String>, GitError> {
        let mut arguments = vec!["hash-object", "--no-filters", "--stdin-paths"];
        arguments.extend(keeps.then_some("-w"));
        let call = Call { directory: &self.found.top, limit: READING_LIMIT, ..self.call() };
        hash(&call, &arguments, files)
    }

    /// Returns the names that these files' contents would be kept under: with the line ends that the
    /// repository wants, but without any filter.
    pub fn hash_converted(&self, files: &[PathBuf]) -> Result<Vec<String>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let aside = self.aside()?;
        let call = Call { limit: READING_LIMIT, ..aside.call(&self.found) };
        hash(&call, &["hash-object", "--stdin-paths"], files)
    }

    /// Returns the name of a text's content, which is kept if wanted.
    pub fn hash_text(&self, text: &[u8], keeps: bool) -> Result<String, GitError> {
        let mut arguments = vec!["hash-object", "--stdin"];
        arguments.extend(keeps.then_some("-w"));
        Ok(line(&self.call().feed(&arguments, text.to_vec())?))
    }

    /// Makes a tree of these files.
    pub fn write_tree(&self, files: &BTreeMap<PathBuf, Blob>) -> Result<String, GitError> {
        let scratch = tempfile::Builder::new().prefix("wheelhouse-index-").tempdir()?;
        let mut call = self.shared_call();
        call.variables.push(("GIT_INDEX_FILE", scratch.path().join("index").into()));
        let mut lines = Vec::new();
        for (path, blob) in files {
            lines.extend(format!("{} {}\t", blob.mode, blob.id).into_bytes());
            lines.extend(path.as_os_str().as_bytes());
            lines.push(0);
        }
        call.feed(&["update-index", "-z", "--index-info"], lines)?;
        Ok(line(&call.run(&["write-tree"])?))
    }

    /// Makes a commit that no reference holds yet.
    pub fn commit_tree(
        &self,
        tree: &str,
        parents: &[String],
        message: &str,
        author: Option<&Author>,
    ) -> Result<String, GitError> {
        let mut call = self.shared_call();
        call.variables.extend(IDENTITY.map(|(name, value)| (name, value.into())));
        if let Some(author) = author {
            call.variables.push(("GIT_AUTHOR_NAME", author.name.clone().into()));
            call.variables.push(("GIT_AUTHOR_EMAIL", author.email.clone().into()));
            call.variables.push(("GIT_AUTHOR_DATE", author.date.clone().into()));
        }
        let mut arguments = vec!["commit-tree", tree, "-F", "-"];
        for parent in parents {
            arguments.extend(["-p", parent]);
        }
        Ok(line(&call.feed(&arguments, message.as_bytes().to_vec())?))
    }

    /// Returns the tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String, GitError> {
        let tree = format!("{commit}^{{tree}}");
        Ok(line(&self.call().run(&["rev-parse", "--verify", "--end-of-options", &tree])?))
    }

    /// Returns who made a commit, and what was said about it.
    pub fn commit_words(&self, commit: &str) -> Result<(Author, String), GitError> {
        let text = self.call().run(&["cat-file", "commit", commit])?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let author = head.lines().find_map(|line| line.strip_prefix("author "));
        let author = author.and_then(read_author).unwrap_or(Author {
            name: "unknown".to_owned(),
            email: String::new(),
            date: "@0 +0000".to_owned(),
        });
        Ok((author, message.to_owned()))
    }
}

fn read_author(text: &str) -> Option<Author> {
    let (name, rest) = text.split_once('<')?;
    let (email, date) = rest.split_once("> ")?;
    let (name, email) = (name.trim().to_owned(), email.to_owned());
    Some(Author { name, email, date: format!("@{date}") })
}

fn hash(call: &Call, arguments: &[&str], files: &[PathBuf]) -> Result<Vec<String>, GitError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let listed = files.iter().flat_map(|file| quoted(file)).collect();
    let told = line(&call.feed(arguments, listed)?);
    let ids: Vec<String> = told.lines().map(str::to_owned).collect();
    if ids.len() == files.len() {
        return Ok(ids);
    }
    let words = format!("it told of {} files instead of {}", ids.len(), files.len());
    Err(GitError::Failed { verb: "hash-object".to_owned(), words })
}

/// Returns a path as a line that git reads back, whatever bytes are in it.
fn quoted(path: &Path) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b' '..=b'~' => line.push(*byte),
            _ => line.extend(format!("\\{byte:03o}").into_bytes()),
        }
    }
    line.extend(b"\"\n");
    line
}

/// Splits an entry into what is told of it and its name.
fn split(entry: &[u8]) -> Option<(String, &[u8])> {
    let at = entry.iter().position(|byte| *byte == b'\t')?;
    Some((String::from_utf8_lossy(&entry[..at]).into_owned(), &entry[at + 1..]))
}
