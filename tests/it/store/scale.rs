//! A long record stays quick to open, and its log stays short.

use wheelhouse::model::{Entry, Moment, RowChange};
use wheelhouse::store::{Batch, Journal, Query, Ticket};

use super::fixture::{Ledger, place, rows_after};
use crate::support::clock::now;

/// SQLite folds the log into the file at a thousand pages; a group may go beyond that once.
const LOG_BYTES_MAX: u64 = 12 * 1024 * 1024;

#[test]
fn the_log_stays_short_over_fifty_thousand_batches() {
    let (_directory, path) = place();
    let log = path.with_extension("db-wal");
    let ledger = Ledger::open(&path);
    let mut largest = 0;
    for round in 0..100 {
        ledger.write(round * 500 + 1..=round * 500 + 500);
        largest = largest.max(log.metadata().unwrap().len());
    }
    assert!(largest < LOG_BYTES_MAX, "{largest}");
    drop(ledger);
    let journal = Journal::open(&path).unwrap();
    journal.verify().unwrap();
    assert_eq!(journal.rows_at(Ticket(50_000)).unwrap(), rows_after(50_000, 8));
}

/// Prints how long it takes; the promise of a second is for a release build.
#[test]
fn a_record_with_a_hundred_thousand_entries_opens() {
    let (_directory, path) = place();
    let ledger = Ledger::open(&path);
    let count = 100_000;
    for number in 1..=count {
        while !ledger.store.has_room() {
            ledger.next();
        }
        ledger.store.submit_lazily(large_batch(number)).unwrap();
    }
    drop(ledger);
    let began = now();
    let ledger = Ledger::open(&path);
    let opened = began.elapsed();
    assert_eq!(ledger.rows.len(), 2_000);
    let began = now();
    let journal = Journal::open(&path).unwrap();
    assert_eq!(journal.rows_at(Ticket(count / 2)).unwrap().len(), 2_000);
    let past = began.elapsed();
    let began = now();
    let newest =
        Query { limit: 50, newest: true, agent: Some("agent3".into()), ..Query::default() };
    assert_eq!(journal.entries(&newest).unwrap().len(), 50);
    let found = began.elapsed();
    let began = now();
    journal.verify().unwrap();
    let bytes = path.metadata().unwrap().len() / 1024 / 1024;
    println!(
        "{count} entries, {bytes} MiB: opened in {opened:?}, the rows at half in {past:?}, fifty \
         entries in {found:?}, all verified in {:?}",
        began.elapsed()
    );
}

/// A batch as a busy team makes them: one entry, one row of a few hundred bytes, 2,000 rows in all.
fn large_batch(number: u64) -> Batch {
    let (agent, key) = (format!("agent{}", number % 8), format!("task-{}", number * 7 % 2_000));
    let text = format!("{agent} reported progress on {key}, step {number}");
    let value = Some(serde_json::json!({
        "state": "running", "agent": agent, "step": number, "title": "t".repeat(200),
    }));
    let entry = Entry {
        kind: "task.progress".into(),
        agent: Some(agent.parse().unwrap()),
        task: Some(key.clone()),
        text,
        ..Entry::default()
    };
    let row = RowChange { table: "task".into(), key, value };
    Batch { at: Moment(number), entries: vec![entry], rows: vec![row] }
}
