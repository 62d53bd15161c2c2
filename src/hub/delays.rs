//! How long things wait inside the hub; it says so in its log when it ends, at the level `debug`.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::time::Duration;

use super::clock::Clock;

/// Waits are told apart to this much.
const STEP: Duration = Duration::from_micros(250);
/// Longer waits than so many steps, 100 ms, count alike; the longest is kept as it was.
const STEPS: usize = 400;

/// Where something can wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum WaitPlace {
    /// A request, from its arrival until it is dealt with.
    Request,
    /// An order, until it is written to its keeper.
    Order,
    /// Output of a pane that someone types into, from its arrival until its turn.
    Output,
    /// A frame or an answer, until it is written to its client.
    Frame,
}

impl WaitPlace {
    const ALL: [(Self, &str); 4] = [
        (Self::Request, "requests"),
        (Self::Order, "orders"),
        (Self::Output, "typed-at output"),
        (Self::Frame, "frames"),
    ];
}

/// The waits so far, place by place.
#[derive(Debug)]
pub(super) struct Delays {
    clock: Clock,
    places: [Waits; WaitPlace::ALL.len()],
}

impl Delays {
    pub(super) fn new() -> Self {
        Self { clock: Clock::start(), places: Default::default() }
    }

    /// Returns the time by which waits are measured.
    pub(super) fn now(&self) -> Duration {
        self.clock.age()
    }

    /// Notes that something has waited since then.
    pub(super) fn note(&self, place: WaitPlace, since: Duration) {
        self.places[place as usize].note(self.now().saturating_sub(since));
    }
}

impl fmt::Display for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, name) in WaitPlace::ALL {
            let waits = &self.places[place as usize];
            let milliseconds = |wait: Duration| wait.as_secs_f64() * 1000.0;
            let [half, most] = [50, 95].map(|percent| milliseconds(waits.within(percent)));
            let longest = milliseconds(waits.longest.get());
            write!(f, "{name} {half:.2}/{most:.2}/{longest:.2} ms; ")?;
        }
        Ok(())
    }
}

/// How often something waited how long.
#[derive(Debug, Default)]
struct Waits {
    counts: RefCell<Vec<u32>>,
    longest: Cell<Duration>,
}

impl Waits {
    fn note(&self, wait: Duration) {
        let mut counts = self.counts.borrow_mut();
        counts.resize(STEPS, 0);
        let step = usize::try_from(wait.as_nanos() / STEP.as_nanos()).unwrap_or(STEPS);
        let count = &mut counts[step.min(STEPS - 1)];
        *count = count.saturating_add(1);
        self.longest.set(self.longest.get().max(wait));
    }

    /// Returns the wait that so many of a hundred did not exceed.
    fn within(&self, percent: u64) -> Duration {
        let counts = self.counts.borrow();
        let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let mut seen = 0;
        for (step, count) in (1..).zip(counts.iter()) {
            seen += u64::from(*count);
            if seen * 100 >= all * percent {
                return (STEP * step).min(self.longest.get());
            }
        }
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_by_how_many_they_are() {
        let waits = Waits::default();
        assert_eq!(waits.within(95), Duration::ZERO);
        (1..=100).for_each(|number| waits.note(Duration::from_millis(number)));
        assert_eq!(waits.within(50), Duration::from_micros(50_250));
        assert_eq!(waits.within(95), Duration::from_micros(95_250));
        waits.note(Duration::from_secs(9));
        assert_eq!(waits.longest.get(), Duration::from_secs(9));
    }

    #[test]
    fn each_place_has_its_own_name() {
        let delays = Delays::new();
        delays.note(WaitPlace::Frame, Duration::ZERO);
        assert!(delays.to_string().starts_with("requests 0.00/0.00/0.00 ms; orders"));
    }
}
