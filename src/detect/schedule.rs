//! When to look: once a pane that changed is quiet, or a while after the change.

use std::time::Duration;

use crate::model::Moment;
use crate::screen::Screen;

/// A frame is drawn by then.
const QUIET: Duration = Duration::from_millis(50);
/// A pane that never rests is looked at this often.
const PATIENCE: Duration = Duration::from_millis(250);

/// A spinner rests between its frames; to look at each of them would only tell the same.
const PAUSE: Duration = Duration::from_millis(250);

/// Remembers what has not been looked at yet.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    generation: u64,
    /// The first and the last change since the last look.
    changed: Option<(Moment, Moment)>,
    looked_at: Option<Moment>,
}

impl Schedule {
    /// Notes whether the screen, or what its program says, has changed.
    pub(super) fn note(&mut self, screen: &Screen, has_signals: bool, now: Moment) {
        if screen.generation() == self.generation && !has_signals {
            return;
        }
        self.generation = screen.generation();
        let first = self.changed.map_or(now, |(first, _)| first);
        self.changed = Some((first, now));
    }

    /// Asks for a look though nothing has changed.
    pub(super) fn wake(&mut self, now: Moment) {
        self.changed.get_or_insert((now, now));
    }

    pub(super) fn due(&self) -> Option<Moment> {
        let (first, last) = self.changed?;
        let due = (last + QUIET).min(first + PATIENCE);
        Some(self.looked_at.map_or(due, |looked| due.max(looked + PAUSE)))
    }

    /// Says whether it is time to look, and if so takes the change as seen.
    pub(super) fn take(&mut self, screen: &Screen, now: Moment) -> bool {
        let is_due = self.due().is_some_and(|due| due <= now);
        // An unfinished frame shows half of the old and half of the new.
        let is_half_drawn = screen.is_held(now);
        if is_due && is_half_drawn {
            self.changed = self.changed.map(|_| (now, now));
        }
        let is_time = is_due && !is_half_drawn;
        if is_time {
            self.changed = None;
            self.looked_at = Some(now);
        }
        is_time
    }
}
