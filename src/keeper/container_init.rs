//! Runs as the first process of a container and waits until it is told to go.

use std::io;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::reap::reap;
use super::signals::Signals;

/// Waits until it is asked to end, and takes in every process that nobody else waits for.
///
/// The kernel hands a container's orphans to its first process, and gives it no signal that it does
/// not ask for: one that knows of neither is left with dead processes, and is only killed after the
/// engine has waited for it in vain.
pub fn hold_container() -> io::Result<()> {
    let signals = Signals::new()?;
    while !signals.is_asked_to_end() {
        match poll(&mut [PollFd::new(&signals, PollFlags::IN)], None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        signals.clear();
        reap(None);
    }
    Ok(())
}
