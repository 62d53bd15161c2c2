//! Receives and sends commits as git bundles.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::FarPaths;
use crate::git;
use crate::runner::handshake::line;

/// What was last sent here, whatever became of it.
const BASE: &str = "refs/wheelhouse/base";
/// The branch on which a new clone begins.
const BRANCH: &str = "refs/heads/wheelhouse";

/// What became of commits that were sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    pub directory: PathBuf,
    pub commit: String,
    /// A clone was made; else there was one, and its files are as they were.
    pub is_new: bool,
}

/// Announces a bundle, which follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    pub bytes: u64,
}

/// Takes a bundle from the standard input, and makes a clone of it where there is none.
pub(super) fn receive(directory: &str) -> io::Result<()> {
    let directory = expanded(directory)?;
    fs::create_dir_all(&directory)?;
    let is_new = !directory.join(".git").exists();
    if is_new {
        if fs::read_dir(&directory)?.next().is_some() {
            let place = directory.display();
            return Err(io::Error::other(format!("{place} is neither empty nor a clone")));
        }
        run(&directory, &["init", "--quiet"])?;
    }
    let bundle = directory.join(".git/wheelhouse.bundle");
    let copied = File::create(&bundle).and_then(|mut file| io::copy(&mut io::stdin(), &mut file));
    let listed = copied.and_then(|_| run(&directory, &["bundle", "unbundle", &text(&bundle)]));
    fs::remove_file(&bundle)?;
    let listed = String::from_utf8_lossy(&listed?).into_owned();
    let commit = listed.split_whitespace().next().unwrap_or_default().to_owned();
    run(&directory, &["update-ref", BASE, &commit])?;
    if is_new {
        run(&directory, &["symbolic-ref", "HEAD", BRANCH])?;
        run(&directory, &["update-ref", BRANCH, &commit])?;
        run(&directory, &["reset", "--hard", "--quiet"])?;
    }
    say(&line(&Received { directory, commit, is_new }))
}

/// Prints a bundle of every branch.
pub(super) fn send(directory: &str) -> io::Result<()> {
    let directory = expanded(directory)?;
    let bundle = directory.join(".git/wheelhouse.bundle");
    run(&directory, &["bundle", "create", "--quiet", &text(&bundle), "--branches"])?;
    let mut file = File::open(&bundle)?;
    fs::remove_file(&bundle)?;
    say(&line(&Sent { bytes: file.metadata()?.len() }))?;
    let mut out = io::stdout().lock();
    io::copy(&mut file, &mut out)?;
    out.flush()
}

fn expanded(directory: &str) -> io::Result<PathBuf> {
    let paths = FarPaths::find("transfer").map_err(io::Error::other)?;
    Ok(paths.expand(Path::new(directory)))
}

fn run(directory: &Path, words: &[&str]) -> io::Result<Vec<u8>> {
    git::run(directory, words).map_err(io::Error::other)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn say(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}
