//! Measures the record on the disk that holds the temporary directory, or the one that is named.
//!
//! Prints a table and asserts nothing.
//! `cargo bench --bench store [-- DIRECTORY]`
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::json;
use wheelhouse::model::{Entry, Moment, RowChange};
use wheelhouse::store::{Batch, Journal, Outcome, Query, Store, Ticket};

const ENTRIES: u64 = 100_000;

fn main() {
    let named = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let parent = named.map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = tempfile::tempdir_in(parent).expect("a directory for the bench");
    println!("| what | figure |\n| --- | --- |");
    one_after_the_other(&directory.path().join("one.db"));
    lazily(&directory.path().join("lazy.db"));
    long(&directory.path().join("long.db"));
}

fn one_after_the_other(path: &Path) {
    let (store, outcomes) = open(path);
    let mut waits: Vec<Duration> = (1..=2_000)
        .map(|number| {
            let began = Instant::now();
            wait_for(&outcomes, store.submit(batch(number)).expect("room"));
            began.elapsed()
        })
        .collect();
    waits.sort();
    let total: Duration = waits.iter().sum();
    let rate = 1_000_000 * waits.len() as u128 / total.as_micros();
    println!("| acknowledged one after the other | {rate} a second |");
    let at = |part: usize| waits[waits.len() * part / 100];
    println!("| one acknowledgement, p50 / p99 | {:.2?} / {:.2?} |", at(50), at(99));
}

fn lazily(path: &Path) {
    let (store, outcomes) = open(path);
    let began = Instant::now();
    for number in 1..=10_000 {
        store.submit_lazily(batch(number)).expect("room");
    }
    wait_for(&outcomes, Ticket(10_000));
    println!("| 10,000 lazy batches | {:.2?} |", began.elapsed());
}

fn long(path: &Path) {
    let (store, outcomes) = open(path);
    for number in 1..=ENTRIES {
        while !store.has_room() {
            outcomes.recv().expect("the record's thread");
        }
        store.submit_lazily(batch(number)).expect("room");
    }
    drop(store);
    let bytes = path.metadata().expect("a record").len();
    println!("| size of {ENTRIES} entries | {} MiB |", bytes / 1024 / 1024);
    timed("open with 100,000 entries, rows checked", || drop(open(path)));
    timed("open with 100,000 entries, to read", || drop(Journal::open(path).expect("a record")));
    let journal = Journal::open(path).expect("a record");
    timed("rows as they were at 50,000", || drop(journal.rows_at(Ticket(50_000)).expect("rows")));
    let query = Query { limit: 50, newest: true, agent: Some("agent3".into()), ..Query::default() };
    timed("the newest fifty entries of an agent", || {
        drop(journal.entries(&query).expect("entries"));
    });
    timed("everything verified", || journal.verify().expect("a whole record"));
}

fn timed(what: &str, mut act: impl FnMut()) {
    let mut times: Vec<Duration> = (0..5)
        .map(|_| {
            let began = Instant::now();
            act();
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("| {what} | {:.2?} |", times[2]);
}

fn open(path: &Path) -> (Store, Receiver<Outcome>) {
    let (tell, outcomes) = mpsc::channel();
    let told = move |outcome| drop(tell.send(outcome));
    let (store, _) = Store::open(path, told).expect("a record");
    (store, outcomes)
}

fn wait_for(outcomes: &Receiver<Outcome>, ticket: Ticket) {
    while outcomes.recv().expect("the record's thread") != Outcome::Committed(ticket) {}
}

/// A batch as a busy team makes them: one entry, one row of a few hundred bytes, 2,000 rows in all.
fn batch(number: u64) -> Batch {
    let (agent, key) = (format!("agent{}", number % 8), format!("task-{}", number * 7 % 2_000));
    let value = json!({
        "state": "running", "agent": agent, "step": number, "title": "t".repeat(200),
    });
    let entry = Entry {
        kind: "task.progress".into(),
        text: format!("{agent} reported progress on {key}, step {number}"),
        agent: Some(agent.parse().expect("it is a name")),
        task: Some(key.clone()),
        ..Entry::default()
    };
    let row = RowChange { table: "task".into(), key, value: Some(value) };
    Batch { at: Moment(number), entries: vec![entry], rows: vec![row] }
}
