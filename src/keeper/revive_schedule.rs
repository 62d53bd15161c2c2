//! Decides when to ask for the hub again.

use std::time::{Duration, Instant};

/// A hub that has just started this agent connects within this time.
const FIRST_CONTACT: Duration = Duration::from_secs(5);
/// A hub needs a moment to come up before another try makes sense.
pub(super) const WAIT_FIRST: Duration = Duration::from_millis(500);
/// A hub that does not come up in minutes is tried seldom, but for ever.
pub(super) const WAIT_MAX: Duration = Duration::from_mins(1);

/// The next moment at which to call, if no hub comes until then.
pub(super) struct ReviveSchedule {
    delay: Duration,
    next: Option<Instant>,
    wait: Duration,
    is_wanted: bool,
}

impl ReviveSchedule {
    /// Expects the hub that started this keeper.
    pub(super) fn new(delay: Duration, now: Instant) -> Self {
        Self { delay, next: Some(now + FIRST_CONTACT), wait: WAIT_FIRST, is_wanted: true }
    }

    pub(super) fn hub_came(&mut self) {
        self.next = None;
    }

    pub(super) fn hub_left(&mut self, now: Instant) {
        self.wait = WAIT_FIRST;
        self.next = self.is_wanted.then(|| now + self.delay);
    }

    /// Gives up for good: the agent was stopped on purpose, or there is nobody to call.
    pub(super) fn give_up(&mut self) {
        self.is_wanted = false;
        self.next = None;
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Says whether to call now, and plans the next call.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.next.is_some_and(|next| next <= now);
        if is_due {
            self.next = Some(now + self.wait);
            self.wait = (self.wait * 2).min(WAIT_MAX);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock;
    use super::*;

    #[test]
    fn calls_back_off_until_a_hub_comes() {
        let start = clock::now();
        let mut revival = ReviveSchedule::new(Duration::from_millis(70), start);
        assert!(!revival.is_due(start), "the first hub is given time to connect");
        revival.hub_came();
        assert_eq!(revival.deadline(), None);
        revival.hub_left(start);

        let mut waits = Vec::new();
        let mut now = start;
        for _ in 0..10 {
            let next = revival.deadline().unwrap();
            waits.push(next.duration_since(now).as_millis());
            now = next;
            assert!(revival.is_due(now));
        }
        assert_eq!(waits, [70, 500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
        revival.hub_came();
        assert_eq!(revival.deadline(), None);
    }

    #[test]
    fn after_a_stop_nobody_is_called() {
        let start = clock::now();
        let mut revival = ReviveSchedule::new(Duration::ZERO, start);
        revival.give_up();
        revival.hub_left(start);
        assert_eq!(revival.deadline(), None);
        assert!(!revival.is_due(start + Duration::from_hours(1)));
    }
}
