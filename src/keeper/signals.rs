//! Turns signals into something that `poll` can wait for.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGTERM};
use signal_hook::{flag, low_level};

/// Wakes a poll when a child has changed or someone wants this process to end.
pub(super) struct Signals {
    wake: UnixStream,
    is_asked_to_end: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let (wake, ring) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let is_asked_to_end = Arc::new(AtomicBool::new(false));
        // The flag comes first: whoever is woken by the byte must find it set.
        flag::register(SIGTERM, Arc::clone(&is_asked_to_end))?;
        low_level::pipe::register(SIGTERM, ring.try_clone()?)?;
        low_level::pipe::register(SIGCHLD, ring)?;
        // A hangup means that a terminal went away, and this process belongs to none.
        flag::register(SIGHUP, Arc::new(AtomicBool::new(false)))?;
        Ok(Self { wake, is_asked_to_end })
    }

    /// Forgets the wake-ups so far; to be called before looking for what caused them.
    pub(super) fn clear(&self) {
        let mut bytes = [0; 256];
        while matches!((&self.wake).read(&mut bytes), Ok(count) if count > 0) {}
    }

    pub(super) fn is_asked_to_end(&self) -> bool {
        self.is_asked_to_end.load(Ordering::SeqCst)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
