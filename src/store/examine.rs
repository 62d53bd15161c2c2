//! Checks a record without changing it, before anything is written.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::error::{Place, StoreError};
use super::file::{WAIT, with_suffix};
use super::schema::{self, APPLICATION_ID, Migration};

/// Opens a record for reading, and returns it with its form.
///
/// A connection that only reads leaves a damaged or foreign file as it is; one that writes would
/// fold its write-ahead log into it, if only while closing.
pub(super) fn open(path: &Path, migrations: &[Migration]) -> Result<(Connection, i64), StoreError> {
    let connection = connect(path)?;
    let of = |error| StoreError::of(path, error);
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if pragma("application_id").map_err(of)? != APPLICATION_ID {
        return Err(foreign(path));
    }
    let found = pragma("user_version").map_err(of)?;
    let known = schema::version_of(migrations);
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    let steps = usize::try_from(found).unwrap_or_default();
    let expected = schema::expected(&migrations[..steps]).map_err(of)?;
    let present = schema::found(&connection).map_err(of)?;
    if let Some(reason) = difference(&expected, &present) {
        return Err(StoreError::damaged(path, format!("it is not of form {found}: {reason}")));
    }
    Ok((connection, found))
}

/// Makes sure that the file's own structure is whole: every page, and each index with its table.
pub(super) fn is_whole(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let query = "PRAGMA integrity_check(1)";
    let said: String = connection
        .query_row(query, (), |row| row.get(0))
        .map_err(|error| StoreError::of(path, error))?;
    if said == "ok" { Ok(()) } else { Err(StoreError::damaged(path, said)) }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let of = |error| StoreError::of(path, error);
    let size = match path.metadata() {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(absent(path));
        }
        Err(source) => return Err(StoreError::Io { path: path.to_owned(), source }),
    };
    if size == 0 {
        return Err(StoreError::damaged(path, "it is empty"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(of)?;
    connection.busy_timeout(WAIT).map_err(of)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(of)?;
    connection.pragma_update(None, "trusted_schema", false).map_err(of)?;
    Ok(connection)
}

/// A log without its file is what is left of a record, not the beginning of one.
fn absent(path: &Path) -> StoreError {
    let log = with_suffix(path, "-wal");
    if log.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        let reason = format!("the file is gone, and only its log is left: `{}`", log.display());
        return StoreError::damaged(path, reason);
    }
    StoreError::Absent(path.to_owned())
}

fn foreign(path: &Path) -> StoreError {
    let reason = "it is a database of something else".to_owned();
    StoreError::Foreign { place: Place::of(path), reason }
}

fn difference(expected: &[(String, String)], found: &[(String, String)]) -> Option<String> {
    let lacks = |list: &[(String, String)], item: &(String, String)| !list.contains(item);
    if let Some((name, _)) = expected.iter().find(|item| lacks(found, item)) {
        return Some(format!("`{name}` is missing or different"));
    }
    let (name, _) = found.iter().find(|item| lacks(expected, item))?;
    Some(format!("`{name}` does not belong to it"))
}
