//! Remembers when a pane last wrote something, and tells what it shows from what half of a frame shows.

use std::time::Duration;

use crate::model::Moment;
use crate::screen::Screen;

/// Remembers the last change of a screen, and the last look at it.
#[derive(Debug)]
pub(super) struct OutputClock {
    generation: u64,
    pub(super) output_at: Moment,
    looked_at: Moment,
    /// Until when the screen shows half of a frame.
    held_until: Option<Moment>,
}

impl OutputClock {
    pub(super) fn new(screen: &Screen, now: Moment) -> Self {
        Self {
            generation: screen.generation(),
            output_at: now,
            looked_at: Moment::default(),
            held_until: None,
        }
    }

    /// Notes what was written, and says whether the screen can be read now.
    pub(super) fn note(&mut self, screen: &Screen, now: Moment) -> bool {
        if screen.generation() != self.generation {
            self.generation = screen.generation();
            self.output_at = now;
        }
        self.looked_at = now;
        self.held_until = screen.held_until().filter(|until| now < *until);
        self.held_until.is_none()
    }

    pub(super) fn looked_at(&self) -> Moment {
        self.looked_at
    }

    /// Returns the first of these moments that the last look did not see; at a half frame, its end.
    pub(super) fn next_of(&self, deadlines: &[Moment]) -> Option<Moment> {
        let is_ahead = |at: &Moment| *at > self.looked_at;
        self.held_until.or_else(|| deadlines.iter().copied().filter(is_ahead).min())
    }
}

/// A program that has written nothing for this long has drawn its frame.
const QUIET: Duration = Duration::from_millis(120);
/// What one that never rests has shown all the time for so long is no half of a frame.
const LASTING: Duration = Duration::from_millis(500);
/// What is missing for so long is gone: a busy machine may leave half of a frame on the screen for
/// a while, and whoever waits loses nothing.
const MISSING: Duration = Duration::from_secs(1);

/// What is read from the screen, look by look.
#[derive(Debug)]
pub(super) struct SteadyReading<T> {
    reading: Option<T>,
    since: Moment,
}

impl<T: PartialEq> SteadyReading<T> {
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
    pub(super) fn is_drawn(&self, pace: &OutputClock, now: Moment) -> bool {
        now.since(pace.output_at) >= QUIET || now.since(self.since) >= LASTING
    }

    /// Says whether what it misses has been missing for long enough.
    pub(super) fn is_missed(&self, now: Moment) -> bool {
        now.since(self.since) >= MISSING
    }

    /// Returns the moments at which one of these may change though nothing is written.
    pub(super) fn deadlines(&self, pace: &OutputClock) -> [Moment; 3] {
        [pace.output_at + QUIET, self.since + LASTING, self.since + MISSING]
    }
}
