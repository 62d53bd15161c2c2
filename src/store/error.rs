//! Explains why the record cannot be used, where it is, and what to type next.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::batch::Ticket;

/// Why the record cannot be opened or read. Nothing of it is ever changed or thrown away for it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "The record `{}` was written by a newer version of wheelhouse (form {found}, and this one \
         knows {known})\nhint: Use the newer version; see `wheelhouse doctor`", path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "The record `{}` was written by an older version (form {found})\n\
         hint: Run `wheelhouse status`: the hub makes a copy and migrates it", path.display()
    )]
    Older { path: PathBuf, found: i64 },
    #[error("`{}` is not a record of wheelhouse: {reason}\n{place}", place.path.display())]
    Foreign { place: Place, reason: String },
    #[error("The record `{}` is damaged: {reason}\n{place}", place.path.display())]
    Damaged { place: Place, reason: String },
    #[error("The record `{}` contradicts itself: {difference}\n{place}", place.path.display())]
    Contradiction { place: Place, difference: Difference },
    #[error("Failed to migrate the record `{}`; it is unchanged\n{place}", place.path.display())]
    Migrate { place: Place, source: rusqlite::Error },
    #[error(
        "What happened before {until} is no longer kept\n\
         hint: `[record]` in the settings sets how much is kept; see `wheelhouse config show`"
    )]
    CutOff { until: String },
    #[error("There is no record at `{}`\nhint: `wheelhouse up` makes one", .0.display())]
    Absent(PathBuf),
    #[error(
        "Failed to use the record `{}`: {source}\nhint: Free some disk space and check that you can write there; `wheelhouse doctor` checks both", path.display()
    )]
    Use { path: PathBuf, source: rusqlite::Error },
    #[error(
        "Failed to use the record `{}`: {source}\nhint: Free some disk space and check that you can write there; `wheelhouse doctor` checks both", path.display()
    )]
    Io { path: PathBuf, source: io::Error },
}

impl StoreError {
    /// Returns the error for what SQLite said about a file.
    pub(super) fn of(path: &Path, source: rusqlite::Error) -> Self {
        let place = || Place::of(path);
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => {
                Self::Foreign { place: place(), reason: source.to_string() }
            }
            Some(ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { place: place(), reason: source.to_string() }
            }
            _ => Self::Use { path: path.to_owned(), source },
        }
    }

    pub(super) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { place: Place::of(path), reason: reason.into() }
    }
}

/// Where the first contradiction is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    #[error("of {last} {what} in the journal, {count} are there")]
    Gap { what: &'static str, count: u64, last: u64 },
    #[error("{count} {what} belong to no batch of the journal")]
    Stray { what: &'static str, count: u64 },
    #[error("row `{key}` of `{table}` is not what the journal up to {} says", at.0)]
    Row { at: Ticket, table: String, key: String },
}

/// A record that is kept as it is, with the copies that lie beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: PathBuf,
    /// Copies that were made before the form of the record was changed.
    pub backups: Vec<PathBuf>,
}

impl Place {
    pub(super) fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let entries = path.parent().and_then(|directory| fs::read_dir(directory).ok());
        // `record.db.v1-backup-17`, but not the log or the draft of one.
        let is_backup = |entry: &fs::DirEntry| {
            let found = entry.file_name();
            let found = found.to_string_lossy();
            let rest = found.strip_prefix(&*name).and_then(|rest| rest.strip_prefix(".v"));
            let parts = rest.and_then(|rest| rest.split_once("-backup-"));
            parts.is_some_and(|(_, last)| last.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let found = entries.into_iter().flatten().flatten().filter(is_backup);
        let mut backups: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
        backups.sort();
        Self { path: path.to_owned(), backups }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let backups: Vec<String> =
            self.backups.iter().map(|backup| format!("`{}`", backup.display())).collect();
        f.write_str("It was left as it is")?;
        if !backups.is_empty() {
            write!(f, "; there are copies: {}", backups.join(", "))?;
        }
        write!(
            f,
            "\nhint: Look at it with `wheelhouse doctor`; to begin a new record, move this one away: \
             `mkdir aside && mv {path}* aside/`"
        )
    }
}
