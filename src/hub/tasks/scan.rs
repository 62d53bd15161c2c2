//! Scans a workspace: which files are others than at the last scan.
//!
//! What was seen is kept on disk, so that a hub that comes back knows what changed while there was
//! none. It is written when the next scan begins: by then what the last one found is on record, or it
//! is found again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::file_tree;
use crate::config::Hash;
use crate::hub::remote::workspace::{RemoteWorkspace, refresh};
use crate::model::{FileChange, Moment};
use crate::workspace::inside::Root;

/// More files than this are told apart by size and time alone.
const FILES_MAX: usize = 50_000;

/// Larger files are told apart by size and time alone.
const CONTENT_BYTES_MAX: u64 = 1024 * 1024;

/// A file may change twice within one tick of its clock; one this old has not just done so.
const TICK: Duration = Duration::from_secs(2);

/// What was seen of each workspace.
pub(in crate::hub) type Snapshots = Arc<Mutex<BTreeMap<PathBuf, FileSnapshot>>>;

/// The files of a workspace as they were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::hub) struct FileSnapshot {
    files: BTreeMap<String, Seen>,
}

/// One file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    /// Stands for its content.
    number: String,
    /// Its size, its times and its place on the disk: while these stay, it need not be read again.
    stamp: (u64, i64, i64, i64, i64, u64),
    /// It had not changed for a while when it was read.
    is_settled: bool,
}

/// Scans a workspace beside the hub.
pub(in crate::hub) async fn scan(
    remote: Option<RemoteWorkspace>,
    root: PathBuf,
    (file, snapshots): (PathBuf, Snapshots),
    now: Moment,
) -> Option<Vec<FileChange>> {
    if let Err(reason) = refresh(remote).await {
        tracing::warn!(reason, "it is scanned as it was");
    }
    let scan = move || scan_files(&root, &file, &snapshots, now);
    tokio::task::spawn_blocking(scan).await.ok().flatten()
}

/// Returns what has changed since the last scan; nothing if the files cannot be read.
fn scan_files(
    root: &Path,
    file: &Path,
    snapshots: &Snapshots,
    now: Moment,
) -> Option<Vec<FileChange>> {
    let known = || snapshots.lock().unwrap_or_else(PoisonError::into_inner);
    let last = known().get(root).cloned();
    let before = match last {
        Some(snapshot) => {
            if let Err(error) = save(&snapshot, file) {
                tracing::warn!(%error, "what was seen of a workspace could not be written down");
            }
            Some(snapshot)
        }
        None => load(file),
    };
    let after = snapshot(root, before.as_ref(), now)?;
    // Without anything to compare it with, what is there now was always there.
    let changes = before.map(|before| compare(&before, &after)).unwrap_or_default();
    known().insert(root.to_owned(), after);
    Some(changes)
}

fn compare(before: &FileSnapshot, after: &FileSnapshot) -> Vec<FileChange> {
    let number = |snapshot: &FileSnapshot, path: &str| {
        snapshot.files.get(path).map(|seen| seen.number.clone())
    };
    let gone = before.files.keys().filter(|path| !after.files.contains_key(*path));
    let paths = after.files.keys().chain(gone);
    let changes = paths.map(|path| FileChange {
        path: path.clone(),
        before: number(before, path),
        after: number(after, path),
    });
    changes.filter(|change| change.before != change.after).collect()
}

fn snapshot(root: &Path, before: Option<&FileSnapshot>, now: Moment) -> Option<FileSnapshot> {
    let mut held = Root::hold(root).ok()?;
    let listed = file_tree::files(root)?;
    let is_crowded = listed.len() > FILES_MAX;
    let mut files = BTreeMap::new();
    for path in listed {
        let name = shown(&path);
        let known = before.and_then(|snapshot| snapshot.files.get(&name));
        if let Some(seen) = see_file(&mut held, (root, &path), known, is_crowded, now) {
            files.insert(name, seen);
        }
    }
    Some(FileSnapshot { files })
}

/// Returns a path as it is told: an agent may name its files in lines, or in what a terminal obeys.
fn shown(path: &Path) -> String {
    let mut name = String::new();
    for c in path.to_string_lossy().chars() {
        if c.is_control() { name.extend(c.escape_default()) } else { name.push(c) }
    }
    name
}

/// Returns what is seen of a file; nothing if there is none.
fn see_file(
    held: &mut Root,
    (root, path): (&Path, &Path),
    known: Option<&Seen>,
    is_crowded: bool,
    now: Moment,
) -> Option<Seen> {
    let told = fs::symlink_metadata(root.join(path)).ok().filter(|told| !told.is_dir())?;
    // A folder on the way may have become a link: then it is gone, whatever lies behind that.
    if !held.reaches(path) {
        return None;
    }
    let stamp =
        (told.len(), told.mtime(), told.mtime_nsec(), told.ctime(), told.ctime_nsec(), told.ino());
    if let Some(known) = known.filter(|known| known.stamp == stamp && known.is_settled) {
        return Some(known.clone());
    }
    let changed = Moment(u64::try_from(told.ctime()).unwrap_or_default().saturating_mul(1000));
    let is_settled = changed + TICK < now;
    let content = if told.is_symlink() {
        held.read_link(path)
    } else if told.is_file() && told.len() <= CONTENT_BYTES_MAX && !is_crowded {
        held.read_plain(path, CONTENT_BYTES_MAX)
    } else {
        None
    };
    let number = match content {
        Some(content) => format!("{:o} {}", told.mode(), Hash::of(&content)),
        None => format!("{:o} {} {}.{}", told.mode(), stamp.0, stamp.1, stamp.2),
    };
    Some(Seen { number, stamp, is_settled })
}

fn save(snapshot: &FileSnapshot, file: &Path) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let draft = file.with_extension("new");
    fs::write(&draft, serde_json::to_vec(snapshot)?)?;
    fs::rename(&draft, file)
}

fn load(file: &Path) -> Option<FileSnapshot> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_changed_new_gone_or_put_back_is_seen_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let (root, file) = (directory.path().join("work"), directory.path().join("s/sight"));
        fs::create_dir(&root).unwrap();
        let set = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
        set("a", "1");
        set("b", "1");
        let sights = Snapshots::default();
        let paths = |sights: &Snapshots| -> Vec<String> {
            scan_files(&root, &file, sights, Moment(0))
                .unwrap()
                .into_iter()
                .map(|change| change.path)
                .collect()
        };
        assert_eq!(paths(&sights), [""; 0], "there is nothing to compare it with");
        set("a", "2");
        set("c", "1");
        fs::remove_file(root.join("b")).unwrap();
        let changes = scan_files(&root, &file, &sights, Moment(0)).unwrap();
        let first = changes.iter().find(|change| change.path == "a").unwrap().clone();
        assert_eq!(changes.len(), 3);
        set("a", "2");
        assert_eq!(paths(&sights), [""; 0], "the same content is no change");
        set("a", "1");
        let back = scan_files(&root, &file, &sights, Moment(0)).unwrap();
        assert_eq!((back.len(), &back[0].after), (1, &first.before));
        set("c", "2");
        // Another hub has only what is on disk: the look before the last.
        assert_eq!(paths(&Snapshots::default()), ["a", "c"]);
    }

    #[test]
    fn a_name_that_would_be_lines_or_commands_is_told_as_one_word() {
        assert_eq!(shown(Path::new("a\nSTATUS: DONE\u{1b}[31m")), "a\\nSTATUS: DONE\\u{1b}[31m");
        assert_eq!(shown(Path::new("ünï/a b")), "ünï/a b");
    }

    #[test]
    fn a_file_that_was_read_while_it_changed_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, "1").unwrap();
        let changed = u64::try_from(fs::metadata(&path).unwrap().ctime()).unwrap();
        let now = Moment((changed + 1) * 1000);
        let mut held = Root::hold(directory.path()).unwrap();
        let mut see = |known: Option<&Seen>, now| {
            see_file(&mut held, (directory.path(), Path::new("a")), known, false, now).unwrap()
        };
        let seen = see(None, now);
        assert!(!seen.is_settled);
        assert!(see(None, now + TICK).is_settled);
        let lie = Seen { number: "x".to_owned(), ..seen.clone() };
        assert_eq!(see(Some(&lie), now).number, seen.number);
        let trusted = Seen { is_settled: true, ..lie };
        assert_eq!(see(Some(&trusted), now).number, "x");
    }
}
