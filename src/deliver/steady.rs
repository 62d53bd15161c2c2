//! Tells what a screen shows from what half of a frame shows.

use std::time::Duration;

use crate::model::Moment;

use super::pace::Pace;

/// A program that has written nothing for this long has drawn its frame.
const QUIET: Duration = Duration::from_millis(120);
/// What one that never rests has shown all the time for so long is no half of a frame.
const LASTING: Duration = Duration::from_millis(500);
/// What is missing for so long is gone: a busy machine may leave half of a frame on the screen for
/// a while, and whoever waits loses nothing.
const MISSING: Duration = Duration::from_secs(1);

/// What is read from the screen, look by look.
#[derive(Debug)]
pub(super) struct Steady<T> {
    reading: Option<T>,
    since: Moment,
}

impl<T: PartialEq> Steady<T> {
    pub(super) fn new(now: Moment) -> Self {
        Self { reading: None, since: now }
    }

    /// Notes what is read now.
    pub(super) fn note(&mut self, reading: T, now: Moment) {
        if self.reading.as_ref() != Some(&reading) {
            self.reading = Some(reading);
            self.since = now;
        }
    }

    /// Says whether a key may rely on it.
    pub(super) fn is_drawn(&self, pace: &Pace, now: Moment) -> bool {
        now.since(pace.output_at) >= QUIET || now.since(self.since) >= LASTING
    }

    /// Says whether what it misses has been missing for long enough.
    pub(super) fn is_missed(&self, now: Moment) -> bool {
        now.since(self.since) >= MISSING
    }

    /// Returns the moments at which one of these may change though nothing is written.
    pub(super) fn deadlines(&self, pace: &Pace) -> [Moment; 3] {
        [pace.output_at + QUIET, self.since + LASTING, self.since + MISSING]
    }
}
