//! Computes rows from the journal, and compares them with those that are stored.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Params, params};

use super::batch::{Rows, Ticket, weight};
use super::error::Difference;
use super::prune;

/// Rows as they are written, by table and key. Compared as text: what was written is what must be read.
pub(super) type Texts = BTreeMap<(String, String), String>;

/// The rows at a batch, and how long the way to them was.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) rows: Texts,
    /// What the snapshot weighs from which the fold began.
    pub(super) snapshot_bytes: usize,
    /// What the changes weigh that followed it.
    pub(super) change_bytes: usize,
}

/// Folds the journal up to a batch, from the snapshot before it.
pub(super) fn fold(connection: &Connection, until: Ticket) -> rusqlite::Result<Folded> {
    let last = "SELECT coalesce(max(batch), 0) FROM snapshot WHERE batch <= ?1";
    let from = Ticket(connection.query_row(last, [until.0], |row| row.get(0))?);
    let mut rows = snapshot(connection, from)?;
    let weights = rows.iter().map(|((table, key), value)| weight(table, key, value));
    let snapshot_bytes = weights.sum();
    let change_bytes = apply(connection, &mut rows, from, until)?;
    Ok(Folded { rows, snapshot_bytes, change_bytes })
}

/// Compares the rows that are kept with the fold since the last snapshot.
pub(super) fn check_present(
    connection: &Connection,
) -> rusqlite::Result<Result<Folded, Difference>> {
    let last = last_batch(connection)?;
    let folded = fold(connection, last)?;
    let difference = first_difference(&folded.rows, &present(connection)?, last);
    Ok(difference.map_or(Ok(folded), Err))
}

/// Folds the whole journal from where it begins, and compares it with every snapshot and with the rows that are kept.
pub(super) fn check_all(connection: &Connection) -> rusqlite::Result<Result<(), Difference>> {
    if let Some(difference) = gaps(connection)? {
        return Ok(Err(difference));
    }
    let next = "SELECT min(batch) FROM snapshot WHERE batch > ?1";
    let mut at = prune::base(connection)?.ticket;
    let mut rows = snapshot(connection, at)?;
    while let Some(next) = connection.query_row(next, [at.0], |row| row.get(0))? {
        let next = Ticket(next);
        apply(connection, &mut rows, at, next)?;
        if let Some(difference) = first_difference(&rows, &snapshot(connection, next)?, next) {
            return Ok(Err(difference));
        }
        at = next;
    }
    let last = last_batch(connection)?;
    apply(connection, &mut rows, at, last)?;
    Ok(first_difference(&rows, &present(connection)?, last).map_or(Ok(()), Err))
}

/// Returns the number of the last batch; zero if there is none.
pub(super) fn last_batch(connection: &Connection) -> rusqlite::Result<Ticket> {
    let text = "SELECT coalesce(max(seq), 0) FROM batch";
    connection.query_row(text, (), |row| row.get(0)).map(Ticket)
}

/// Reads the rows' texts as values.
pub(super) fn parse(texts: Texts) -> serde_json::Result<Rows> {
    texts.into_iter().map(|(row, text)| Ok((row, serde_json::from_str(&text)?))).collect()
}

/// Returns the last value of a row, and whether the row is gone since.
pub(super) fn last_row(
    connection: &Connection,
    table: &str,
    key: &str,
) -> rusqlite::Result<Option<(String, bool)>> {
    let text = r#"SELECT value FROM change WHERE "table" = ?1 AND key = ?2
                  ORDER BY batch DESC, position DESC"#;
    let mut statement = connection.prepare_cached(text)?;
    let mut found = statement.query([table, key])?;
    let mut is_gone = false;
    while let Some(row) = found.next()? {
        match row.get(0)? {
            Some(value) => return Ok(Some((value, is_gone))),
            None => is_gone = true,
        }
    }
    // It was last changed before the journal was cut, and was there then.
    let base = prune::base(connection)?.ticket;
    let text = r#"SELECT value FROM snapshot WHERE batch = ?1 AND "table" = ?2 AND key = ?3"#;
    let value =
        connection.prepare_cached(text)?.query_row(params![base.0, table, key], |row| row.get(0));
    Ok(value.optional()?.map(|value| (value, is_gone)))
}

fn present(connection: &Connection) -> rusqlite::Result<Texts> {
    read(connection, r#"SELECT "table", key, value FROM present"#, ())
}

fn snapshot(connection: &Connection, at: Ticket) -> rusqlite::Result<Texts> {
    read(connection, r#"SELECT "table", key, value FROM snapshot WHERE batch = ?1"#, [at.0])
}

fn read(connection: &Connection, query: &str, params: impl Params) -> rusqlite::Result<Texts> {
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map(params, |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?;
    rows.collect()
}

/// Applies what follows a batch, up to and with another, and returns what it weighs.
fn apply(
    connection: &Connection,
    rows: &mut Texts,
    after: Ticket,
    until: Ticket,
) -> rusqlite::Result<usize> {
    let text = r#"SELECT "table", key, value FROM change
                  WHERE batch > ?1 AND batch <= ?2 ORDER BY batch, position"#;
    let mut statement = connection.prepare(text)?;
    let mut found = statement.query([after.0, until.0])?;
    let mut bytes = 0;
    while let Some(row) = found.next()? {
        let name: (String, String) = (row.get(0)?, row.get(1)?);
        let value: Option<String> = row.get(2)?;
        bytes += weight(&name.0, &name.1, value.as_deref().unwrap_or_default());
        match value {
            Some(value) => rows.insert(name, value),
            None => rows.remove(&name),
        };
    }
    Ok(bytes)
}

fn first_difference(journal: &Texts, kept: &Texts, at: Ticket) -> Option<Difference> {
    let wrong = |one: &Texts, other: &Texts| {
        let mut unequal = one.iter().filter(|(name, value)| other.get(*name) != Some(value));
        unequal.next().map(|((table, key), _)| (table.clone(), key.clone()))
    };
    let (table, key) = wrong(journal, kept).or_else(|| wrong(kept, journal))?;
    Some(Difference::Row { at, table, key })
}

fn gaps(connection: &Connection) -> rusqlite::Result<Option<Difference>> {
    let base = prune::base(connection)?;
    for (what, gone, query) in [
        // The one that it was cut at is there, and what it said is in its snapshot.
        ("batches", base.ticket.0.saturating_sub(1), "SELECT count(*), max(seq) FROM batch"),
        ("entries", base.entry, "SELECT count(*), max(id) FROM entry"),
    ] {
        let (count, last): (u64, Option<u64>) =
            connection.query_row(query, (), |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (count, last) = (count + gone, last.unwrap_or(gone));
        if count != last {
            return Ok(Some(Difference::Gap { what, count, last }));
        }
    }
    for (what, table) in [("entries", "entry"), ("changes", "change"), ("snapshots", "snapshot")] {
        let query = format!(
            "SELECT count(*) FROM {table} WHERE NOT EXISTS (SELECT 1 FROM batch WHERE seq = batch)"
        );
        let count: u64 = connection.query_row(&query, (), |row| row.get(0))?;
        if count > 0 {
            return Ok(Some(Difference::Stray { what, count }));
        }
    }
    Ok(None)
}
