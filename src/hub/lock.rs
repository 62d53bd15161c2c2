//! The kernel's file lock that lets one hub serve a project.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::HubError;

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
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(HubError::Busy),
            Err(error) => return Err(fail(error.into())),
        }
        // For people who look; nothing relies on it.
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
        assert!(Lock::take(&path).is_ok());
    }
}
