//! A record that cannot be used is refused with a reason, and not a byte of it is changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use wheelhouse::store::{Journal, Store, StoreError};

use super::fixture::{Ledger, child, place, record_of_child, rows_after};
use crate::support::chance::Chance;
use crate::support::clock::wait_for;

/// Where SQLite keeps the form of a file, and whose it is.
const USER_VERSION: usize = 60;
const APPLICATION_ID: usize = 68;
const PAGE: usize = 4096;

const ROUNDS: u32 = 200;

#[test]
fn what_is_no_record_is_refused_and_left_alone() {
    let whole = fs::read(old_record().1).unwrap();
    let newer = changed(&whole, USER_VERSION, &99_u32.to_be_bytes());
    let foreign = changed(&whole, APPLICATION_ID, &[1, 2, 3, 4]);
    let cases: [(&str, &[u8]); 8] = [
        ("(form 99, and this one knows 2)", &newer),
        ("it is a database of something else", &foreign),
        ("is not a record of wheelhouse: file is not a database", &[b'#'; 8192]),
        ("is not a record of wheelhouse: file is not a database", b"short"),
        ("is damaged: it is empty", b""),
        ("is damaged: database disk image is malformed", &whole[..PAGE * 3]),
        ("is damaged: database disk image is malformed", &whole[..whole.len() - PAGE]),
        ("is damaged: database disk image is malformed", &whole[..100]),
    ];
    for (reason, bytes) in cases {
        let (directory, path) = place();
        fs::write(&path, bytes).unwrap();
        fs::write(directory.path().join("record.db.v1-backup-7"), "a copy").unwrap();
        assert_refused(&directory, &path, reason);
    }
}

#[test]
fn a_form_that_is_half_another_is_refused_and_left_alone() {
    for (sql, reason) in [
        ("DROP TABLE snapshot", "it is not of form 2: `snapshot` is missing or different"),
        ("ALTER TABLE batch ADD COLUMN x TEXT", "`batch` is missing or different"),
        ("CREATE TABLE extra (x TEXT)", "`extra` does not belong to it"),
        ("PRAGMA user_version = 0", "it is not of form 0: `base` does not belong to it"),
    ] {
        let (directory, path) = old_record();
        edit(&path, sql);
        assert_refused(&directory, &path, reason);
    }
}

#[test]
fn rows_that_the_journal_does_not_tell_are_refused() {
    for sql in [
        "UPDATE present SET value = '1' WHERE key = 'task3'",
        "DELETE FROM present WHERE key = 'task3'",
        "INSERT INTO present VALUES ('task', 'task3x', '{}')",
        "DELETE FROM change WHERE batch = 35 AND position = 0",
    ] {
        let (directory, path) = old_record();
        edit(&path, sql);
        assert_refused(&directory, &path, "contradicts itself: row `task3");
    }
}

#[test]
fn a_log_without_its_file_does_not_become_part_of_a_new_record() {
    let (directory, path) = killed_record();
    fs::remove_file(&path).unwrap();
    assert_refused(&directory, &path, "the file is gone, and only its log is left");
}

#[test]
fn a_refusal_does_not_fold_the_log_into_the_file() {
    let (directory, path) = killed_record();
    let mut bytes = fs::read(&path).unwrap();
    bytes[..16].copy_from_slice(b"not a database\0\0");
    fs::write(&path, bytes).unwrap();
    assert_refused(&directory, &path, "file is not a database");
}

#[test]
fn gaps_in_the_story_are_found_by_a_full_look() {
    for (sql, reason) in [
        ("DELETE FROM entry WHERE id = 3", "of 40 entries in the journal, 39 are there"),
        ("DELETE FROM batch WHERE seq = 3", "of 40 batches in the journal, 39 are there"),
        ("UPDATE entry SET batch = 41 WHERE id = 40", "1 entries belong to no batch"),
        ("INSERT INTO snapshot VALUES (3, 'task', 'x', '1')", "row `task1` of `task`"),
    ] {
        let (_directory, path) = old_record();
        edit(&path, sql);
        let error = Journal::open(&path).unwrap().verify().unwrap_err();
        assert!(error.to_string().contains(reason), "{sql}: {error}");
    }
}

/// Flips bytes all over the file: each time it is refused, or the rows are right and a full look tells.
#[test]
fn flipped_bytes_are_told_and_never_made_worse() {
    let (_directory, path) = old_record();
    let whole = fs::read(path).unwrap();
    let mut chance = Chance::new(15);
    let (mut refused, mut found) = (0, 0);
    for _ in 0..ROUNDS {
        let (directory, path) = place();
        let mut bytes = whole.clone();
        let page = usize::try_from(chance.below(whole.len() as u64)).unwrap() / PAGE * PAGE;
        for _ in 0..64 {
            let at = page + usize::try_from(chance.below(PAGE as u64)).unwrap();
            bytes[at] ^= u8::try_from(chance.below(255) + 1).unwrap();
        }
        fs::write(&path, &bytes).unwrap();
        let looked = Journal::open(&path).and_then(|journal| journal.verify());
        found += u32::from(looked.is_err());
        match Store::open(&path, |_| ()) {
            Ok((_, rows)) => assert_eq!(rows, rows_after(40, 8)),
            Err(error) => {
                refused += 1;
                assert!(looked.is_err(), "a full look must see what a short one sees: {error}");
                assert!(error.to_string().contains("hint: "), "{error}");
                assert_eq!(fs::read(&path).unwrap(), bytes, "{error}");
                assert_eq!(contents(&directory).len(), 1, "{error}");
            }
        }
    }
    println!("{refused} of {ROUNDS} refused, {found} found by a full look");
    assert!(refused > ROUNDS / 3 && found > ROUNDS / 3 * 2, "{refused} and {found} of {ROUNDS}");
}

fn old_record() -> (TempDir, PathBuf) {
    let (directory, path) = place();
    Ledger::open(&path).write(1..=40);
    (directory, path)
}

/// Returns a record whose writer was killed, so that most of it is still in its log.
fn killed_record() -> (TempDir, PathBuf) {
    let (directory, path) = place();
    let mut writer = child("store::damage::child_that_waits", &path);
    let mut writer = writer.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the batches", || {
        Journal::open(&path).and_then(|journal| journal.last()).is_ok_and(|last| last.0 == 40)
    });
    writer.kill().unwrap();
    writer.wait().unwrap();
    (directory, path)
}

#[test]
#[ignore = "a child of the tests above"]
fn child_that_waits() {
    let Some(path) = record_of_child() else { return };
    let ledger = Ledger::open(&path);
    ledger.write(1..=40);
    std::thread::park();
}

/// Everything that opens the record must give the reason and what to do, and leave the files alone.
fn assert_refused(directory: &TempDir, path: &Path, reason: &str) {
    let before = contents(directory);
    let said: [StoreError; 2] = [
        Store::open(path, |_| ()).unwrap_err(),
        Journal::open(path).and_then(|journal| journal.verify()).unwrap_err(),
    ];
    for error in said {
        let text = error.to_string();
        assert!(text.contains(reason), "{text}\nwanted: {reason}");
        assert!(text.contains(path.to_str().unwrap()), "{text}");
        assert!(text.contains("hint: ") && text.contains("`wheelhouse doctor`"), "{text}");
        for copy in before.keys().filter(|name| name.contains("-backup-")) {
            assert!(text.contains(copy) || matches!(error, StoreError::Newer { .. }), "{text}");
        }
    }
    assert_eq!(contents(directory), before);
}

/// Returns what is on the disk; the index of the log is made anew by whoever looks.
fn contents(directory: &TempDir) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let files =
        files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap()));
    let is_empty_log = |name: &str, bytes: &[u8]| name.ends_with("-wal") && bytes.is_empty();
    files.filter(|(name, bytes)| !name.ends_with("-shm") && !is_empty_log(name, bytes)).collect()
}

fn changed(bytes: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

/// Changes a record behind its back.
fn edit(path: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
}
