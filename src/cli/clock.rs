//! The only place in this room that reads the clock.
#![expect(clippy::disallowed_methods, reason = "somebody has to")]

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::Moment;

/// Returns the time of day, for comparison with the record's.
pub(super) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
