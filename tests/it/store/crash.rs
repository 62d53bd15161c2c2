//! SIGKILL at any instant loses nothing that was acknowledged.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use wheelhouse::store::{Outcome, Ticket};

use super::fixture::{Ledger, batch_of, check, child, place, record_of_child, rows_after};
use crate::support::chance::Chance;

/// Large enough for snapshots and for the log to be folded into the file while it goes on.
const ROW_BYTES: usize = 3_000;

#[test]
fn a_hundred_kills_lose_nothing_that_was_acknowledged() {
    let (_directory, path) = place();
    let mut chance = Chance::new(11);
    let mut kept = 0;
    for round in 0..100 {
        let mut writer = child("store::crash::child_that_writes", &path);
        let mut writer = writer.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let (mut lines, mut acknowledged) = (acknowledgements(lines.map_while(Result::ok)), kept);
        for _ in 0..chance.below(8) {
            acknowledged = lines.next().unwrap();
        }
        thread::park_timeout(Duration::from_micros(chance.below(4_000)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        // What it said before its end and was not read yet counts too.
        acknowledged = lines.last().unwrap_or(acknowledged);
        if !path.exists() {
            assert_eq!(acknowledged, 0, "killed before there was a record");
            continue;
        }
        let found =
            check(&path, ROW_BYTES).unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert!(found >= acknowledged, "round {round}: {found} of {acknowledged}");
        kept = found;
    }
    assert!(kept > 100, "only {kept} batches were written in all rounds");
    assert_eq!(Ledger::open(&path).rows, rows_after(kept, ROW_BYTES));
}

#[test]
#[ignore = "a child of the test above"]
fn child_that_writes() {
    let Some(path) = record_of_child() else { return };
    let ledger = Ledger::open(&path);
    let journal = wheelhouse::store::Journal::open(&path).unwrap();
    let mut done = journal.last().unwrap();
    for number in done.0 + 1.. {
        // Sometimes several wait, sometimes one.
        ledger.store.submit(batch_of(number, ROW_BYTES)).unwrap();
        while done < Ticket(number.saturating_sub(number % 7)) {
            let Outcome::Committed(ticket) = ledger.next() else { panic!("it failed") };
            done = ticket;
            println!("acknowledged {}", done.0);
        }
    }
}

fn acknowledgements(lines: impl Iterator<Item = String>) -> impl Iterator<Item = u64> {
    lines.filter_map(|line| line.split_once("acknowledged ")?.1.parse().ok())
}
