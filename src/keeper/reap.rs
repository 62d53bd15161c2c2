//! Collects children that have ended.

use rustix::io::Errno;
use rustix::process::{WaitOptions, WaitStatus, wait};

use crate::model::Exit;

/// What one look at the children of this process gave.
#[derive(Default)]
pub(super) struct Reaped {
    /// How the process that was asked about ended, if it did.
    pub(super) exit: Option<Exit>,
    /// There is no child left. Every descendant has a living child of ours above it, since orphans
    /// are handed to us, so this is the proof that the tree is gone.
    pub(super) is_childless: bool,
}

/// Takes in all children that have ended, without waiting for one.
pub(super) fn reap(main: Option<u32>) -> Reaped {
    let mut reaped = Reaped::default();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                let is_main = u32::try_from(pid.as_raw_pid()).ok() == main;
                reaped.exit = if is_main { Some(exit(status)) } else { reaped.exit };
            }
            Err(Errno::INTR) => {}
            Ok(None) => return reaped,
            Err(_) => {
                reaped.is_childless = true;
                return reaped;
            }
        }
    }
}

pub(super) fn exit(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}
