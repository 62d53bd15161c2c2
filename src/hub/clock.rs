//! The only place of the hub that reads the clock.
//!
//! Moments are those of the wall clock, so that they can be compared with what git, quotas and people
//! say. That clock is set now and then, and a machine sleeps. The hub's own time never runs backwards:
//! where the wall clock is set back, it goes on a little slower until the two meet. Where it leaps
//! forward, what nobody lived through is told apart, so that nobody is taken for idle over it.

use std::cell::Cell;
use std::time::Duration;

use jiff::tz::TimeZone;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::model::Moment;

/// By this part of its pace time goes slower while it is ahead of the wall clock: no wait becomes much
/// longer, and an hour is made up for in eight.
const SLOWER_BY: u32 = 8;

/// What is skipped at once and is less than this may be a correction of the wall clock.
const SKIP_LEAST: Duration = Duration::from_secs(2);

/// The timers that wake the hub stand still while the machine sleeps. So it looks at the clock at least
/// this often while anything is due.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Tells the time; it never runs backwards, whatever happens to the machine's own clock.
#[derive(Debug)]
pub(super) struct Clock {
    started: Reading,
    course: Cell<Course>,
    zone: TimeZone,
}

/// What the clocks of the machine say at once.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// Since the epoch, as someone has set it.
    wall: Duration,
    /// Since the machine came up.
    up: Duration,
    /// The same without the time that it slept.
    awake: Duration,
}

/// How the hub's time went so far.
#[derive(Clone, Copy, Debug)]
struct Course {
    last: Reading,
    /// Since the epoch.
    now: Duration,
    /// What went by and nobody lived through.
    skipped: Duration,
}

impl Reading {
    fn take() -> Self {
        Self {
            wall: read(ClockId::Realtime),
            up: read(WITH_SLEEP),
            awake: read(ClockId::Monotonic),
        }
    }
}

#[cfg(target_os = "linux")]
const WITH_SLEEP: ClockId = ClockId::Boottime;
/// Elsewhere this clock goes on while the machine sleeps.
#[cfg(not(target_os = "linux"))]
const WITH_SLEEP: ClockId = ClockId::Monotonic;

fn read(clock: ClockId) -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    // A clock that was set to a time before the epoch counts as one at its beginning.
    let seconds = Duration::from_secs(tv_sec.try_into().unwrap_or_default());
    seconds + Duration::from_nanos(tv_nsec.try_into().unwrap_or_default())
}

impl Course {
    fn begin(reading: Reading) -> Self {
        Self { last: reading, now: reading.wall, skipped: Duration::ZERO }
    }

    fn go_on(&mut self, reading: Reading) {
        let went_by = reading.up.saturating_sub(self.last.up);
        let lived = reading.awake.saturating_sub(self.last.awake);
        let now = reading.wall.max(self.now + went_by.saturating_sub(went_by / SLOWER_BY));
        let skipped = now.saturating_sub(self.now).saturating_sub(lived);
        if skipped >= SKIP_LEAST {
            self.skipped += skipped;
        }
        (self.last, self.now) = (reading, now);
    }
}

impl Clock {
    pub(super) fn start() -> Self {
        let started = Reading::take();
        Self { started, course: Cell::new(Course::begin(started)), zone: TimeZone::system() }
    }

    pub(super) fn now(&self) -> Moment {
        let mut course = self.course.get();
        course.go_on(Reading::take());
        self.course.set(course);
        Moment(0) + course.now
    }

    /// Returns how much of the time since this was last asked nobody lived through: the machine slept, or
    /// its clock was set forward.
    pub(super) fn take_skipped(&self) -> Option<Duration> {
        let mut course = self.course.get();
        let skipped = std::mem::take(&mut course.skipped);
        self.course.set(course);
        (!skipped.is_zero()).then_some(skipped)
    }

    /// Returns the zone in which this machine tells times of day.
    pub(super) fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns how long this clock has run, without the time that the machine slept.
    pub(super) fn age(&self) -> Duration {
        read(ClockId::Monotonic).saturating_sub(self.started.awake)
    }

    /// Returns when this clock was started.
    pub(super) fn origin(&self) -> Moment {
        Moment(0) + self.started.wall
    }

    /// Returns for how long to sleep until a moment; zero if it has passed. It may come later than that.
    pub(super) fn pause_until(&self, moment: Moment) -> Duration {
        moment.since(self.now()).min(LOOK_EVERY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const MINUTE: Duration = Duration::from_mins(1);

    /// A machine whose clocks are read every now and then, as a busy hub does.
    struct Machine {
        reading: Reading,
        course: Course,
    }

    impl Machine {
        fn new() -> Self {
            let reading = Reading { wall: 1000 * HOUR, up: 10 * HOUR, awake: 9 * HOUR };
            Self { reading, course: Course::begin(reading) }
        }

        fn live(&mut self, time: Duration) {
            let step = Duration::from_millis(100);
            for _ in 0..time.as_millis() / step.as_millis() {
                self.reading.wall += step;
                self.reading.up += step;
                self.reading.awake += step;
                let before = self.course.now;
                self.course.go_on(self.reading);
                assert!(self.course.now > before, "time goes on");
            }
        }

        fn ahead(&self) -> Duration {
            self.course.now.saturating_sub(self.reading.wall)
        }
    }

    #[test]
    fn time_goes_on_while_the_machine_sleeps_and_nobody_lived_through_that() {
        let mut machine = Machine::new();
        machine.live(MINUTE);
        machine.reading.wall += 8 * HOUR;
        machine.reading.up += 8 * HOUR;
        machine.live(MINUTE);
        assert_eq!(machine.course.now, machine.reading.wall);
        assert_eq!(machine.course.skipped, 8 * HOUR);
    }

    #[test]
    fn a_clock_that_is_set_forward_is_believed_and_nobody_lived_through_that() {
        let mut machine = Machine::new();
        machine.reading.wall += 3 * HOUR;
        machine.live(MINUTE);
        assert_eq!(machine.course.now, machine.reading.wall);
        assert_eq!(machine.course.skipped, 3 * HOUR);
    }

    #[test]
    fn a_clock_that_is_set_back_is_waited_for_while_time_goes_on() {
        let mut machine = Machine::new();
        machine.reading.wall -= HOUR;
        machine.live(HOUR);
        let slower = HOUR.saturating_sub(HOUR / SLOWER_BY);
        assert!(machine.ahead() <= slower && machine.ahead() + MINUTE > slower);
        machine.live(7 * HOUR + MINUTE);
        assert_eq!(machine.ahead(), Duration::ZERO);
        assert_eq!(machine.course.skipped, Duration::ZERO);
    }

    #[test]
    fn a_hub_that_had_nothing_to_do_or_no_turn_has_lived_through_it() {
        let mut machine = Machine::new();
        for clock in
            [&mut machine.reading.wall, &mut machine.reading.up, &mut machine.reading.awake]
        {
            *clock += 5 * HOUR;
        }
        machine.course.go_on(machine.reading);
        assert_eq!((machine.ahead(), machine.course.skipped), (Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn what_is_due_is_looked_at_soon_after_the_machine_has_slept() {
        let clock = Clock::start();
        let now = clock.now();
        assert_eq!(clock.pause_until(now + 8 * HOUR), LOOK_EVERY);
        assert_eq!(clock.pause_until(now), Duration::ZERO);
    }
}
