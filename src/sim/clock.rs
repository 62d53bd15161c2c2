//! The one place of the scripted agent that reads the clock.

use std::time::Instant;

use crate::model::Moment;

/// Counts from the moment that it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this file is where the clock is read")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn now(self) -> Moment {
        Moment::default() + self.0.elapsed()
    }
}
