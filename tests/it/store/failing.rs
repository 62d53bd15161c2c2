//! A disk that is full, read-only or broken: told once, tried again, and nothing is lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Resource, Rlimit, setrlimit};
use wheelhouse::store::{Journal, Outcome, Refused, Ticket};

use super::fixture::{Ledger, batch, batch_of, check, child, place, record_of_child, under};

const ROW_BYTES: usize = 8;

/// A file may not grow: what a full disk is, without one.
#[test]
fn a_full_disk_is_told_once_and_heals_by_itself() {
    let (_directory, path) = place();
    let output = child("store::failing::child_without_room", &path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(check(&path, ROW_BYTES), Ok(60));
}

#[test]
#[ignore = "a child of the test above"]
fn child_without_room() {
    let Some(path) = record_of_child() else { return };
    // Without a handler, the signal would end this process.
    signal_hook::flag::register(25, Arc::new(AtomicBool::new(false))).unwrap();
    let ledger = Ledger::open(&path);
    ledger.write(1..=10);
    let used = path.with_extension("db-wal").metadata().unwrap().len();
    setrlimit(Resource::Fsize, Rlimit { current: Some(used), maximum: None }).unwrap();
    for number in 11..=60 {
        assert_eq!(ledger.store.submit(batch(number)).unwrap(), Ticket(number));
    }
    let told = ledger.next();
    assert!(matches!(&told, Outcome::Failing { reason } if reason == "disk I/O error"), "{told:?}");
    let journal = Journal::open(&path).unwrap();
    assert_eq!(journal.last().unwrap(), Ticket(10), "reading goes on");
    // It has been tried several times by now, and said once.
    std::thread::park_timeout(std::time::Duration::from_millis(500));
    assert!(ledger.outcomes.try_recv().is_err());

    setrlimit(Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    assert_eq!(ledger.next(), Outcome::Healed);
    ledger.wait_for(Ticket(60));
}

/// Every kind of call that writes fails in turn, with what a disk says when it is full or broken.
#[test]
fn whatever_call_fails_nothing_is_lost_or_written_twice() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("not tested: there is no strace to let calls fail");
        return;
    }
    let mut failures = BTreeMap::new();
    for (fault, reason) in [
        ("pwrite64:error=ENOSPC:when=40..43", Some("database or disk is full")),
        ("pwrite64:error=EROFS:when=41..44", Some("disk I/O error")),
        ("pwrite64:error=EIO:when=45", Some("disk I/O error")),
        ("fdatasync:error=EIO:when=9..11", None),
        ("fsync:error=EIO:when=9..11", None),
    ] {
        let (_directory, path) = place();
        let said = run_with_fault(fault, &path);
        assert_eq!(check(&path, ROW_BYTES), Ok(60), "{fault}");
        let failing = said.iter().filter_map(|line| line.split_once("failing: "));
        let failing: Vec<&str> = failing.map(|(_, reason)| reason).collect();
        let healed = said.iter().filter(|line| *line == "healed").count();
        assert_eq!(healed, failing.len(), "{fault}: {said:?}");
        if let Some(reason) = reason {
            assert_eq!(failing, [reason], "{fault}");
        }
        failures.insert(fault, failing.len());
    }
    let syncs: usize =
        failures.iter().filter(|(fault, _)| fault.contains("sync")).map(|f| f.1).sum();
    assert_eq!(syncs, 1, "one of the two calls syncs the log: {failures:?}");
}

#[test]
#[ignore = "a child of the test above"]
fn child_with_a_fault() {
    let Some(path) = record_of_child() else { return };
    let ledger = Ledger::open(&path);
    for number in 1..=60 {
        ledger.store.submit(batch_of(number, ROW_BYTES)).unwrap();
        loop {
            match ledger.next() {
                Outcome::Committed(ticket) if ticket == Ticket(number) => break,
                Outcome::Committed(ticket) => panic!("{ticket:?} was told twice"),
                Outcome::Failing { reason } => println!("failing: {reason}"),
                Outcome::Healed => println!("healed"),
            }
        }
    }
}

/// Runs the child while calls on the log fail, and returns the lines that it said.
fn run_with_fault(fault: &str, path: &Path) -> Vec<String> {
    let log = format!("{}-wal", path.display());
    let inject = format!("inject={fault}");
    let calls = format!("trace={}", fault.split(':').next().unwrap());
    let strace = ["strace", "-f", "-o", "/dev/null", "-P", &log, "-e", &calls, "-e", &inject];
    let output = under(&strace, "store::failing::child_with_a_fault", path).output().unwrap();
    assert!(output.status.success(), "{fault}: {output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// While nothing can be written, what waits is bounded, and closing does not wait for ever.
#[test]
fn a_record_that_never_heals_refuses_at_last_and_can_be_closed() {
    let (_directory, path) = place();
    let ledger = Ledger::open(&path);
    ledger.write(1..=3);
    // Another writer that does not let go: every transaction fails.
    let stranger = rusqlite::Connection::open(&path).unwrap();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut number = 3;
    let refused = loop {
        match ledger.store.submit(batch(number + 1)) {
            Ok(ticket) => number = ticket.0,
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, Refused::Full { .. }), "{refused}");
    assert!(!ledger.store.has_room());
    let told = ledger.next();
    assert!(matches!(&told, Outcome::Failing { reason } if reason.contains("locked")), "{told:?}");
    drop(ledger.store);
    drop(stranger);
    assert_eq!(check(&path, ROW_BYTES), Ok(3), "nothing that was not acknowledged is half there");
}
