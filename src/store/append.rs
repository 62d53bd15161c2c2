//! Writes batches into the journal and applies them to the rows, in one transaction.

use std::sync::Arc;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::batch::{ROW_BYTES_BESIDE, Sealed, SealedChange, SealedEntry, Ticket};
use super::fold::Folded;
use super::prune::{self, Keep};
use crate::model::Moment;

/// Below this, the changes since a snapshot are read faster than it is worth to write another.
const SNAPSHOT_BYTES_LEAST: usize = 256 * 1024;

/// The writing end of the record.
#[derive(Debug)]
pub(super) struct Writer {
    connection: Connection,
    /// What the last snapshot weighs.
    snapshot_bytes: usize,
    /// What the changes since then weigh.
    change_bytes: usize,
}

impl Writer {
    pub(super) fn new(connection: Connection, folded: &Folded) -> Self {
        let Folded { rows: _, snapshot_bytes, change_bytes } = *folded;
        Self { connection, snapshot_bytes, change_bytes }
    }

    /// Cuts the journal off at its old end, one step at a time.
    pub(super) fn prune(&mut self, keep: Keep, now: Moment) -> rusqlite::Result<bool> {
        prune::step(&mut self.connection, keep, now)
    }

    /// Writes all of them, durably, or nothing.
    pub(super) fn append(&mut self, group: &[(Ticket, Arc<Sealed>)]) -> rusqlite::Result<()> {
        let added = group.iter().flat_map(|(_, batch)| &batch.changes).map(SealedChange::bytes);
        let change_bytes = self.change_bytes + added.sum::<usize>();
        // A snapshot is as large as the rows. One is taken when as much has changed since the last:
        // then all of them together weigh about as much as the journal, and a fold is never long.
        let is_due = change_bytes >= self.snapshot_bytes.max(SNAPSHOT_BYTES_LEAST);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (ticket, batch) in group {
            insert(&transaction, *ticket, batch)?;
        }
        let taken = match group.last() {
            Some((last, _)) if is_due => Some(take_snapshot(&transaction, *last)?),
            _ => None,
        };
        transaction.commit()?;
        self.change_bytes = if taken.is_some() { 0 } else { change_bytes };
        self.snapshot_bytes = taken.unwrap_or(self.snapshot_bytes);
        Ok(())
    }
}

/// The batch's number is its key: none is ever written twice.
fn insert(transaction: &Transaction<'_>, ticket: Ticket, batch: &Sealed) -> rusqlite::Result<()> {
    let text = "INSERT INTO batch (seq, at) VALUES (?1, ?2)";
    transaction.prepare_cached(text)?.execute([ticket.0, batch.at.0])?;
    for entry in &batch.entries {
        insert_entry(transaction, ticket, entry)?;
    }
    for (position, change) in batch.changes.iter().enumerate() {
        let text = r#"INSERT INTO change (batch, position, "table", key, value)
                      VALUES (?1, ?2, ?3, ?4, ?5)"#;
        let SealedChange { table, key, value } = change;
        let mut statement = transaction.prepare_cached(text)?;
        statement.execute(params![ticket.0, position, table, key, value])?;
        apply(transaction, change)?;
    }
    Ok(())
}

fn insert_entry(
    transaction: &Transaction<'_>,
    ticket: Ticket,
    entry: &SealedEntry,
) -> rusqlite::Result<()> {
    let SealedEntry { kind, agent, task, text, data } = entry;
    let insert = "INSERT INTO entry (batch, kind, agent, task, text, data)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut statement = transaction.prepare_cached(insert)?;
    statement.execute(params![ticket.0, kind, agent, task, text, data]).map(drop)
}

fn apply(transaction: &Transaction<'_>, change: &SealedChange) -> rusqlite::Result<()> {
    let SealedChange { table, key, value } = change;
    if value.is_none() {
        let text = r#"DELETE FROM present WHERE "table" = ?1 AND key = ?2"#;
        return transaction.prepare_cached(text)?.execute([table, key]).map(drop);
    }
    let text = r#"INSERT INTO present ("table", key, value) VALUES (?1, ?2, ?3)
                  ON CONFLICT DO UPDATE SET value = excluded.value"#;
    transaction.prepare_cached(text)?.execute(params![table, key, value]).map(drop)
}

/// Returns what the snapshot weighs.
fn take_snapshot(transaction: &Transaction<'_>, at: Ticket) -> rusqlite::Result<usize> {
    let text = r#"INSERT INTO snapshot (batch, "table", key, value)
                  SELECT ?1, "table", key, value FROM present"#;
    transaction.execute(text, [at.0])?;
    let weigh = r#"SELECT coalesce(sum(octet_length("table") + octet_length(key)
                   + octet_length(value) + ?1), 0) FROM present"#;
    transaction.query_row(weigh, [ROW_BYTES_BESIDE], |row| row.get(0))
}
