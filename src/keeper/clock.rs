//! Reads the clock for the keeper, here and nowhere else.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "this is the one place where the room reads time")]
pub(super) fn now() -> Instant {
    Instant::now()
}
