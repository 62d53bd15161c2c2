//! The only place of the hub that reads the clock.
#![expect(clippy::disallowed_methods, reason = "this file is the clock")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;

use crate::model::Moment;

/// Tells the time; it never runs backwards, whatever happens to the machine's own clock.
#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    started_at: Moment,
    zone: TimeZone,
}

impl Clock {
    pub(super) fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started_at = Moment(0) + since_epoch;
        Self { started: Instant::now(), started_at, zone: TimeZone::system() }
    }

    pub(super) fn now(&self) -> Moment {
        self.started_at + self.started.elapsed()
    }

    /// Returns the zone in which this machine tells times of day.
    pub(super) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns how long this clock has run.
    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns when this clock was started.
    pub(super) fn origin(&self) -> Moment {
        self.started_at
    }

    /// Returns how long it is until a moment; zero if it has passed.
    pub(super) fn until(&self, moment: Moment) -> Duration {
        moment.since(self.now())
    }
}
