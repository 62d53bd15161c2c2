//! A power cut at any instant loses nothing that was acknowledged.
//!
//! A child writes under `strace`. From its calls the disk is rebuilt as it was at an instant, without
//! what had not been synced, or with random sectors of it; then the record must be whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use wheelhouse::store::Ticket;

use super::fixture::{Ledger, batch_of, check, place, record_of_child, rows_after, under};
use super::trace::{CALLS, Disk, Step, Unsynced, steps};
use crate::support::chance::Chance;

/// Large enough for the log to be folded into the file, and for snapshots.
const ROW_BYTES: usize = 16_000;
const BATCHES: u64 = 110;

/// How many instants are looked at; those right after an acknowledgement are among them.
const SAMPLES: u64 = 50;

/// What the child did; nothing where there is no `strace`.
static STEPS: LazyLock<Option<Vec<Step>>> = LazyLock::new(record_steps);

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let Some(steps) = &*STEPS else { return };
    let acknowledged = steps.iter().filter(|step| matches!(step, Step::Acknowledged(_))).count();
    assert!(acknowledged > 20, "{acknowledged} acknowledgements were traced");
    let folded = |step: &Step| matches!(step, Step::Wrote { name, at, .. } if name == "record.db" && *at > 0);
    assert!(steps.iter().any(folded), "the log was never folded into the file");

    let steps = steps.iter().collect::<Vec<_>>();
    let mut chance = Chance::new(12);
    for unsynced in [Unsynced::Lost, Unsynced::Torn, Unsynced::Kept] {
        let faults = crashes(&steps, unsynced, &mut chance);
        assert!(faults.is_empty(), "{unsynced:?}: {}", faults.join("\n"));
    }
}

/// The same look at the same disk sees the loss if syncs did nothing.
#[test]
fn without_syncs_a_power_cut_would_be_seen_to_lose_much() {
    let Some(steps) = &*STEPS else { return };
    let syncs_log =
        |step: &Step| matches!(step, Step::Synced { name: Some(name) } if name.ends_with("-wal"));
    let steps = steps.iter().filter(|step| !syncs_log(step)).collect::<Vec<_>>();
    let faults = crashes(&steps, Unsynced::Lost, &mut Chance::new(13));
    let lost = faults.iter().filter(|fault| fault.contains("batches are there")).count();
    assert!(lost > 20, "{faults:?}");
}

/// Lets the power fail at many instants, and returns what was wrong afterwards.
fn crashes(steps: &[&Step], unsynced: Unsynced, chance: &mut Chance) -> Vec<String> {
    let every = steps.len() as u64 / SAMPLES + 1;
    let (mut disk, mut acknowledged, mut faults) = (Disk::default(), 0, Vec::new());
    for (number, step) in steps.iter().enumerate() {
        disk.take(step);
        let mut every = every;
        if let Step::Acknowledged(ticket) = step {
            (acknowledged, every) = (*ticket, 3);
        }
        if chance.below(every) == 0 {
            let (directory, path) = place();
            disk.leave(directory.path(), unsynced, chance);
            if let Err(fault) = survives(&path, acknowledged, chance.below(8) == 0) {
                faults.push(format!("after step {number}: {fault}"));
            }
        }
    }
    faults
}

fn survives(path: &Path, acknowledged: u64, must_go_on: bool) -> Result<(), String> {
    if !path.exists() {
        return if acknowledged == 0 { Ok(()) } else { Err("there is no record".to_owned()) };
    }
    let found = check(path, ROW_BYTES)?;
    if found < acknowledged {
        return Err(format!("{found} of {acknowledged} batches are there"));
    }
    if must_go_on && Ledger::open(path).rows != rows_after(found, ROW_BYTES) {
        return Err(format!("a new hub sees other rows than those after {found}"));
    }
    Ok(())
}

fn record_steps() -> Option<Vec<Step>> {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        println!("not tested: there is no strace to tell what is written");
        return None;
    }
    let (directory, path) = place();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let to = trace.path().to_str().unwrap();
    let strace =
        ["strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "70000", "-e", CALLS, "-o", to];
    let output = under(&strace, "store::power::child_that_writes", &path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let trace = fs::read_to_string(trace.path()).unwrap();
    Some(steps(&trace, directory.path()))
}

#[test]
#[ignore = "a child of the tests above"]
fn child_that_writes() {
    let Some(path) = record_of_child() else { return };
    let ledger = Ledger::open(&path);
    for number in 1..=BATCHES {
        ledger.store.submit(batch_of(number, ROW_BYTES)).unwrap();
        // Sometimes several share a transaction.
        if number % 7 < 4 {
            ledger.wait_for(Ticket(number));
            println!("acknowledged {number}");
        }
    }
}
