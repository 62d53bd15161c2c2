//! Ends a process tree: asks, waits, then kills until nothing is left.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::process;

/// After its own process has ended an agent's helpers get this long to follow.
pub(super) const EXIT_GRACE: Duration = Duration::from_millis(500);

/// What the kernel has not ended after this long is reported as a survivor.
const KILL_MAX: Duration = Duration::from_secs(10);
/// A child that ends wakes us at once; this is for what is born between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Survivors are tried for ever, but not at the price of a busy processor.
const LOOK_AT_SURVIVORS_EVERY: Duration = Duration::from_secs(1);

/// A tree on its way out.
pub(super) struct Ending {
    /// Someone asked for it, rather than the agent's process having ended by itself.
    pub(super) is_stop: bool,
    kill_from: Instant,
    next_look: Instant,
}

impl Ending {
    /// Asks every process to end, and wakes those that are stopped so that they hear it.
    pub(super) fn begin(is_stop: bool, grace: Duration, now: Instant) -> Self {
        process::signal_tree(Signal::HUP);
        process::signal_tree(Signal::TERM);
        process::signal_tree(Signal::CONT);
        Self { is_stop, kill_from: now + grace, next_look: now + grace }
    }

    /// Turns the end of an agent into a stop, or a stop into a quicker one.
    pub(super) fn hasten(&mut self, grace: Duration, now: Instant) {
        self.is_stop = true;
        self.kill_from = self.kill_from.min(now + grace);
        self.next_look = self.next_look.min(now + grace);
    }

    pub(super) fn deadline(&self) -> Instant {
        self.next_look
    }

    /// Kills once the grace is over. A child's end may come before the next look, so this is worth
    /// a try at every turn.
    pub(super) fn step(&mut self, now: Instant) {
        if now < self.kill_from {
            return;
        }
        process::kill_tree();
        let pause = if self.has_survivors(now) { LOOK_AT_SURVIVORS_EVERY } else { LOOK_EVERY };
        self.next_look = now + pause;
    }

    /// Says whether what still lives can be called a survivor.
    pub(super) fn has_survivors(&self, now: Instant) -> bool {
        now >= self.kill_from + KILL_MAX
    }
}
