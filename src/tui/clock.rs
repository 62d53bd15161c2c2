//! The only place in this room that reads the clock.
#![expect(clippy::disallowed_methods, reason = "somebody has to")]

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::model::Moment;

/// Returns a point in time that only goes forward.
pub(super) fn instant() -> Instant {
    Instant::now()
}

/// Returns the time of day, for comparison with what the hub says.
pub(super) fn moment() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
