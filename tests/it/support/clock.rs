//! Waiting for conditions, never for a time.

use std::thread;
use std::time::{Duration, Instant};

/// Far beyond what any step takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

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
    let until = now() + patience;
    while !condition() {
        assert!(now() < until, "never saw: {what}");
        thread::park_timeout(Duration::from_millis(2));
    }
}
