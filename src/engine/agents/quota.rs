//! Agents that a quota holds up: when it ends, and who goes on by itself then.

use std::time::Duration;

use crate::engine::prompts::prompt_texts;
use crate::engine::{Engine, Phase, Seat};
use crate::model::{AgentName, AgentState, Moment, Reset, Task, TaskState};

/// Screens tell resets to the minute, and other clocks are not ours.
const SLACK: Duration = Duration::from_mins(1);

/// A limit of which nobody knows when it ends holds up nothing that was asked for after this long.
const PATIENCE: Duration = Duration::from_hours(1);

impl Engine {
    /// Sets whether an agent goes on by itself once its limit has ended.
    pub fn set_resume_after_reset(&mut self, resumes: bool) {
        self.resumes_after_reset = resumes;
    }

    /// Notes when the limit of an agent ends. The same words mean what they meant when they came.
    pub(in crate::engine) fn note_reset(&mut self, agent: &AgentName, reset: Reset) {
        let Some(seat) = self.seats.get_mut(agent) else { return };
        if seat.reset.as_ref().is_none_or(|known| known.text != reset.text) {
            seat.reset = Some(reset);
            self.touch_seat(agent);
        }
    }

    /// Lets those go on whose limit has ended, if a setting says so.
    pub(in crate::engine) fn leave_limits(&mut self, now: Moment) {
        if !self.resumes_after_reset {
            return;
        }
        let is_over = |seat: &&Seat| seat.limit_ends_at().is_some_and(|at| at <= now);
        let over = self.seats.values().filter(is_over).filter(|seat| !seat.readiness.is_reset());
        let over: Vec<AgentName> = over.map(|seat| seat.member.name.clone()).collect();
        for agent in over {
            let seat = self.seats.get_mut(&agent).expect("it was just found");
            seat.readiness.note_reset();
            let run = seat.run;
            let running = self.task_of(&agent).filter(|task| task.state == TaskState::Running);
            let id = running.filter(|task| task.open().is_some_and(|open| open.run == run));
            if let Some(id) = id.map(|task| task.id).filter(|_| !self.has_open_dispatch(&agent)) {
                self.send_on(id, prompt_texts::LIMIT_OVER, now);
            }
        }
    }

    /// Returns when the next limit ends.
    pub(in crate::engine) fn quota_deadline(&self) -> Option<Moment> {
        let ends = self.seats.values().filter_map(Seat::limit_ends_at);
        ends.filter(|at| *at > self.handled_at).min()
    }

    /// Returns what a person should know of an agent that a quota holds up, and what to type:
    /// nothing, if no work waits for it or it will go on by itself.
    pub(in crate::engine) fn held_by_quota(
        &self,
        seat: &Seat,
        now: Moment,
    ) -> Option<(String, String)> {
        let agent = &seat.member.name;
        let is_limited = seat.state == AgentState::Limited && seat.phase == Phase::Running;
        if !is_limited {
            return None;
        }
        let task = self.task_of(agent);
        let could = |task: &Task, other: &Seat| {
            other.phase == Phase::Running
                && other.state != AgentState::Limited
                && self.may_try(task, other)
        };
        let only_here = |task: &&Task| {
            task.state == TaskState::Ready
                && self.may_try(task, seat)
                && !self.seats.values().any(|other| could(task, other))
        };
        let has_work = task.is_some()
            || self.has_open_dispatch(agent)
            || self.tasks.values().any(|task| only_here(&task));
        if !has_work {
            return None;
        }
        let ends = seat.limit_ends_at();
        if self.resumes_after_reset && ends.is_some() {
            return None;
        }
        let go_on = format!("wheelhouse dispatch {agent} 'Go on' --anyway");
        Some(match (&seat.reset, ends) {
            (Some(reset), Some(at)) if at > now => (
                format!("it has reached a limit, which resets {}", reset.text),
                format!("Let it go on then with `{go_on}`, or give its task to another"),
            ),
            (Some(reset), Some(_)) => (
                format!("it had reached a limit, which was to reset {}", reset.text),
                format!("Let it go on with `{go_on}`"),
            ),
            (_, None) | (None, _) => (
                "it has reached a limit, and does not say when that ends".to_owned(),
                format!("Let it go on with `{go_on}` when it may, or give its task to another"),
            ),
        })
    }
}

impl Seat {
    /// Returns when a limit that holds it up is past, as far as anybody can tell.
    pub(in crate::engine) fn limit_past_at(&self) -> Option<Moment> {
        let is_limited = self.state == AgentState::Limited;
        is_limited.then(|| self.limit_ends_at().unwrap_or(self.since + PATIENCE))
    }

    /// Says whether a limit holds it up that is past: what was asked for may be typed then.
    pub(in crate::engine) fn limit_is_past(&self, now: Moment) -> bool {
        self.limit_past_at().is_some_and(|at| at <= now)
    }

    /// Returns when its limit has surely ended, if it has one and its screen told.
    fn limit_ends_at(&self) -> Option<Moment> {
        let reset = self.reset.as_ref().filter(|_| self.state == AgentState::Limited)?;
        reset.at.map(|at| at + SLACK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RunEvent;
    use crate::engine::fixture::{Bench, Work};

    /// An agent that works on a task reaches a limit that ends in an hour.
    fn limited(resumes: bool) -> Bench {
        let mut bench = Bench::with_idle(&["one"]);
        bench.engine.set_resume_after_reset(resumes);
        let _ = bench.add(vec![Work::new("a")]);
        bench.begin("one");
        reach_limit(&mut bench);
        bench
    }

    fn reach_limit(bench: &mut Bench) {
        let at = Some(bench.now + Duration::from_hours(1));
        let reset = Reset { text: "5pm".to_owned(), at };
        let _ = bench.tell("one", RunEvent::Resets(reset));
        bench.did("one", AgentState::Limited);
    }

    #[test]
    fn a_person_is_asked_and_nothing_goes_on_by_itself() {
        let mut bench = limited(false);
        let text = |bench: &Bench| bench.engine.attention()[0].text.clone();
        assert!(bench.waits_for("limit", 1) && text(&bench).contains("resets 5pm"));
        bench.send("one", "not before its end");
        assert_eq!(bench.prompts("one").len(), 1, "a prompt waits for the limit to end");
        bench.now = bench.now + Duration::from_mins(62);
        bench.handle(crate::engine::Event::DeadlineReached);
        assert!(text(&bench).contains("was to reset 5pm"), "{}", text(&bench));
        assert_eq!(bench.prompts("one").len(), 2, "what was asked for waits no longer");
    }

    #[test]
    fn a_limit_without_an_end_holds_up_a_prompt_for_an_hour_and_is_told_of() {
        let mut bench = Bench::with_idle(&["one"]);
        bench.did("one", AgentState::Limited);
        assert!(!bench.waits_for("limit", 0), "nothing waits for it");
        bench.send("one", "go on");
        assert!(bench.waits_for("limit", 0));
        bench.now = bench.now + Duration::from_mins(59);
        bench.handle(crate::engine::Event::DeadlineReached);
        assert!(bench.prompts("one").is_empty());
        bench.now = bench.now + Duration::from_mins(2);
        bench.handle(crate::engine::Event::DeadlineReached);
        assert_eq!(bench.prompts("one"), ["go on"]);
    }

    #[test]
    fn with_the_setting_it_goes_on_once_the_limit_has_ended_and_not_before() {
        let mut bench = limited(true);
        assert!(!bench.waits_for("limit", 0), "nobody need look");
        bench.now = bench.now + Duration::from_mins(59);
        bench.handle(crate::engine::Event::DeadlineReached);
        assert_eq!(bench.prompts("one").len(), 1);
        bench.pass_time();
        assert_eq!(bench.prompts("one").len(), 2);
        assert!(bench.prompts("one")[1].contains("limit"), "{:?}", bench.prompts("one"));
        bench.begin("one");
        bench.did("one", AgentState::Idle);
        assert_eq!(bench.prompts("one").len(), 2, "it is told once");
    }

    #[test]
    fn a_limit_that_is_reached_again_waits_for_its_own_end() {
        let mut bench = limited(true);
        bench.pass_time();
        bench.begin("one");
        reach_limit(&mut bench);
        assert_eq!(bench.prompts("one").len(), 2);
        bench.pass_time();
        assert_eq!(bench.prompts("one").len(), 3);
    }

    #[test]
    fn the_reset_is_still_known_after_a_crash() {
        let mut bench = limited(false);
        bench.crash();
        let _ = bench.tell("one", crate::engine::fixture::seen());
        let later = Some(bench.now + Duration::from_hours(25));
        let reset = Reset { text: "5pm".to_owned(), at: later };
        let _ = bench.tell("one", RunEvent::Resets(reset));
        let seat = bench.engine.seats().next().unwrap();
        assert_eq!(seat.reset.as_ref().unwrap().at, Some(Moment(0) + Duration::from_hours(1)));
    }

    #[test]
    fn without_a_time_on_the_screen_a_person_decides() {
        let mut bench = Bench::with_idle(&["one"]);
        bench.engine.set_resume_after_reset(true);
        bench.did("one", AgentState::Limited);
        assert!(!bench.waits_for("limit", 0), "no work waits for it");
        let _ = bench.add(vec![Work::new("a")]);
        assert!(bench.waits_for("limit", 0));
    }
}
