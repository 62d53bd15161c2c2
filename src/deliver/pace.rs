//! When a pane last wrote something, and when to look at it again.

use crate::model::Moment;
use crate::screen::Screen;

/// Remembers the last change of a screen, and the last look at it.
#[derive(Debug)]
pub(super) struct Pace {
    generation: u64,
    pub(super) output_at: Moment,
    looked_at: Moment,
    /// Until when the screen shows half of a frame.
    held_until: Option<Moment>,
}

impl Pace {
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
