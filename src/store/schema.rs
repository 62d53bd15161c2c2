//! Defines the record's tables, and migrates older forms.

use rusqlite::{Connection, Transaction};

/// Marks a file as a record of ours: "whlr".
pub(super) const APPLICATION_ID: i64 = 0x7768_6c72;

/// Brings a record from one form to the next, inside a transaction.
pub(super) type Migration = fn(&Transaction<'_>) -> rusqlite::Result<()>;

/// All forms in order: the first makes form 1. What has been released is never changed.
pub(super) const MIGRATIONS: &[Migration] = &[first, second];

/// `change` is what the journal says of rows, `present` is what follows from it, `snapshot` is what
/// followed from it at a batch.
fn first(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        r#"
        CREATE TABLE batch (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
        CREATE TABLE entry (
            id INTEGER PRIMARY KEY, batch INTEGER NOT NULL, kind TEXT NOT NULL,
            agent TEXT, task TEXT, text TEXT NOT NULL, data TEXT
        ) STRICT;
        CREATE INDEX entry_agent ON entry (agent) WHERE agent IS NOT NULL;
        CREATE INDEX entry_task ON entry (task) WHERE task IS NOT NULL;
        CREATE TABLE change (
            batch INTEGER NOT NULL, position INTEGER NOT NULL,
            "table" TEXT NOT NULL, key TEXT NOT NULL, value TEXT,
            PRIMARY KEY (batch, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE present (
            "table" TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY ("table", key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE snapshot (
            batch INTEGER NOT NULL,
            "table" TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
            PRIMARY KEY (batch, "table", key)
        ) STRICT, WITHOUT ROWID;
        "#,
    )
}

/// `change_row` finds the last value of a row that is gone. `base` has one row once the journal was cut:
/// the batch whose snapshot it begins with, and what was cut off before that.
fn second(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        r#"
        CREATE INDEX change_row ON change ("table", key);
        CREATE TABLE base (
            batch INTEGER PRIMARY KEY, entry INTEGER NOT NULL, at INTEGER NOT NULL
        ) STRICT;
        "#,
    )
}

/// Brings a record to the next form in one step: it is never in between.
pub(super) fn advance(
    connection: &mut Connection,
    version: i64,
    migration: Migration,
) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    migration(&transaction)?;
    transaction.pragma_update(None, "user_version", version)?;
    transaction.commit()
}

/// Returns the highest form that these migrations make.
pub(super) fn version_of(migrations: &[Migration]) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

/// Returns what the record consists of after these migrations: names and definitions, in order.
pub(super) fn expected(migrations: &[Migration]) -> rusqlite::Result<Vec<(String, String)>> {
    let mut connection = Connection::open_in_memory()?;
    for (version, migration) in (1..).zip(migrations) {
        advance(&mut connection, version, *migration)?;
    }
    found(&connection)
}

/// Returns what a record consists of.
pub(super) fn found(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    // What SQLite makes by itself has no definition.
    let text = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
    let mut statement = connection.prepare(text)?;
    let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
