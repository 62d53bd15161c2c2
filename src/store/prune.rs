//! Removes the old end of the journal, by age and by size.
//!
//! It is cut at a snapshot, which stays: the rows are the fold of what is left from there on. One step
//! takes off what lies between two snapshots, so that nobody who waits for the record waits long.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::batch::Ticket;
use crate::model::Moment;

/// How much of the journal is kept; without a bound, all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// What is older goes.
    pub age: Option<Duration>,
    /// What the record may take on the disk; the oldest goes first.
    pub bytes: Option<u64>,
}

/// Where the journal begins, once it was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// The batch whose rows it begins with.
    pub ticket: Ticket,
    /// The last entry that is gone; entries go on after it.
    pub entry: u64,
    /// When that batch was made.
    pub at: Moment,
}

/// Returns where the journal begins; at zero, if nothing of it is gone.
pub(super) fn base(connection: &Connection) -> rusqlite::Result<Base> {
    let text = "SELECT batch, entry, at FROM base";
    let found = connection.query_row(text, (), |row| {
        let (ticket, at) = (Ticket(row.get(0)?), Moment(row.get(2)?));
        Ok(Base { ticket, entry: row.get(1)?, at })
    });
    found.optional().map(Option::unwrap_or_default)
}

/// Takes one step, if one is due, and says whether it did.
pub(super) fn step(connection: &mut Connection, keep: Keep, now: Moment) -> rusqlite::Result<bool> {
    if keep == Keep::default() {
        return Ok(false);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before = base(&transaction)?;
    // The last entry stays, so that none after it gets its number.
    let next = "SELECT seq, at FROM batch WHERE seq = (
                    SELECT min(batch) FROM snapshot
                    WHERE batch > ?1 AND batch < (SELECT max(batch) FROM entry))";
    let next: Option<(u64, u64)> = transaction
        .query_row(next, [before.ticket.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((batch, at)) = next else { return Ok(false) };
    let is_old = keep.age.is_some_and(|age| Moment(at) + age < now);
    let is_large = match keep.bytes {
        Some(bytes) => used_bytes(&transaction)? > bytes,
        None => false,
    };
    if !is_old && !is_large {
        return Ok(false);
    }
    let entry = "SELECT coalesce(max(id), ?2) FROM entry WHERE batch <= ?1";
    let entry: u64 = transaction.query_row(entry, [batch, before.entry], |row| row.get(0))?;
    transaction.execute("DELETE FROM entry WHERE id <= ?1", [entry])?;
    transaction.execute("DELETE FROM change WHERE batch <= ?1", [batch])?;
    transaction.execute("DELETE FROM snapshot WHERE batch < ?1", [batch])?;
    transaction.execute("DELETE FROM batch WHERE seq < ?1", [batch])?;
    transaction.execute("DELETE FROM base", ())?;
    let text = "INSERT INTO base (batch, entry, at) VALUES (?1, ?2, ?3)";
    transaction.execute(text, params![batch, entry, at])?;
    transaction.commit()?;
    Ok(true)
}

/// Returns what is used of the file; what is free in it is used again.
fn used_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    Ok((pragma("page_count")? - pragma("freelist_count")?) * pragma("page_size")?)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::mpsc;

    use rusqlite::Transaction;
    use tempfile::TempDir;

    use super::*;
    use crate::model::{Entry, RowChange};
    use crate::store::schema::MIGRATIONS;
    use crate::store::{Batch, Journal, LastRow, Outcome, Query, Rows, Store, StoreError, file};

    /// Long enough that a snapshot is due every few batches.
    const LONG: usize = 100_000;

    fn place() -> (TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("record.db");
        (directory, path)
    }

    /// A batch of a project that does one task after the other: the one before leaves the rows.
    fn batch(number: u64) -> Batch {
        let value = |number: u64| serde_json::json!({ "n": number, "text": "x".repeat(LONG) });
        let row = |number: u64, value| RowChange {
            table: "task".to_owned(),
            key: format!("t{number}"),
            value,
        };
        let mut rows = vec![row(number, Some(value(number)))];
        let (table, key) = ("hub".to_owned(), "hub".to_owned());
        let lasting = RowChange { table, key, value: Some(number.into()) };
        rows.extend(Some(lasting).filter(|_| number == 1));
        rows.extend(number.checked_sub(1).filter(|before| *before > 0).map(|n| row(n, None)));
        let entries = vec![Entry::new("task.done", number.to_string())];
        Batch { at: Moment(number * 1000), entries, rows }
    }

    /// Writes batches, each in a transaction of its own.
    fn write(path: &Path, keep: Keep, numbers: std::ops::RangeInclusive<u64>) -> Rows {
        let (tell, outcomes) = mpsc::channel();
        let (store, rows) = Store::open(path, move |outcome| drop(tell.send(outcome))).unwrap();
        store.set_keep(keep);
        for number in numbers {
            let ticket = store.submit(batch(number)).unwrap();
            while outcomes.recv().unwrap() != Outcome::Committed(ticket) {}
        }
        rows
    }

    #[test]
    fn what_is_too_old_is_cut_off_and_the_rest_is_still_the_fold_of_its_journal() {
        let (_directory, path) = place();
        let keep = Keep { age: Some(Duration::from_secs(20)), bytes: None };
        write(&path, keep, 1..=60);
        let journal = Journal::open(&path).unwrap();
        journal.verify().unwrap();
        let base = journal.base().unwrap().unwrap();
        assert!((35..=40).contains(&base.entry), "{base:?}");
        assert_eq!(base.at, Moment(base.ticket.0 * 1000));
        let entries = journal.entries(&Query { limit: 99, ..Query::default() }).unwrap();
        let ids: Vec<u64> = entries.iter().map(|one| one.id).collect();
        assert_eq!(ids, (base.entry + 1..=60).collect::<Vec<_>>(), "numbers are as they were");
        let rows = journal.rows_at(Ticket(60)).unwrap();
        assert_eq!(rows.keys().map(|(_, key)| key.as_str()).collect::<Vec<_>>(), ["hub", "t60"]);
        assert_eq!(journal.rows_at(base.ticket).unwrap().len(), 2, "where it begins");
        let error = journal.rows_at(Ticket(base.ticket.0 - 1)).unwrap_err();
        assert!(matches!(error, StoreError::CutOff { .. }), "{error}");
        drop(journal);

        assert_eq!(write(&path, keep, 61..=80), rows, "it opens with the same rows");
        let journal = Journal::open(&path).unwrap();
        journal.verify().unwrap();
        assert_eq!(journal.last().unwrap(), Ticket(80));
        assert!(journal.base().unwrap().unwrap().entry > base.entry, "it is cut on and on");
    }

    #[test]
    fn the_file_grows_no_further_than_it_may() {
        let (_directory, path) = place();
        let bytes = 4 << 20;
        let keep = Keep { age: None, bytes: Some(bytes) };
        write(&path, keep, 1..=200);
        Journal::open(&path).unwrap().verify().unwrap();
        let size = path.metadata().unwrap().len();
        assert!(size < 2 * bytes, "{size} bytes, and 20 MB were written");
        let (_other, path) = place();
        write(&path, Keep::default(), 1..=50);
        assert_eq!(Journal::open(&path).unwrap().base().unwrap(), None, "else all is kept");
    }

    #[test]
    fn the_last_value_of_a_row_that_is_gone_is_found_until_it_is_cut_off() {
        let (_directory, path) = place();
        write(&path, Keep { age: Some(Duration::from_secs(20)), bytes: None }, 1..=60);
        let journal = Journal::open(&path).unwrap();
        let base = journal.base().unwrap().unwrap();
        let found = |number: u64| {
            let found = journal.last_row("task", &format!("t{number}")).unwrap();
            found.map(|LastRow { value, is_gone }| (value["n"].as_u64().unwrap(), is_gone))
        };
        assert_eq!(found(60), Some((60, false)));
        assert_eq!(found(59), Some((59, true)));
        let first = base.ticket.0;
        assert_eq!(found(first), Some((first, true)), "it was there when the journal was cut");
        assert_eq!(found(first - 1), None);
        assert_eq!(found(61), None);
    }

    #[test]
    fn the_last_entry_stays_so_that_no_number_is_given_twice() {
        let (_directory, path) = place();
        write(&path, Keep::default(), 1..=30);
        let keep = Keep { age: Some(Duration::ZERO), bytes: Some(0) };
        let (store, _) = Store::open(&path, |_| ()).unwrap();
        store.set_keep(keep);
        for _ in 0..30 {
            store.submit(Batch { at: Moment(1 << 40), ..batch(7) }).unwrap();
        }
        drop(store);
        let journal = Journal::open(&path).unwrap();
        journal.verify().unwrap();
        let entries = journal.entries(&Query { limit: 99, ..Query::default() }).unwrap();
        assert_eq!(entries.last().unwrap().id, 60);
    }

    #[test]
    fn a_missing_part_is_told_from_one_that_was_cut_off() {
        for fault in [
            "DELETE FROM entry WHERE id = (SELECT min(id) FROM entry)",
            "DELETE FROM batch WHERE seq = (SELECT min(seq) FROM batch)",
            "DELETE FROM base",
            "UPDATE base SET entry = entry - 1",
            "DELETE FROM snapshot WHERE batch = (SELECT batch FROM base)",
        ] {
            let (_directory, path) = place();
            write(&path, Keep { age: Some(Duration::from_secs(20)), bytes: None }, 1..=60);
            Connection::open(&path).unwrap().execute_batch(fault).unwrap();
            let verified = Journal::open(&path).unwrap().verify();
            assert!(matches!(verified, Err(StoreError::Contradiction { .. })), "{fault}");
        }
    }

    #[test]
    fn a_record_of_the_first_form_is_read_and_can_be_cut() {
        let (directory, path) = place();
        file::prepare(&path, &MIGRATIONS[..1]).unwrap();
        let mut connection = file::connect(&path).unwrap();
        let fill = |transaction: &Transaction<'_>| {
            transaction.execute_batch(
                r#"INSERT INTO batch VALUES (1, 1000);
                   INSERT INTO entry VALUES (1, 1, 'task.added', NULL, 't1', 'old', NULL);
                   INSERT INTO change VALUES (1, 0, 'task', 't1', '{"n":1}');
                   INSERT INTO present VALUES ('task', 't1', '{"n":1}');"#,
            )
        };
        let transaction = connection.transaction().unwrap();
        fill(&transaction).unwrap();
        transaction.commit().unwrap();
        drop(connection);
        let keep = Keep { age: Some(Duration::from_secs(20)), bytes: None };
        let rows = write(&path, keep, 2..=60);
        assert_eq!(rows.len(), 1);
        let journal = Journal::open(&path).unwrap();
        journal.verify().unwrap();
        assert!(journal.base().unwrap().is_some());
        assert!(directory.path().join("record.db.v1-backup-1").exists());
    }
}
