//! Prompts on their way to agents: when each may be typed, and what became of it.
//!
//! A prompt is typed at most once. That it will be is on record before the first key: after a crash
//! nobody types it again, and where the screen cannot tell what became of it, a person decides.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::journal::Place;
use super::{Effect, Engine, Phase, Seat};
use crate::model::{
    AgentName, AgentState, Condition, Done, Entry, Letter, Moment, Receipt, ReceiptId, Refusal,
    RunId, Stage,
};

/// Prompts that may wait for one agent: more is a runaway script.
const QUEUE_MAX: usize = 64;

/// Ended dispatches that are kept, so that a repeated call finds its receipt.
const ENDED_MAX: usize = 256;

/// A person who has not pressed a key for this long has stopped typing.
const TYPING_PAUSE: Duration = Duration::from_secs(4);

/// How long after a moment that turned out not to be safe the next one is looked for.
const HELD_PAUSE: Duration = Duration::from_secs(2);

/// An agent that took a prompt is seen at work by then, or its turn was too short to be seen.
const TURN_PATIENCE: Duration = Duration::from_secs(10);

/// What is kept of the text once the prompt goes no further.
const SUMMARY_CHARS: usize = 200;

/// How the key begins under which a run is told its first prompt.
const FIRST: &str = "first prompt of ";

/// One prompt on its way to one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    pub id: ReceiptId,
    pub agent: AgentName,
    /// The run that it was typed into.
    pub run: Option<RunId>,
    /// The prompt; its beginning, once it goes no further.
    pub text: String,
    pub tag: Option<String>,
    pub idempotency_key: Option<String>,
    pub is_confirmed: bool,
    pub stage: Stage,
    pub reason: Option<String>,
    /// When it came to this stage.
    pub since: Moment,
}

/// When the next prompt may be typed, as far as this seat goes; nothing of this outlives the hub.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Not before this: a person types, or the last moment was not a safe one.
    not_before: Moment,
    /// A prompt was accepted, and the work on it has not been seen yet.
    turn_expected_until: Option<Moment>,
}

impl Dispatch {
    /// Returns what is known of it.
    pub fn receipt(&self) -> Receipt {
        Receipt {
            receipt: self.id,
            agent: self.agent.clone(),
            state: self.stage,
            reason: self.reason.clone(),
            prompt: self.text.chars().take(SUMMARY_CHARS).collect(),
            since: self.since,
        }
    }
}

impl Engine {
    /// Returns the dispatches in the order in which they were asked for.
    pub fn dispatches(&self) -> impl Iterator<Item = &Dispatch> {
        self.dispatches.values()
    }

    pub(super) fn dispatch(
        &mut self,
        letters: Vec<Letter>,
        idempotency_key: Option<&str>,
        is_confirmed: bool,
        now: Moment,
    ) -> Result<Done, Refusal> {
        let repeated = idempotency_key.map(|key| self.sent_under(key));
        if let Some(receipts) = repeated.filter(|receipts| !receipts.is_empty()) {
            return Ok(Done { receipts, ..Done::default() });
        }
        self.refuse_if_going_down()?;
        for letter in &letters {
            self.refuse_unknown(std::slice::from_ref(&letter.agent))?;
            if letter.text.trim().is_empty() {
                return Err(Refusal::EmptyPrompt);
            }
            let waiting = self.waiting_for(&letter.agent).count();
            if waiting >= QUEUE_MAX {
                return Err(Refusal::QueueFull { agent: letter.agent.clone(), waiting });
            }
        }
        let receipts = letters
            .into_iter()
            .map(|letter| self.enqueue(letter, idempotency_key, is_confirmed, now))
            .collect();
        Ok(Done { receipts, ..Done::default() })
    }

    fn enqueue(
        &mut self,
        letter: Letter,
        idempotency_key: Option<&str>,
        is_confirmed: bool,
        now: Moment,
    ) -> Receipt {
        self.receipts += 1;
        self.touch(Place::Hub);
        let id = ReceiptId(self.receipts);
        let Letter { agent, text, tag } = letter;
        let dispatch = Dispatch {
            id,
            agent: agent.clone(),
            run: None,
            text,
            tag,
            idempotency_key: idempotency_key.map(str::to_owned),
            is_confirmed,
            stage: Stage::Queued,
            reason: None,
            since: now,
        };
        self.dispatches.insert(id, dispatch);
        self.note_stage(id, Stage::Queued, None, now);
        if let Some(reason) = self.objection(&agent, is_confirmed) {
            self.note_stage(id, Stage::Refused, Some(reason), now);
        }
        self.dispatches[&id].receipt()
    }

    /// Queues what an agent is told first; what an earlier run was not told yet counts for this one.
    pub(super) fn enqueue_first(&mut self, letter: Letter, run: RunId, now: Moment) {
        let is_first =
            |one: &Dispatch| one.idempotency_key.as_ref().is_some_and(|key| key.starts_with(FIRST));
        if !self.waiting_for(&letter.agent).any(is_first) {
            let key = format!("{FIRST}{} in run {run}", letter.agent);
            self.enqueue(letter, Some(&key), false, now);
        }
    }

    /// Returns why a prompt cannot even wait for this agent.
    fn objection(&self, agent: &AgentName, is_confirmed: bool) -> Option<String> {
        let seat = &self.seats[agent];
        if seat.is_gone() && seat.next.is_none() {
            return Some("the agent does not run".to_owned());
        }
        match seat.state {
            AgentState::Waiting => Some("a dialog is open: answer it first".to_owned()),
            AgentState::Unknown if !is_confirmed => {
                Some("nothing on its screen says that it waits for a prompt".to_owned())
            }
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited
            | AgentState::Unknown
            | AgentState::Exited => None,
        }
    }

    pub(super) fn withdraw(&mut self, id: ReceiptId, now: Moment) -> Result<Done, Refusal> {
        let unknown = Refusal::UnknownReceipt { receipt: id };
        let state = self.dispatches.get(&id).ok_or(unknown)?.stage;
        if state != Stage::Queued {
            return Err(Refusal::AlreadyTyped { receipt: id, state });
        }
        self.note_stage(id, Stage::Withdrawn, None, now);
        self.note_prompt(id, now);
        let receipts = vec![self.dispatches[&id].receipt()];
        Ok(Done { receipts, ..Done::default() })
    }

    /// Notes what the delivery of a prompt has come to.
    pub(super) fn note_delivery(
        &mut self,
        agent: &AgentName,
        id: ReceiptId,
        stage: Stage,
        reason: Option<String>,
        now: Moment,
    ) {
        let Some(dispatch) = self.dispatches.get(&id).filter(|one| one.agent == *agent) else {
            return;
        };
        // What became of a prompt may be found out after nobody could tell; otherwise an end is one.
        if dispatch.stage.is_final() && dispatch.stage != Stage::Unknown {
            return;
        }
        if stage == Stage::Queued {
            self.hold(agent, now);
        }
        self.note_stage(id, stage, reason, now);
        if stage == Stage::Accepted {
            self.expect_turn(agent, now);
        }
    }

    pub(super) fn hold(&mut self, agent: &AgentName, now: Moment) {
        if let Some(seat) = self.seats.get_mut(agent) {
            seat.readiness.not_before = now + HELD_PAUSE;
        }
    }

    fn expect_turn(&mut self, agent: &AgentName, now: Moment) {
        let has_begun =
            |seat: &Seat| matches!(seat.state, AgentState::Working | AgentState::Waiting);
        if let Some(seat) = self.seats.get_mut(agent).filter(|seat| !has_begun(seat)) {
            seat.readiness.turn_expected_until = Some(now + TURN_PATIENCE);
        }
    }

    /// Notes that a person pressed a key in an agent's pane.
    pub(super) fn note_typing(&mut self, agent: &AgentName, now: Moment) {
        if let Some(seat) = self.seats.get_mut(agent) {
            seat.readiness.not_before = now + TYPING_PAUSE;
        }
    }

    pub(super) fn note_stage(
        &mut self,
        id: ReceiptId,
        stage: Stage,
        reason: Option<String>,
        now: Moment,
    ) {
        let dispatch = self.dispatches.get_mut(&id).expect("only known dispatches come to a stage");
        dispatch.stage = stage;
        dispatch.reason = reason;
        dispatch.since = now;
        if stage.is_final() {
            dispatch.text = dispatch.text.chars().take(SUMMARY_CHARS).collect();
        }
        let words = dispatch.reason.as_deref().unwrap_or(&dispatch.text);
        let words: String = words.chars().take(SUMMARY_CHARS).collect();
        let entry = Entry::new(&format!("dispatch.{stage}"), format!("{id}: {words}"));
        let entry = entry.of(&dispatch.agent);
        self.tell(entry);
        self.touch(Place::Dispatch(id));
        self.forget_old_dispatches();
    }

    fn forget_old_dispatches(&mut self) {
        let ended = self.dispatches.values().filter(|dispatch| dispatch.stage.is_final());
        let excess = ended.clone().count().saturating_sub(ENDED_MAX);
        let old: Vec<_> = ended.take(excess).map(|dispatch| dispatch.id).collect();
        for id in old {
            self.dispatches.remove(&id);
            self.touch(Place::Dispatch(id));
        }
    }

    /// Orders what may be typed now to be typed.
    pub(super) fn deliver_ready(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let ready: Vec<ReceiptId> = self
            .seats
            .values()
            .filter(|seat| !self.is_under_way(&seat.member.name))
            .filter_map(|seat| {
                let next = self.waiting_for(&seat.member.name).next()?;
                seat.is_ready(next.is_confirmed, now).then_some(next.id)
            })
            .collect();
        for id in ready {
            let dispatch = self.dispatches.get_mut(&id).expect("it was just found");
            let agent = dispatch.agent.clone();
            let run = self.seats[&agent].run;
            dispatch.run = Some(run);
            let (text, tag) = (dispatch.text.clone(), dispatch.tag.clone());
            let is_confirmed = dispatch.is_confirmed;
            self.note_stage(id, Stage::Typed, None, now);
            effects.push(Effect::Deliver { agent, run, receipt: id, text, tag, is_confirmed });
        }
    }

    /// Asks the shell to look what became of the prompts that a crash may have cut off.
    pub(super) fn inspect_deliveries(&mut self, agent: &AgentName, effects: &mut Vec<Effect>) {
        let cut_off = self.cut_off.extract_if(.., |id| self.dispatches[id].agent == *agent);
        for id in cut_off {
            let Dispatch { stage, text, run, .. } = &self.dispatches[&id];
            effects.push(Effect::Inspect {
                agent: agent.clone(),
                run: run.unwrap_or_default(),
                receipt: id,
                stage: *stage,
                text: text.clone(),
            });
        }
    }

    /// Gives up on prompts for an agent that has ended; what was not typed may wait for the next run.
    pub(super) fn forsake_dispatches(&mut self, agent: &AgentName, has_next: bool, now: Moment) {
        let open: Vec<_> = self
            .dispatches
            .values()
            .filter(|dispatch| dispatch.agent == *agent && !dispatch.stage.is_final())
            .filter(|dispatch| !has_next || dispatch.stage.is_under_way())
            .map(|dispatch| (dispatch.id, dispatch.stage))
            .collect();
        for (id, stage) in open {
            self.cut_off.remove(&id);
            let end = if stage == Stage::Queued { Stage::Refused } else { Stage::Unknown };
            self.note_stage(id, end, Some("the agent has ended".to_owned()), now);
        }
    }

    /// Returns when a prompt that waits only for time may be typed.
    pub(super) fn delivery_deadline(&self) -> Option<Moment> {
        let waiting = self.seats.values().filter(|seat| {
            let name = &seat.member.name;
            let next = self.waiting_for(name).next();
            next.is_some_and(|next| seat.may_take(next.is_confirmed)) && !self.is_under_way(name)
        });
        let waiting = waiting.map(|seat| seat.readiness.earliest());
        // Who waits for an agent is answered when a turn that was expected has not come.
        let watched = self.watches.iter().filter_map(|watch| self.expected_of(&watch.condition));
        waiting.chain(watched).min()
    }

    /// Gives up on turns that were too short to be seen.
    pub(super) fn stop_expecting(&mut self, now: Moment) {
        for seat in self.seats.values_mut() {
            let until = &mut seat.readiness.turn_expected_until;
            *until = until.filter(|until| now < *until);
        }
    }

    fn expected_of(&self, condition: &Condition) -> Option<Moment> {
        let Condition::Agent { agent, .. } = condition else { return None };
        self.seats.get(agent)?.readiness.turn_expected_until
    }

    fn waiting_for<'a>(&'a self, agent: &'a AgentName) -> impl Iterator<Item = &'a Dispatch> {
        let is_waiting = move |one: &&Dispatch| one.agent == *agent && one.stage == Stage::Queued;
        self.dispatches.values().filter(is_waiting)
    }

    fn is_under_way(&self, agent: &AgentName) -> bool {
        self.dispatches.values().any(|one| one.agent == *agent && one.stage.is_under_way())
    }

    /// Says whether a prompt is on its way to an agent.
    pub(super) fn has_open_dispatch(&self, agent: &AgentName) -> bool {
        self.dispatches.values().any(|one| one.agent == *agent && !one.stage.is_final())
    }

    fn sent_under(&self, key: &str) -> Vec<Receipt> {
        let is_same = |one: &&Dispatch| one.idempotency_key.as_deref() == Some(key);
        self.dispatches.values().filter(is_same).map(Dispatch::receipt).collect()
    }
}

impl Readiness {
    fn earliest(&self) -> Moment {
        self.turn_expected_until.unwrap_or_default().max(self.not_before)
    }

    /// Says whether a prompt was accepted and the work on it has yet to be seen.
    pub(super) fn expects_turn(&self, now: Moment) -> bool {
        self.turn_expected_until.is_some_and(|until| now < until)
    }

    /// Notes what the agent is seen to do: the turn that was expected may have begun. A prompt that
    /// was taken ends what the last turn had come to, and for a moment nothing may be recognised.
    pub(super) fn note_turn(&mut self, state: AgentState) {
        match state {
            AgentState::Working
            | AgentState::Waiting
            | AgentState::Done
            | AgentState::Blocked
            | AgentState::Error
            | AgentState::Limited
            | AgentState::Exited => self.turn_expected_until = None,
            AgentState::Idle | AgentState::Starting | AgentState::Unknown => {}
        }
    }
}

impl Seat {
    /// Says whether the agent shows that it would take a prompt.
    fn accepts_prompts(&self) -> bool {
        match self.state {
            AgentState::Idle | AgentState::Done | AgentState::Blocked | AgentState::Error => true,
            AgentState::Starting
            | AgentState::Working
            | AgentState::Waiting
            | AgentState::Limited
            | AgentState::Unknown
            | AgentState::Exited => false,
        }
    }

    /// Returns when it may get its next prompt, as far as time goes.
    pub(super) fn earliest_prompt(&self) -> Moment {
        self.readiness.earliest()
    }

    fn may_take(&self, is_confirmed: bool) -> bool {
        let is_blind = is_confirmed && self.state == AgentState::Unknown;
        self.phase == Phase::Running && (self.accepts_prompts() || is_blind)
    }

    fn is_ready(&self, is_confirmed: bool, now: Moment) -> bool {
        self.may_take(is_confirmed) && self.readiness.earliest() <= now
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Bench, name, seen};
    use super::super::{Event, RunEvent};
    use super::*;
    use crate::model::{Command, Source};

    fn send(bench: &mut Bench, key: Option<&str>) -> (Receipt, Vec<Effect>) {
        let letter = Letter { agent: name("one"), text: "do it".to_owned(), tag: None };
        let idempotency_key = key.map(str::to_owned);
        let (letters, is_confirmed) = (vec![letter], false);
        let effects = bench.ask(Command::Dispatch { letters, idempotency_key, is_confirmed });
        let answered = effects.iter().find_map(|effect| {
            let Effect::Answer { outcome: Ok(done), .. } = effect else { return None };
            done.receipts.first().cloned()
        });
        (answered.unwrap(), effects)
    }

    fn did(bench: &mut Bench, state: AgentState) -> Vec<Effect> {
        bench.tell("one", RunEvent::Did { state, source: Source::Screen })
    }

    fn came_to(bench: &mut Bench, receipt: ReceiptId, stage: Stage) -> Vec<Effect> {
        bench.tell("one", RunEvent::Delivery { receipt, stage, reason: None })
    }

    fn delivered(effects: &[Effect]) -> Option<ReceiptId> {
        effects.iter().find_map(|effect| {
            if let Effect::Deliver { receipt, .. } = effect { Some(*receipt) } else { None }
        })
    }

    fn stage(bench: &Bench, id: ReceiptId) -> Stage {
        bench.engine.dispatches[&id].stage
    }

    fn idle() -> Bench {
        let mut bench = Bench::with_running(&["one"]);
        let _ = did(&mut bench, AgentState::Idle);
        bench
    }

    #[test]
    fn the_next_prompt_waits_until_the_turn_of_the_last_one_is_seen() {
        let mut bench = idle();
        let _ = did(&mut bench, AgentState::Done);
        let first = send(&mut bench, None).0.receipt;
        let second = send(&mut bench, None).0.receipt;
        let _ = came_to(&mut bench, first, Stage::Accepted);
        // What the last turn had come to is over, and the screen is drawn anew: no turn was seen yet.
        for state in [AgentState::Idle, AgentState::Unknown, AgentState::Idle] {
            assert_eq!(delivered(&did(&mut bench, state)), None, "{state}");
        }
        assert_eq!(delivered(&did(&mut bench, AgentState::Working)), None);
        assert_eq!(delivered(&did(&mut bench, AgentState::Idle)), Some(second));
    }

    #[test]
    fn a_prompt_is_on_record_as_typed_before_it_is_typed() {
        let mut bench = idle();
        let (receipt, effects) = send(&mut bench, None);
        assert_eq!(receipt.state, Stage::Queued);
        let Some(Effect::Save(changes)) = effects.first() else { panic!("{effects:?}") };
        let row = changes.rows.iter().find(|row| row.table == "dispatch").unwrap();
        assert_eq!(row.value.as_ref().unwrap()["stage"], "typed");
        assert_eq!(delivered(&effects), Some(receipt.receipt));
    }

    #[test]
    fn a_prompt_waits_while_the_agent_works_and_for_the_one_before_it() {
        let mut bench = idle();
        let _ = did(&mut bench, AgentState::Working);
        let (first, effects) = send(&mut bench, None);
        assert_eq!(delivered(&effects), None);
        let (second, _) = send(&mut bench, None);
        assert_eq!(delivered(&did(&mut bench, AgentState::Idle)), Some(first.receipt));
        let effects = came_to(&mut bench, first.receipt, Stage::Accepted);
        assert_eq!(delivered(&effects), None, "its turn has not been seen yet");
        let _ = did(&mut bench, AgentState::Working);
        assert_eq!(delivered(&did(&mut bench, AgentState::Done)), Some(second.receipt));
    }

    #[test]
    fn a_turn_too_short_to_be_seen_holds_up_the_next_prompt_only_for_a_while() {
        let mut bench = idle();
        let (first, _) = send(&mut bench, None);
        let (second, _) = send(&mut bench, None);
        let _ = came_to(&mut bench, first.receipt, Stage::Accepted);
        bench.now = bench.engine.next_deadline().unwrap();
        let effects = bench.engine.handle(Event::DeadlineReached, bench.now);
        assert_eq!(delivered(&effects), Some(second.receipt));
    }

    #[test]
    fn nothing_is_typed_while_a_person_types() {
        let mut bench = idle();
        let _ = bench.tell("one", RunEvent::PersonTyped);
        let (receipt, effects) = send(&mut bench, None);
        assert_eq!(delivered(&effects), None);
        bench.now = bench.engine.next_deadline().unwrap();
        let effects = bench.engine.handle(Event::DeadlineReached, bench.now);
        assert_eq!(delivered(&effects), Some(receipt.receipt));
    }

    #[test]
    fn a_prompt_is_refused_at_a_dialog_and_before_an_unknown_screen() {
        for state in [AgentState::Waiting, AgentState::Unknown] {
            let mut bench = idle();
            let _ = did(&mut bench, state);
            let (receipt, effects) = send(&mut bench, None);
            assert_eq!((receipt.state, delivered(&effects)), (Stage::Refused, None), "{state}");
            assert!(receipt.reason.is_some());
        }
    }

    #[test]
    fn the_same_key_sends_once() {
        let mut bench = idle();
        let (first, _) = send(&mut bench, Some("k"));
        let (again, effects) = send(&mut bench, Some("k"));
        assert_eq!(first.receipt, again.receipt);
        assert_eq!((again.state, delivered(&effects)), (Stage::Typed, None));
    }

    #[test]
    fn after_a_crash_in_the_middle_nothing_is_typed_again() {
        let mut bench = idle();
        let (receipt, _) = send(&mut bench, None);
        let (engine, _) = Engine::recover(bench.engine.record(), bench.now);
        bench.engine = engine;
        let effects = bench.tell("one", seen());
        let looks = |effect: &Effect| matches!(effect, Effect::Inspect { .. });
        assert!(effects.iter().any(looks), "{effects:?}");
        let effects = did(&mut bench, AgentState::Idle);
        assert_eq!(delivered(&effects), None);
        let _ = came_to(&mut bench, receipt.receipt, Stage::Unknown);
        assert_eq!(stage(&bench, receipt.receipt), Stage::Unknown);
        let _ = did(&mut bench, AgentState::Working);
        assert_eq!(delivered(&did(&mut bench, AgentState::Idle)), None);
    }

    #[test]
    fn a_moment_that_was_not_safe_is_followed_by_another() {
        let mut bench = idle();
        let (receipt, _) = send(&mut bench, None);
        let effects = came_to(&mut bench, receipt.receipt, Stage::Queued);
        assert_eq!(delivered(&effects), None, "not at once");
        bench.now = bench.engine.next_deadline().unwrap();
        let effects = bench.engine.handle(Event::DeadlineReached, bench.now);
        assert_eq!(delivered(&effects), Some(receipt.receipt));
    }

    #[test]
    fn only_what_was_not_typed_can_be_taken_back() {
        let mut bench = idle();
        let (typed, _) = send(&mut bench, None);
        let (waiting, _) = send(&mut bench, None);
        let withdraw = |receipt| Command::Withdraw { receipt };
        let _ = bench.ask(withdraw(waiting.receipt));
        assert_eq!(stage(&bench, waiting.receipt), Stage::Withdrawn);
        let effects = bench.ask(withdraw(typed.receipt));
        let refused = |effect: &Effect| matches!(effect, Effect::Answer { outcome: Err(_), .. });
        assert!(effects.iter().any(refused));
    }

    #[test]
    fn what_waits_for_an_agent_that_ends_is_refused_and_what_was_typed_is_unknown() {
        let mut bench = idle();
        let (typed, _) = send(&mut bench, None);
        let (waiting, _) = send(&mut bench, None);
        let _ = bench.tell("one", RunEvent::KeeperLost);
        let _ = bench.tell("one", RunEvent::Swept { survivors: Vec::new() });
        assert_eq!(stage(&bench, typed.receipt), Stage::Unknown);
        assert_eq!(stage(&bench, waiting.receipt), Stage::Refused);
    }
}
