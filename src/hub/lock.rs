//! The kernel's file lock that lets one hub serve a project.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::HubError;

/// Someone who only looks whether the lock is held has it for an instant.
const TRIES_MAX: u32 = 4;
const TRY_PAUSE: Duration = Duration::from_millis(5);

/// Holds the lock for as long as it lives.
///
/// The file is never removed: a lock on a removed file excludes nobody.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take(path: &Path) -> Result<Self, HubError> {
        let fail = |source| HubError::Lock { path: path.to_owned(), source };
        let open = File::options().create(true).truncate(false).write(true).open(path);
        let mut file = open.map_err(fail)?;
        let mut tries = TRIES_MAX;
        while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            tries -= 1;
            match error {
                Errno::WOULDBLOCK if tries > 0 => thread::sleep(TRY_PAUSE),
                Errno::WOULDBLOCK => return Err(HubError::Busy),
                error => return Err(fail(error.into())),
            }
        }
        // For people who look, and for whoever waits for the next hub.
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(fail)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hub.lock");
        let first = Lock::take(&path).unwrap();
        assert!(matches!(Lock::take(&path), Err(HubError::Busy)));
        drop(first);
        // A child that another test forks holds our files for a moment, until it is another program.
        assert!((0..200).any(|_| Lock::take(&path).is_ok()), "nobody holds it any more");
    }
}
