//! Who should be moving and is not.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::teamwork::ownership::is_at_work;
use crate::engine::{Engine, Seat};
use crate::model::{AgentName, AgentState, Entry, Moment, Source};
use crate::protocol::{Report, ReportKind};

/// How long an agent may stand still before it counts as stuck, unless a setting says otherwise.
pub(in crate::engine) const PATIENCE: Duration = Duration::from_mins(3);

/// The same failure this often is a loop.
const FAILURES_MAX: u32 = 2;

/// How an agent gets on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pace {
    /// When it last got on: a report, another state, or other words on its screen. Too restless for
    /// the record.
    #[serde(skip)]
    pub moved_at: Moment,
    /// Why it counts as stuck.
    pub stuck: Option<String>,
    /// The last step that it reported, such as `3/7`.
    pub progress: Option<String>,
    /// What it last reported about its task or its build, as it stood on the screen.
    pub last_report: Option<String>,
    failure: String,
    failures: u32,
}

impl Engine {
    /// Sets how long an agent may stand still.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    pub(in crate::engine) fn note_state(
        &mut self,
        agent: &AgentName,
        state: AgentState,
        source: Source,
        now: Moment,
    ) {
        let Some(seat) = self.seats.get_mut(agent).filter(|seat| !seat.is_gone()) else { return };
        // That a process is gone is told by its keeper alone.
        if state == AgentState::Exited {
            return;
        }
        if (seat.state, seat.source) == (state, source) {
            return;
        }
        seat.source = source;
        seat.readiness.note_source(source);
        let is_turn_over = is_at_work(seat.state) && !is_at_work(state);
        if seat.state != state {
            seat.state = state;
            seat.is_to_stop &= state == AgentState::Working;
            seat.since = now;
            if state != AgentState::Limited && state != AgentState::Unknown {
                seat.reset = None;
            }
            seat.pace.get_on(now);
            seat.readiness.note_turn(state);
            self.tell(Entry::new("agent.state", state.to_string()).of(agent));
            self.await_leave(agent, now);
        }
        self.touch_seat(agent);
        if is_turn_over {
            self.look_after(agent);
        } else if !is_at_work(state) {
            // A turn may be over before anybody has seen it.
            self.want_comparison(agent);
        }
    }

    pub(in crate::engine) fn note_report(
        &mut self,
        agent: &AgentName,
        report: &Report,
        now: Moment,
    ) {
        let Some(seat) = self.seats.get_mut(agent) else { return };
        seat.reports += 1;
        seat.pace.get_on(now);
        seat.pace.last_report = Some(report.raw.clone());
        match report.kind {
            ReportKind::Progress { .. } => seat.pace.progress = report.kind.value(),
            ReportKind::Build { passed } => seat.pace.note_build(passed, &report.text),
            ReportKind::Status(_)
            | ReportKind::Need
            | ReportKind::Contract
            | ReportKind::Artifact => {}
        }
        self.touch_seat(agent);
    }

    pub(in crate::engine) fn note_move(&mut self, agent: &AgentName, now: Moment) {
        let Some(seat) = self.seats.get_mut(agent) else { return };
        let was_stuck = seat.pace.stuck.is_some();
        seat.pace.get_on(now);
        if was_stuck {
            self.touch_seat(agent);
        }
    }

    /// Takes note that time went by in which nobody could do anything: the machine slept. Nobody stood
    /// still for that.
    pub fn skip_time(&mut self, skipped: Duration, now: Moment) {
        for seat in self.seats.values_mut() {
            seat.pace.moved_at = (seat.moved_at() + skipped).min(now);
        }
    }

    pub(in crate::engine) fn stuck_deadline(&self) -> Option<Moment> {
        let moving = self.seats.values().filter(|seat| seat.should_move());
        moving
            .filter(|seat| seat.pace.stuck.is_none())
            .map(|seat| seat.moved_at() + self.patience)
            .min()
    }

    pub(in crate::engine) fn mark_stuck(&mut self, now: Moment) {
        let mut marked = Vec::new();
        for seat in self.seats.values_mut().filter(|seat| seat.should_move()) {
            if seat.pace.stuck.is_none() && seat.moved_at() + self.patience <= now {
                seat.pace.stuck = Some(seat.standstill().to_owned());
                marked.push(seat.member.name.clone());
            }
        }
        for agent in marked {
            self.touch_seat(&agent);
        }
    }
}

impl Seat {
    /// Says whether someone would expect this agent to get on.
    fn should_move(&self) -> bool {
        match self.state {
            AgentState::Starting | AgentState::Working | AgentState::Waiting => self.is_live(),
            AgentState::Idle
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited
            | AgentState::Unknown
            | AgentState::Exited => false,
        }
    }

    pub(in crate::engine) fn moved_at(&self) -> Moment {
        self.pace.moved_at.max(self.since)
    }

    fn standstill(&self) -> &'static str {
        match self.state {
            AgentState::Starting => "has not come up",
            AgentState::Waiting => "waits for an answer",
            AgentState::Idle
            | AgentState::Working
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited
            | AgentState::Unknown
            | AgentState::Exited => "no progress",
        }
    }
}

impl Pace {
    fn get_on(&mut self, now: Moment) {
        self.moved_at = now;
        if self.failures < FAILURES_MAX {
            self.stuck = None;
        }
    }

    /// A hub that comes back has not seen it stand still, whatever the last one saw.
    pub(in crate::engine) fn take_up(&mut self, now: Moment) {
        self.moved_at = now;
    }

    /// Says whether the same failure came again and again.
    pub(in crate::engine) fn is_looping(&self) -> bool {
        self.failures >= FAILURES_MAX
    }

    /// Another task has another build.
    pub(in crate::engine) fn forget_failures(&mut self) {
        (self.failures, self.failure, self.stuck) = (0, String::new(), None);
    }

    /// Counts failures of a build that say the same, whatever numbers are in them.
    fn note_build(&mut self, passed: bool, text: &str) {
        let failure: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
        if passed {
            self.forget_failures();
        } else if failure == self.failure {
            self.failures += 1;
        } else {
            (self.failures, self.failure, self.stuck) = (1, failure, None);
        }
        if self.failures >= FAILURES_MAX {
            self.stuck = Some(format!("the same build failure {} times", self.failures));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, name};
    use crate::engine::{Event, RunEvent};

    fn did(state: AgentState) -> RunEvent {
        RunEvent::Did { state, source: Source::Screen }
    }

    fn build(passed: bool, text: &str) -> RunEvent {
        let (text, raw) = (text.to_owned(), format!("BUILD: {text}"));
        RunEvent::Reported(Report { kind: ReportKind::Build { passed }, text, tag: None, raw })
    }

    fn stuck(bench: &Bench) -> Option<&str> {
        bench.engine.seat(&name("one")).unwrap().pace.stuck.as_deref()
    }

    #[test]
    fn an_agent_at_work_that_stands_still_is_stuck_until_it_moves() {
        let mut bench = Bench::with_running(&["one"]);
        let _ = bench.tell("one", did(AgentState::Working));
        let deadline = bench.engine.next_deadline().unwrap();
        assert_eq!(deadline, bench.now + PATIENCE);
        bench.now = deadline;
        let _ = bench.engine.handle(Event::DeadlineReached, bench.now);
        assert_eq!(stuck(&bench), Some("no progress"));
        let _ = bench.tell("one", RunEvent::Moved);
        assert_eq!(stuck(&bench), None);
    }

    #[test]
    fn nobody_is_stuck_for_time_in_which_the_machine_slept() {
        let mut bench = Bench::with_running(&["one"]);
        let _ = bench.tell("one", did(AgentState::Working));
        let stood = PATIENCE / 3;
        let slept = Duration::from_hours(8);
        bench.now = bench.now + stood + slept;
        bench.engine.skip_time(slept, bench.now);
        let _ = bench.engine.handle(Event::DeadlineReached, bench.now);
        assert_eq!(stuck(&bench), None);
        bench.now = bench.now + PATIENCE.saturating_sub(stood);
        assert_eq!(bench.engine.next_deadline(), Some(bench.now));
        let _ = bench.engine.handle(Event::DeadlineReached, bench.now);
        assert_eq!(stuck(&bench), Some("no progress"), "it has stood still for long enough itself");
    }

    #[test]
    fn a_hub_that_comes_back_gives_everyone_time_and_keeps_who_is_stuck() {
        let mut bench = Bench::with_running(&["one"]);
        let _ = bench.tell("one", did(AgentState::Working));
        bench.now = bench.now + PATIENCE;
        bench.crash();
        let _ = bench.tell("one", crate::engine::fixture::seen());
        assert_eq!(bench.engine.next_deadline(), Some(bench.now + PATIENCE));
        bench.now = bench.now + PATIENCE;
        let _ = bench.engine.handle(Event::DeadlineReached, bench.now);
        let items = |bench: &Bench| -> Vec<_> {
            bench.engine.attention().into_iter().map(|item| item.id).collect()
        };
        let before = items(&bench);
        assert_eq!((stuck(&bench), before.len()), (Some("no progress"), 1));
        bench.crash();
        let _ = bench.tell("one", crate::engine::fixture::seen());
        assert_eq!((stuck(&bench), items(&bench)), (Some("no progress"), before));
    }

    #[test]
    fn an_idle_agent_is_never_stuck() {
        let mut bench = Bench::with_running(&["one"]);
        for state in [AgentState::Idle, AgentState::Done, AgentState::Unknown, AgentState::Blocked]
        {
            let _ = bench.tell("one", did(state));
            assert_eq!(bench.engine.next_deadline(), None, "{state}");
        }
    }

    #[test]
    fn the_same_failure_twice_is_a_loop_and_another_is_not() {
        let mut bench = Bench::with_running(&["one"]);
        let _ = bench.tell("one", build(false, "error at line 12"));
        let _ = bench.tell("one", build(false, "another error"));
        assert_eq!(stuck(&bench), None);
        let _ = bench.tell("one", build(false, "another error"));
        assert_eq!(stuck(&bench), Some("the same build failure 2 times"));
        let _ = bench.tell("one", RunEvent::Moved);
        assert!(stuck(&bench).is_some(), "moving in circles is not getting on");
        let _ = bench.tell("one", build(true, ""));
        assert_eq!(stuck(&bench), None);
    }
}
