//! Kills what is left of an agent run by the marks in its environment, as a last resort.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{clock, process};
use crate::model::ProcessInfo;

/// A killed process is gone within milliseconds, unless the kernel cannot let go of it.
const SWEEP_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Kills every process of our user whose environment has all of these `NAME=value` entries, until
/// none is left, and returns those that could not be killed.
///
/// This is for a run whose keeper and guard were both killed in the same instant. A process that
/// scrubbed its environment is not found by it.
pub fn sweep(marks: &[String]) -> Vec<ProcessInfo> {
    if marks.is_empty() {
        return Vec::new();
    }
    let until = clock::now() + SWEEP_MAX;
    loop {
        let found = process::marked(marks);
        if found.is_empty() || clock::now() >= until {
            return found;
        }
        for process in &found {
            process::send(process.id, Signal::KILL);
        }
        thread::sleep(LOOK_EVERY);
    }
}
