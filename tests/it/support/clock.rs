//! Waiting for conditions, never for a time.

use std::thread;
use std::time::{Duration, Instant};

/// Far beyond what any step takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How long is waited between two looks.
const PAUSE_MIN: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// Reads the clock.
#[expect(clippy::disallowed_methods, reason = "a deadline of a test is real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits until the condition holds; `what` names it if it never does.
pub(crate) fn wait_for(what: &str, condition: impl FnMut() -> bool) {
    wait_within(PATIENCE, what, condition);
}

/// Waits for something that may take longer than most.
pub(crate) fn wait_within(patience: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let begun = now();
    while !condition() {
        let waited = begun.elapsed();
        assert!(waited < patience, "never saw: {what}");
        // What takes long is looked at less often: several tests wait at once, and looking costs.
        thread::park_timeout((waited / 32).clamp(PAUSE_MIN, PAUSE_MAX));
    }
}
