//! Creates the record's file, opens it for writing, and migrates older forms.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, ToSql};

use super::error::{Place, StoreError};
use super::examine;
use super::schema::{self, APPLICATION_ID, Migration};

/// How long to wait for a reader that rebuilds the index of the write-ahead log.
pub(super) const WAIT: Duration = Duration::from_secs(2);

const WRITING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// After a large transaction the log is cut back to this.
const LOG_BYTES_KEPT: i64 = 4 * 1024 * 1024;

/// Makes the record where there is none, and brings an older form up to date.
///
/// Whatever is wrong with a record that is there: it is told, and the file left as it is.
pub(super) fn prepare(path: &Path, migrations: &[Migration]) -> Result<(), StoreError> {
    let version = match examine::open(path, migrations) {
        Ok((connection, version)) => {
            if version < schema::version_of(migrations) {
                examine::is_whole(&connection, path)?;
            }
            version
        }
        Err(StoreError::Absent(_)) => return create(path, migrations),
        Err(error) => return Err(error),
    };
    let steps = usize::try_from(version).unwrap_or_default();
    for (from, migration) in (version..).zip(&migrations[steps..]) {
        migrate(path, from, *migration)?;
    }
    Ok(())
}

/// Opens the record for writing.
///
/// Commits wait until the disk has them: `FULL` syncs the log at each one.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, WRITING)?;
        connection.busy_timeout(WAIT)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        set(&connection, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        // Where a plain sync leaves data in the disk's own cache, ask for more. Elsewhere nothing.
        connection.pragma_update(None, "fullfsync", true)?;
        set(&connection, "journal_size_limit", LOG_BYTES_KEPT)?;
        Ok(connection)
    };
    open().map_err(|error| StoreError::of(path, error))
}

/// Makes an empty record beside its place and moves it there whole: one that is there is never half.
fn create(path: &Path, migrations: &[Migration]) -> Result<(), StoreError> {
    let draft = with_suffix(path, ".new");
    begin_draft(&draft).map_err(|source| io_error(path, source))?;
    let fill = || -> rusqlite::Result<()> {
        let mut connection = Connection::open_with_flags(&draft, WRITING)?;
        // A draft that is not finished is thrown away, never rolled back.
        set(&connection, "journal_mode", "MEMORY")?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        for (version, migration) in (1..).zip(migrations) {
            schema::advance(&mut connection, version, *migration)?;
        }
        Ok(())
    };
    fill().map_err(|source| StoreError::Use { path: path.to_owned(), source })?;
    finish_draft(&draft, path)
}

/// Takes one step to a newer form, after a copy has been made of the older one.
fn migrate(path: &Path, from: i64, migration: Migration) -> Result<(), StoreError> {
    let mut connection = connect(path)?;
    back_up(&connection, path, from)?;
    schema::advance(&mut connection, from + 1, migration)
        .map_err(|source| StoreError::Migrate { place: Place::of(path), source })
}

/// Copies the record as it is. The name says how far its journal goes, so that a second try after a
/// crash finds the copy of the first, and no copy ever replaces another.
fn back_up(connection: &Connection, path: &Path, version: i64) -> Result<(), StoreError> {
    let of = |error| StoreError::of(path, error);
    let last: i64 = connection
        .query_row("SELECT coalesce(max(seq), 0) FROM batch", (), |row| row.get(0))
        .map_err(of)?;
    let backup = with_suffix(path, &format!(".v{version}-backup-{last}"));
    if backup.exists() {
        return Ok(());
    }
    let draft = with_suffix(&backup, ".new");
    begin_draft(&draft).map_err(|source| io_error(path, source))?;
    connection.execute("VACUUM INTO ?1", [draft.to_string_lossy()]).map_err(of)?;
    finish_draft(&draft, &backup)
}

/// Makes an empty file that only its owner can read; what a crash left of an earlier one goes.
fn begin_draft(draft: &Path) -> io::Result<()> {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        match fs::remove_file(with_suffix(draft, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    File::options().create_new(true).write(true).mode(0o600).open(draft).map(drop)
}

/// Moves a draft to its place, with the log already chosen: to change that in its place, SQLite would
/// need a journal beside it that a crash leaves behind, and that only a writer can take away.
fn finish_draft(draft: &Path, path: &Path) -> Result<(), StoreError> {
    let choose_log = || set(&Connection::open_with_flags(draft, WRITING)?, "journal_mode", "WAL");
    choose_log().map_err(|source| StoreError::Use { path: path.to_owned(), source })?;
    let publish = || {
        File::open(draft)?.sync_all()?;
        fs::rename(draft, path)?;
        let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        File::open(directory)?.sync_all()
    };
    publish().map_err(|source| io_error(path, source))
}

/// Sets what SQLite answers with the new value.
fn set(connection: &Connection, name: &str, value: impl ToSql) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, name, value, |_| Ok(()))
}

fn io_error(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { path: path.to_owned(), source }
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use rusqlite::Transaction;
    use rustix::process::{Signal, getpid, kill_process};
    use tempfile::TempDir;

    use super::*;
    use crate::model::{Entry, Moment, RowChange};
    use crate::store::schema::MIGRATIONS;
    use crate::store::{Batch, Journal, Query, Rows, Store};

    const NAME: &str = "record.db";
    /// Names the record to the child that dies while it migrates.
    const CHILD_RECORD: &str = "WHEELHOUSE_TEST_MIGRATE";

    fn second(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        transaction.execute_batch(
            "CREATE TABLE extra (word TEXT NOT NULL) STRICT;
             INSERT INTO extra SELECT text FROM entry;
             ALTER TABLE batch ADD COLUMN note TEXT;",
        )
    }

    fn third(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        transaction.execute_batch("ALTER TABLE extra ADD COLUMN more TEXT")
    }

    fn that_fails(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        second(transaction)?;
        transaction.execute_batch("INSERT INTO nowhere VALUES (1)")
    }

    /// Writes far more than SQLite holds in memory, so that the disk has seen a part of it.
    fn that_dies(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        second(transaction)?;
        let word = "w".repeat(4096);
        for _ in 0..4096 {
            transaction.execute("INSERT INTO extra VALUES (?1)", [&word])?;
        }
        kill_process(getpid(), Signal::KILL).map_err(|_| rusqlite::Error::InvalidQuery)
    }

    fn with(more: &[Migration]) -> Vec<Migration> {
        [MIGRATIONS, more].concat()
    }

    /// Returns a record of the present form with three batches, and its rows.
    fn old_record() -> (TempDir, PathBuf, Rows) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(NAME);
        let (store, _) = Store::open(&path, |_| ()).unwrap();
        for number in 1..=3_u64 {
            let entry = Entry { kind: "a.b".into(), text: number.to_string(), ..Entry::default() };
            let (table, key) = ("task".into(), number.to_string());
            let row = RowChange { table, key, value: Some(number.into()) };
            let batch = Batch { at: Moment(number), entries: vec![entry], rows: vec![row] };
            store.submit(batch).unwrap();
        }
        drop(store);
        let rows = rows(&path, MIGRATIONS).unwrap();
        assert_eq!(rows.len(), 3);
        (directory, path, rows)
    }

    fn rows(path: &Path, migrations: &[Migration]) -> Result<Rows, StoreError> {
        Store::open_with(path, migrations, || (), |_| ()).map(|(_, rows)| rows)
    }

    fn files(directory: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_older_record_is_copied_and_then_brought_up_to_date() {
        let (directory, path, old) = old_record();
        assert_eq!(rows(&path, &with(&[second, third])).unwrap(), old);
        assert_eq!(files(&directory), [NAME, "record.db.v2-backup-3", "record.db.v3-backup-3"]);
        for name in files(&directory) {
            let mode = directory.path().join(&name).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        let copy = directory.path().join("record.db.v2-backup-3");
        assert_eq!(rows(&path, &with(&[second, third])).unwrap(), old, "and opens again");
        assert_eq!(files(&directory).len(), 3, "without another copy");
        let journal = Journal::open(&copy).unwrap();
        journal.verify().unwrap();
        assert_eq!(journal.entries(&Query { limit: 9, ..Query::default() }).unwrap().len(), 3);
        assert_eq!(Place::of(&path).backups.len(), 2, "what a reader makes beside one is none");
    }

    #[test]
    fn a_record_of_a_newer_form_is_refused_by_the_older_program() {
        let (_directory, path, _) = old_record();
        rows(&path, &with(&[second])).unwrap();
        let before = fs::read(&path).unwrap();
        let error = rows(&path, MIGRATIONS).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 3, known: 2, .. }), "{error}");
        assert!(error.to_string().contains("`wheelhouse doctor`"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_migration_that_fails_changes_nothing_and_tells_where_the_copy_is() {
        let (directory, path, old) = old_record();
        for _ in 0..2 {
            let error = rows(&path, &with(&[that_fails])).unwrap_err();
            assert!(matches!(error, StoreError::Migrate { .. }), "{error}");
            assert!(error.to_string().contains("record.db.v2-backup-3`"), "{error}");
            assert!(error.to_string().contains("hint: "), "{error}");
        }
        assert_eq!(rows(&path, MIGRATIONS).unwrap(), old);
        assert_eq!(files(&directory), [NAME, "record.db.v2-backup-3"]);
    }

    #[test]
    fn a_migration_that_is_killed_in_the_middle_changes_nothing() {
        let (directory, path, old) = old_record();
        let child = "store::file::tests::child_that_dies_while_it_migrates";
        let status = Command::new(env::current_exe().unwrap())
            .args([child, "--exact", "--ignored", "--nocapture"])
            .env(CHILD_RECORD, &path)
            .output()
            .unwrap()
            .status;
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        let log = with_suffix(&path, "-wal").metadata().unwrap().len();
        assert!(log > 1024 * 1024, "the disk has seen {log} bytes of it");

        assert_eq!(rows(&path, MIGRATIONS).unwrap(), old, "the older program goes on");
        assert_eq!(rows(&path, &with(&[second])).unwrap(), old, "and so does the newer one");
        assert_eq!(files(&directory), [NAME, "record.db.v2-backup-3"]);
    }

    #[test]
    #[ignore = "a child of the test above"]
    fn child_that_dies_while_it_migrates() {
        if let Some(path) = env::var_os(CHILD_RECORD) {
            rows(Path::new(&path), &with(&[that_dies])).unwrap();
        }
    }

    #[test]
    fn what_a_crash_left_of_a_new_record_or_a_copy_is_no_obstacle() {
        let (directory, path, old) = old_record();
        for draft in ["record.db.v2-backup-3.new", "other.db.new"] {
            fs::write(directory.path().join(draft), "half").unwrap();
        }
        assert_eq!(rows(&path, &with(&[second])).unwrap(), old);
        assert_eq!(rows(&directory.path().join("other.db"), MIGRATIONS).unwrap(), Rows::new());
        let left = files(&directory);
        assert_eq!(left, ["other.db", NAME, "record.db.v2-backup-3"]);
    }
}
