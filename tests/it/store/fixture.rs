//! Numbered batches, what must follow from them, and children that write them.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver};

use serde_json::json;
use tempfile::TempDir;
use wheelhouse::model::{Entry, Moment, RowChange};
use wheelhouse::store::{Batch, Journal, Outcome, Query, Rows, Store, Ticket};

use crate::support::clock::PATIENCE;

/// Names the record to a child.
pub(super) const CHILD_RECORD: &str = "WHEELHOUSE_TEST_RECORD";

const AGENTS: u64 = 4;
const TASKS: u64 = 16;

/// An open record, and what its thread has told.
pub(super) struct Ledger {
    pub(super) store: Store,
    pub(super) rows: Rows,
    pub(super) outcomes: Receiver<Outcome>,
}

impl Ledger {
    pub(super) fn open(path: &Path) -> Self {
        let (tell, outcomes) = mpsc::channel();
        let (store, rows) = Store::open(path, move |outcome| drop(tell.send(outcome))).unwrap();
        Self { store, rows, outcomes }
    }

    pub(super) fn next(&self) -> Outcome {
        self.outcomes.recv_timeout(PATIENCE).unwrap()
    }

    /// Waits until a batch is durable; nothing else may be told.
    pub(super) fn wait_for(&self, ticket: Ticket) {
        loop {
            match self.next() {
                Outcome::Committed(done) if done >= ticket => break,
                Outcome::Committed(_) => {}
                other @ (Outcome::Failing { .. } | Outcome::Healed) => panic!("{other:?}"),
            }
        }
    }

    /// Writes the numbered batches up to one, and waits for the last.
    pub(super) fn write(&self, numbers: std::ops::RangeInclusive<u64>) {
        let last = *numbers.end();
        for number in numbers {
            assert_eq!(self.store.submit(batch(number)).unwrap(), Ticket(number));
        }
        self.wait_for(Ticket(last));
    }
}

pub(super) fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.db");
    (directory, path)
}

/// The batch with this number: it moves one task, and now and then another one goes.
pub(super) fn batch(number: u64) -> Batch {
    batch_of(number, 8)
}

/// The same, with a row of about this size.
pub(super) fn batch_of(number: u64, bytes: usize) -> Batch {
    let (agent, task) = (format!("agent{}", number % AGENTS), format!("task{}", number % TASKS));
    let text = format!("step {number}");
    let kind = if number.is_multiple_of(3) { "task.claimed" } else { "agent.moved" }.to_owned();
    let value = Some(json!({ "step": number, "text": "x".repeat(bytes) }));
    let mut rows = vec![RowChange { table: "task".into(), key: task.clone(), value }];
    if number.is_multiple_of(5) {
        let key = format!("task{}", (number + 7) % TASKS);
        rows.push(RowChange { table: "task".into(), key, value: None });
    }
    let data = json!({ "number": number });
    let agent = Some(agent.parse().unwrap());
    let entry = Entry { kind, agent, task: Some(task), text, data };
    Batch { at: Moment(1_000 + number), entries: vec![entry], rows }
}

/// Returns what must follow from the first batches.
pub(super) fn rows_after(last: u64, bytes: usize) -> Rows {
    let mut rows = BTreeMap::new();
    for change in (1..=last).flat_map(|number| batch_of(number, bytes).rows) {
        let name = (change.table, change.key);
        match change.value {
            Some(value) => rows.insert(name, value),
            None => rows.remove(&name),
        };
    }
    rows
}

/// Makes sure that the record holds the first batches, whole and in order, and returns how many.
pub(super) fn check(path: &Path, bytes: usize) -> Result<u64, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let journal = Journal::open(path).map_err(|error| text(&error))?;
    journal.verify().map_err(|error| text(&error))?;
    let last = journal.last().map_err(|error| text(&error))?.0;
    let limit = usize::try_from(last).unwrap() + 1;
    let found = journal.entries(&Query { limit, ..Query::default() });
    let found = found.map_err(|error| text(&error))?;
    let is_right = (1..=last).zip(&found).all(|(number, entry)| {
        let wanted = batch_of(number, bytes);
        (entry.ticket, entry.at, &entry.entry) == (Ticket(number), wanted.at, &wanted.entries[0])
    });
    if found.len() + 1 != limit || !is_right {
        return Err(format!("{} entries of {last} are there, or out of order", found.len()));
    }
    let rows = journal.rows_at(Ticket(last)).map_err(|error| text(&error))?;
    if rows != rows_after(last, bytes) {
        return Err(format!("the rows are not those after {last}"));
    }
    Ok(last)
}

/// Returns the command that runs one of these tests as a child.
pub(super) fn child(name: &str, path: &Path) -> Command {
    under(&[], name, path)
}

/// The same, below another program.
pub(super) fn under(words: &[&str], name: &str, path: &Path) -> Command {
    let program = env::current_exe().unwrap();
    let words = words.iter().map(|word| (*word).to_owned());
    let mut words = words.chain([program.to_str().unwrap().to_owned()]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(CHILD_RECORD, path);
    command
}

/// Returns the record that this process is a child for, if it is one.
pub(super) fn record_of_child() -> Option<PathBuf> {
    env::var_os(CHILD_RECORD).map(PathBuf::from)
}
