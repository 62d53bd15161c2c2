//! Prompts that wait for one moment or another: why, for how long, and when a person hears of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::prompts::prompt::Dispatch;
use crate::engine::{Engine, Seat};
use crate::model::{AgentName, AgentState, Manner, Moment, ReceiptId, Stage};

/// How long after a moment that turned out not to be safe the next one is looked for, at first.
const HELD_PAUSE: Duration = Duration::from_secs(2);

/// How often that pause doubles.
const HELD_DOUBLINGS_MAX: u32 = 4;

/// Whatever keeps a prompt from an agent that seems to take one is over by then, or a person is told.
const HELD_PATIENCE: Duration = Duration::from_secs(30);

/// And is given up by then: a person who sends it again sees what stands in its way.
const HELD_MAX: Duration = Duration::from_mins(10);

/// A turn may be long; of a prompt that waits longer than this a person hears.
const QUEUE_PATIENCE: Duration = Duration::from_mins(15);

/// What a prompt in the queue waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wait {
    /// When it was asked for.
    pub since: Moment,
    /// When it was to be typed first, and was not.
    pub held_since: Option<Moment>,
    pub tries: u32,
    /// Why it was not typed at the last try.
    pub reason: Option<String>,
    /// It was given up because no try came to anything.
    pub is_given_up: bool,
}

impl Engine {
    /// Returns why a prompt cannot even wait for this agent.
    pub(in crate::engine) fn objection(&self, agent: &AgentName, manner: Manner) -> Option<String> {
        let seat = &self.seats[agent];
        if seat.is_gone() && seat.next.is_none() {
            return Some("the agent does not run".to_owned());
        }
        if seat.state == AgentState::Unknown && !manner.is_confirmed {
            return Some("nothing on its screen says that it waits for a prompt".to_owned());
        }
        manner.is_now_or_never.then(|| self.hindrance(seat, manner)).flatten()
    }

    /// Returns why a prompt that was just queued is not typed now.
    fn hindrance(&self, seat: &Seat, manner: Manner) -> Option<String> {
        if self.open_of(&seat.member.name).nth(1).is_some() {
            return Some("another prompt waits before it".to_owned());
        }
        (!seat.may_take(manner.is_confirmed)).then(|| held_by(seat.state).to_owned())
    }

    /// Notes that a prompt could not be typed though the agent seemed to take one. It is tried again, ever
    /// more seldom, and says at last that it is given up.
    pub(in crate::engine) fn note_try(
        &mut self,
        agent: &AgentName,
        id: ReceiptId,
        reason: Option<&str>,
        now: Moment,
    ) -> bool {
        let dispatch = self.dispatches.get_mut(&id).expect("it was just found");
        if dispatch.manner.is_now_or_never {
            self.note_stage(id, Stage::Refused, reason.map(str::to_owned), now);
            self.note_prompt(id, now);
            return true;
        }
        let wait = &mut dispatch.wait;
        let since = *wait.held_since.get_or_insert(now);
        wait.tries += 1;
        wait.reason = reason.map(str::to_owned);
        if now.since(since) < HELD_MAX {
            let doublings = (wait.tries - 1).min(HELD_DOUBLINGS_MAX);
            self.hold_for(agent, HELD_PAUSE * (1 << doublings), now);
            return false;
        }
        wait.is_given_up = true;
        let (tries, why) = (wait.tries, reason.unwrap_or("no safe moment came"));
        let words = format!("it was given up after {tries} tries to type it: {why}");
        self.note_stage(id, Stage::Refused, Some(words), now);
        self.note_prompt(id, now);
        true
    }

    /// Returns why a prompt has waited for too long, if it has.
    pub(in crate::engine) fn overdue(&self, dispatch: &Dispatch, now: Moment) -> Option<String> {
        let wait = &dispatch.wait;
        if dispatch.stage != Stage::Queued || self.overdue_at(dispatch).is_none_or(|at| now < at) {
            return None;
        }
        let seat = self.seats.get(&dispatch.agent)?;
        let held = wait.reason.clone().filter(|_| seat.may_take(dispatch.manner.is_confirmed));
        Some(held.unwrap_or_else(|| held_by(seat.state).to_owned()))
    }

    /// Returns when a person is to hear that a prompt still waits. At a dialog there is a word of its own.
    fn overdue_at(&self, dispatch: &Dispatch) -> Option<Moment> {
        let seat = self.seats.get(&dispatch.agent).filter(|seat| seat.is_live())?;
        if dispatch.stage != Stage::Queued || seat.state == AgentState::Waiting {
            return None;
        }
        let by_age = dispatch.wait.since + QUEUE_PATIENCE;
        let held = dispatch.wait.held_since.map(|since| since + HELD_PATIENCE);
        Some(held.map_or(by_age, |held| held.min(by_age)))
    }

    /// Returns when the next prompt will have waited for too long.
    pub(in crate::engine) fn overdue_deadline(&self, now: Moment) -> Option<Moment> {
        let open = self.open_dispatches.iter().map(|id| &self.dispatches[id]);
        open.filter_map(|one| self.overdue_at(one)).filter(|at| *at > now).min()
    }

    /// Returns the next prompt for an agent. While a limit holds it up, only one that a person
    /// sends though they know of it.
    pub(in crate::engine) fn next_for(&self, seat: &Seat) -> Option<&Dispatch> {
        let is_held = seat.state == AgentState::Limited && !seat.readiness.is_reset();
        let is_past = seat.limit_is_past(self.handled_at);
        self.open_of(&seat.member.name)
            .filter(|one| one.stage == Stage::Queued)
            .find(|one| !is_held || one.manner.is_confirmed || is_past && one.is_asked())
    }

    /// Says whether a prompt may be typed now, as far as what its agent does goes.
    pub(in crate::engine) fn may_be_typed(&self, seat: &Seat, one: &Dispatch) -> bool {
        let is_past = one.is_asked() && seat.limit_is_past(self.handled_at);
        seat.may_take(one.manner.is_confirmed || is_past && seat.state == AgentState::Limited)
    }
}

/// Returns what keeps a prompt from an agent that does this.
fn held_by(state: AgentState) -> &'static str {
    match state {
        AgentState::Waiting => "a dialog is open: answer it first",
        AgentState::Working => "the agent is at work",
        AgentState::Starting => "the agent is still starting",
        AgentState::Limited => "a limit holds the agent up",
        AgentState::Unknown => "nothing on its screen says that it waits for a prompt",
        AgentState::Exited => "the agent does not run",
        AgentState::Idle | AgentState::Done | AgentState::Blocked | AgentState::Error => {
            "no safe moment has come"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::Bench;
    use crate::engine::{Event, RunEvent};
    use crate::model::{AttentionKind, Command, Letter};

    /// Hands a prompt over, and returns its receipt.
    fn send(bench: &mut Bench, manner: Manner) -> ReceiptId {
        let agent = "one".parse().unwrap();
        let letters = vec![Letter { agent, text: "do it".to_owned(), tag: None }];
        let _ = bench.ask(Command::Dispatch { letters, idempotency_key: None, manner });
        bench.engine.dispatches().last().unwrap().id
    }

    fn seen(bench: &Bench, id: ReceiptId) -> (Stage, Option<String>) {
        let one = bench.engine.dispatches().find(|one| one.id == id).unwrap();
        (one.stage, one.reason.clone())
    }

    fn told(bench: &Bench) -> Vec<String> {
        let receipts = bench.engine.attention().into_iter();
        let receipts = receipts.filter(|item| item.kind == AttentionKind::Receipt);
        receipts.map(|item| item.text.clone()).collect()
    }

    /// Lets each try to type it come to nothing, until `until`.
    fn hold(bench: &mut Bench, id: ReceiptId, until: Moment) {
        while bench.now < until {
            if seen(bench, id).0 == Stage::Typed {
                let reason = Some("its prompt is not in sight".to_owned());
                let stage = Stage::Queued;
                let _ = bench.tell("one", RunEvent::Delivery { receipt: id, stage, reason });
            }
            bench.now = bench.now + Duration::from_secs(1);
            bench.handle(Event::DeadlineReached);
        }
    }

    #[test]
    fn a_prompt_that_is_never_typed_is_told_of_soon_and_given_up_at_last() {
        let mut bench = Bench::with_idle(&["one"]);
        let id = send(&mut bench, Manner::default());
        let begun = bench.now;
        hold(&mut bench, id, begun + HELD_PATIENCE / 2);
        assert!(told(&bench).is_empty(), "a moment later it may work");
        hold(&mut bench, id, begun + HELD_PATIENCE + Duration::from_secs(2));
        assert_eq!(told(&bench), [format!("prompt {id} still waits: its prompt is not in sight")]);
        hold(&mut bench, id, begun + HELD_MAX + Duration::from_mins(1));
        let (stage, reason) = seen(&bench, id);
        assert_eq!(stage, Stage::Refused);
        assert!(reason.unwrap().contains("given up after"), "it says so");
        assert!(told(&bench)[0].contains("was not typed"), "{:?}", told(&bench));
        let tries = bench.engine.dispatches().last().unwrap().wait.tries;
        assert!(tries < 40, "it was tried {tries} times");
    }

    #[test]
    fn a_prompt_behind_a_long_turn_is_told_of_and_still_typed() {
        let mut bench = Bench::with_idle(&["one"]);
        bench.did("one", AgentState::Working);
        let id = send(&mut bench, Manner::default());
        bench.now = bench.now + QUEUE_PATIENCE;
        bench.handle(Event::DeadlineReached);
        assert_eq!(told(&bench), [format!("prompt {id} still waits: the agent is at work")]);
        bench.did("one", AgentState::Idle);
        assert_eq!(seen(&bench, id).0, Stage::Typed);
        assert!(told(&bench).is_empty());
    }

    #[test]
    fn a_prompt_at_a_dialog_waits_until_that_is_gone() {
        let mut bench = Bench::with_idle(&["one"]);
        bench.did("one", AgentState::Waiting);
        let id = send(&mut bench, Manner::default());
        assert_eq!(seen(&bench, id).0, Stage::Queued);
        bench.did("one", AgentState::Working);
        bench.did("one", AgentState::Idle);
        assert_eq!(seen(&bench, id).0, Stage::Typed);
    }

    #[test]
    fn one_that_must_not_wait_is_refused_with_the_reason() {
        let now = Manner { is_now_or_never: true, ..Manner::default() };
        for (state, why) in [
            (AgentState::Waiting, "a dialog is open"),
            (AgentState::Working, "at work"),
            (AgentState::Limited, "a limit"),
        ] {
            let mut bench = Bench::with_idle(&["one"]);
            bench.did("one", state);
            let id = send(&mut bench, now);
            let (stage, reason) = seen(&bench, id);
            assert_eq!(stage, Stage::Refused);
            assert!(reason.unwrap().contains(why), "{state}");
        }
        let mut bench = Bench::with_idle(&["one"]);
        let id = send(&mut bench, now);
        assert_eq!(seen(&bench, id).0, Stage::Typed, "nothing is in its way");
        let second = send(&mut bench, now);
        assert_eq!(seen(&bench, second).0, Stage::Refused);
        let (stage, reason) = (Stage::Queued, Some("someone typed".to_owned()));
        let _ = bench.tell("one", RunEvent::Delivery { receipt: id, stage, reason });
        assert_eq!(seen(&bench, id).0, Stage::Refused, "it is not tried again");
    }
}
