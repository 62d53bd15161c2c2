//! Locks an agent's name, so that only one agent of that name runs.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::KeeperError;

/// A look at a lock holds it for an instant, and a keeper that is leaving for a little longer.
const TRIES_MAX: u32 = 25;
const TRY_EVERY: Duration = Duration::from_millis(10);

/// Takes the lock, which is held as long as any copy of the file is open.
pub(super) fn take(path: &Path) -> Result<File, KeeperError> {
    let failed = |source| KeeperError::Lock { path: path.to_owned(), source };
    let file = open(path).map_err(failed)?;
    for _ in 0..TRIES_MAX {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) => thread::sleep(TRY_EVERY),
            Err(error) => return Err(failed(error.into())),
        }
    }
    Err(KeeperError::Held { path: path.to_owned() })
}

/// Says whether the lock is still this file's, as long as nobody who shares it gave it back.
pub(super) fn is_still_held(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Gives the lock back for every process that shares it.
pub(super) fn release(file: &File) {
    if let Err(error) = flock(file, FlockOperation::Unlock) {
        tracing::warn!(%error, "the lock stays until this process ends");
    }
}

/// Says whether a keeper, or what watches over its tree, is alive behind this lock.
///
/// A file that cannot be opened counts as held, unless it does not exist: when in doubt there is
/// an agent.
pub fn is_held(path: &Path) -> bool {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    flock(&file, FlockOperation::NonBlockingLockShared).is_err()
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_until_its_last_copy_is_gone_or_it_is_given_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("backend.lock");
        assert!(!is_held(&path));
        let first = take(&path).unwrap();
        let copy = first.try_clone().unwrap();
        drop(first);
        assert!(is_held(&path));
        assert!(matches!(take(&path), Err(KeeperError::Held { .. })));
        release(&copy);
        assert!(!is_held(&path));
        take(&path).unwrap();
    }
}
