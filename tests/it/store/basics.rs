//! What is handed over is remembered, in order, and can be read while others write.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use serde_json::{Value, json};
use wheelhouse::model::{Entry, Moment, RowChange};
use wheelhouse::store::{
    Batch, Journal, Outcome, Query, Recorded, Refused, Rows, Store, StoreError, Ticket,
};

use super::fixture::{Ledger, batch, check, place, rows_after};

#[test]
fn what_was_committed_is_there_again() {
    let (_directory, path) = place();
    for round in 0..4 {
        let ledger = Ledger::open(&path);
        assert_eq!(ledger.rows, rows_after(round * 10, 8));
        ledger.write(round * 10 + 1..=round * 10 + 10);
    }
    assert_eq!(check(&path, 8), Ok(40));
}

#[test]
fn what_waits_is_written_before_the_end() {
    let (_directory, path) = place();
    let ledger = Ledger::open(&path);
    for number in 1..=3_000 {
        ledger.store.submit_lazily(batch(number)).unwrap();
    }
    drop(ledger.store);
    let told: Vec<Outcome> = ledger.outcomes.iter().collect();
    assert_eq!(told.last(), Some(&Outcome::Committed(Ticket(3_000))));
    assert!(told.len() <= 10, "batches that wait share a transaction: {}", told.len());
    assert_eq!(check(&path, 8), Ok(3_000));
}

#[test]
fn only_the_owner_can_read_the_files() {
    let (directory, path) = place();
    let ledger = Ledger::open(&path);
    ledger.write(1..=3);
    let files: Vec<_> = fs::read_dir(&directory).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), 3, "the record, its log and the index of the log");
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[test]
fn readers_see_the_past_and_keep_nobody_from_writing() {
    let (_directory, path) = place();
    let ledger = Ledger::open(&path);
    ledger.write(1..=20);
    let journal = Journal::open(&path).unwrap();
    assert_eq!(journal.last().unwrap(), Ticket(20));
    ledger.write(21..=60);
    assert_eq!(journal.last().unwrap(), Ticket(60), "and the present");
    for number in [0, 1, 5, 20, 41, 60] {
        assert_eq!(journal.rows_at(Ticket(number)).unwrap(), rows_after(number, 8));
    }
    assert_eq!(journal.last_at(Moment(1_033)).unwrap(), Ticket(33));
    assert_eq!(journal.last_at(Moment(3)).unwrap(), Ticket(0));
    journal.verify().unwrap();
}

#[test]
fn the_past_is_the_same_across_snapshots() {
    let (_directory, path) = place();
    let ledger = Ledger::open(&path);
    // Each row is large enough that a snapshot is due every few batches.
    for number in 1..=200 {
        ledger.store.submit(super::fixture::batch_of(number, 20_000)).unwrap();
        if number % 3 == 0 {
            ledger.wait_for(Ticket(number));
        }
    }
    drop(ledger.store);
    let journal = Journal::open(&path).unwrap();
    for number in (0..=200).step_by(7) {
        assert_eq!(journal.rows_at(Ticket(number)).unwrap(), rows_after(number, 20_000));
    }
    assert_eq!(check(&path, 20_000), Ok(200));
}

#[test]
fn entries_are_found_by_agent_task_and_kind() {
    let (_directory, path) = place();
    Ledger::open(&path).write(1..=100);
    let journal = Journal::open(&path).unwrap();
    let ids = |query: Query| -> Vec<u64> {
        let found = journal.entries(&query).unwrap();
        found.iter().map(|entry: &Recorded| entry.id).collect()
    };
    let query = Query { limit: 4, ..Query::default() };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(ids(query.clone()), [1, 2, 3, 4]);
    assert_eq!(ids(Query { after: 50, ..query.clone() }), [51, 52, 53, 54]);
    assert_eq!(ids(Query { newest: true, ..query.clone() }), [97, 98, 99, 100]);
    assert_eq!(ids(Query { newest: true, after: 98, ..query.clone() }), [99, 100]);
    assert_eq!(ids(Query { agent: text("agent3"), ..query.clone() }), [3, 7, 11, 15]);
    assert_eq!(ids(Query { task: text("task5"), ..query.clone() }), [5, 21, 37, 53]);
    assert_eq!(ids(Query { kind: text("task."), ..query.clone() }), [3, 6, 9, 12]);
    let all = Query { agent: text("agent1"), task: text("task9"), kind: text("task."), ..query };
    assert_eq!(ids(all.clone()), [9, 57]);
    assert_eq!(ids(Query { kind: text("%"), ..all.clone() }), [] as [u64; 0]);
    assert_eq!(ids(Query { agent: text("' OR 1=1 --"), ..all }), [] as [u64; 0]);
}

#[test]
fn a_reader_makes_no_record() {
    let (directory, path) = place();
    assert!(matches!(Journal::open(&path), Err(StoreError::Absent(_))));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn a_row_that_is_too_large_is_refused_and_the_rest_goes_on() {
    let (_directory, path) = place();
    let ledger = Ledger::open(&path);
    ledger.write(1..=1);
    let value = Some(Value::from("x".repeat(4 << 20)));
    let rows = vec![RowChange { table: "prompt".into(), key: "1".into(), value }];
    let refused = ledger.store.submit(Batch { rows, ..Batch::default() });
    assert!(matches!(refused, Err(Refused::RowTooLarge { .. })), "{refused:?}");
    ledger.write(2..=2);
    assert_eq!(check(&path, 8), Ok(2));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever is in a row, an entry or a name comes back as it was.
    #[test]
    fn every_value_comes_back(
        changes in prop::collection::vec(("[abc]", "[a-c\0\u{e4}'%]", prop::option::of(any_value())), 1..24),
        text in any::<String>(),
        data in any_value(),
    ) {
        let (_directory, path) = place();
        let (store, _) = Store::open(&path, |_| ()).unwrap();
        let mut wanted = Rows::new();
        for chunk in changes.chunks(3) {
            let rows = chunk.iter().cloned().map(|(table, key, value)| RowChange { table, key, value });
            let entry = Entry { text: text.clone(), data: data.clone(), ..Entry::default() };
            store.submit(Batch { at: Moment(1), entries: vec![entry], rows: rows.collect() }).unwrap();
            for (table, key, value) in chunk.iter().cloned() {
                match value {
                    Some(value) => wanted.insert((table, key), value),
                    None => wanted.remove(&(table, key)),
                };
            }
        }
        drop(store);
        let (_store, rows) = Store::open(&path, |_| ()).unwrap();
        prop_assert_eq!(rows, wanted);
        let journal = Journal::open(&path).unwrap();
        journal.verify().unwrap();
        let first = journal.entries(&Query { limit: 1, ..Query::default() }).unwrap().remove(0);
        prop_assert_eq!((first.entry.text, first.entry.data), (text, data));
    }
}
