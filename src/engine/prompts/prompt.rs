//! Prompts on their way to agents: when each may be typed, and what became of it.
//!
//! A prompt is typed at most once. That it will be is on record before the first key: after a crash
//! nobody types it again, and where the screen cannot tell what became of it, a person decides.

use serde::{Deserialize, Serialize};

use crate::engine::journal::Place;
use crate::engine::prompts::queue::Wait;
use crate::engine::{Effect, Engine, Seat};
use crate::model::{
    AgentName, Condition, Done, Entry, Letter, Manner, Moment, NeedId, Receipt, ReceiptId, Refusal,
    RunId, Stage,
};

/// Prompts that may wait for one agent: more is a runaway script.
const QUEUE_MAX: usize = 64;

/// What is kept of the text once the prompt goes no further.
const SUMMARY_CHARS: usize = 200;

/// How the key begins under which a run is told its first prompt.
const FIRST: &str = "first prompt of ";

/// Whose words a prompt is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The hub's own, or those of another agent that it passes on.
    #[default]
    Hub,
    /// Those of whoever asked for it to be sent.
    Asked,
    /// The hub's own: what the agent needed is there.
    Met(NeedId),
}

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
    #[serde(flatten)]
    pub manner: Manner,
    /// It is ordered to be typed, and no key of it was pressed yet.
    #[serde(default)]
    pub is_untouched: bool,
    #[serde(default)]
    pub origin: Origin,
    pub stage: Stage,
    pub reason: Option<String>,
    /// When it came to this stage.
    pub since: Moment,
    /// How long it has been in the queue, and what came of each try to type it.
    #[serde(default)]
    pub wait: Wait,
}

impl Dispatch {
    /// Says whether it is what a run is told first.
    pub(in crate::engine) fn is_first(&self) -> bool {
        self.idempotency_key.as_ref().is_some_and(|key| key.starts_with(FIRST))
    }

    /// Says whether someone asked for it to be sent.
    pub(in crate::engine) fn is_asked(&self) -> bool {
        self.origin == Origin::Asked
    }

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

    /// Says whether there ever was a prompt of this number.
    pub fn was_sent(&self, id: ReceiptId) -> bool {
        (1..=self.receipts).contains(&id.0)
    }

    pub(in crate::engine) fn dispatch(
        &mut self,
        letters: Vec<Letter>,
        idempotency_key: Option<&str>,
        manner: Manner,
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
            .map(|letter| {
                let receipt = self.enqueue(letter, idempotency_key, manner, now);
                let asked = self.dispatches.get_mut(&receipt.receipt);
                asked.expect("it was just queued").origin = Origin::Asked;
                receipt
            })
            .collect();
        Ok(Done { receipts, ..Done::default() })
    }

    fn enqueue(
        &mut self,
        letter: Letter,
        idempotency_key: Option<&str>,
        manner: Manner,
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
            manner,
            is_untouched: false,
            origin: Origin::Hub,
            stage: Stage::Queued,
            reason: None,
            since: now,
            wait: Wait { since: now, ..Wait::default() },
        };
        self.insert_dispatch(dispatch);
        self.note_stage(id, Stage::Queued, None, now);
        if let Some(reason) = self.objection(&agent, manner) {
            self.note_stage(id, Stage::Refused, Some(reason), now);
        }
        self.dispatches[&id].receipt()
    }

    /// Queues what an agent is told first; what an earlier run was not told yet counts for this one.
    pub(in crate::engine) fn enqueue_first(&mut self, letter: Letter, run: RunId, now: Moment) {
        if !self.waiting_for(&letter.agent).any(Dispatch::is_first) {
            let key = format!("{FIRST}{} in run {run}", letter.agent);
            self.enqueue(letter, Some(&key), Manner::default(), now);
        }
    }

    /// Refuses what waits for an agent that started and shows nothing that takes a prompt. What its
    /// team tells it first waits on: nobody would send that again.
    pub(in crate::engine) fn refuse_waiting(&mut self, agent: &AgentName, now: Moment) {
        let waiting =
            self.waiting_for(agent).filter(|one| !one.is_first() && !one.manner.is_confirmed);
        for id in waiting.map(|one| one.id).collect::<Vec<_>>() {
            self.note_stage(id, Stage::Refused, self.objection(agent, Manner::default()), now);
            self.note_prompt(id, now);
        }
    }

    pub(in crate::engine) fn withdraw(
        &mut self,
        id: ReceiptId,
        now: Moment,
    ) -> Result<Done, Refusal> {
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
    pub(in crate::engine) fn note_delivery(
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
        // That it will be typed was told before anything was; only that it begins now, and what was left
        // out of it, is news.
        if (dispatch.stage, stage) == (Stage::Typed, Stage::Typed) {
            self.note_touched(id);
            return self.note_left_out(id, reason);
        }
        if stage == Stage::Queued && self.note_try(agent, id, reason.as_deref(), now) {
            return;
        }
        if stage == Stage::Submitted {
            self.begin_turn(agent);
        }
        self.note_stage(id, stage, reason, now);
        if stage == Stage::Accepted {
            self.expect_turn(agent, id, now);
        }
    }

    fn note_touched(&mut self, id: ReceiptId) {
        if let Some(dispatch) = self.dispatches.get_mut(&id) {
            dispatch.is_untouched = false;
            self.touch(Place::Dispatch(id));
        }
    }

    fn note_left_out(&mut self, id: ReceiptId, reason: Option<String>) {
        let dispatch = self.dispatches.get_mut(&id);
        let Some((dispatch, words)) = dispatch.zip(reason) else { return };
        let entry = Entry::new("dispatch.left_out", format!("{id}: {words}")).of(&dispatch.agent);
        dispatch.reason = Some(words);
        self.tell(entry);
        self.touch(Place::Dispatch(id));
    }

    pub(in crate::engine) fn note_stage(
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
            self.open_dispatches.remove(&id);
            dispatch.text = dispatch.text.chars().take(SUMMARY_CHARS).collect();
        }
        let words = dispatch.reason.as_deref().unwrap_or(&dispatch.text);
        let words: String = words.chars().take(SUMMARY_CHARS).collect();
        let entry = Entry::new(&format!("dispatch.{stage}"), format!("{id}: {words}"));
        let entry = entry.of(&dispatch.agent);
        self.tell(entry);
        self.touch(Place::Dispatch(id));
    }

    pub(in crate::engine) fn insert_dispatch(&mut self, dispatch: Dispatch) {
        self.open_dispatches.insert(dispatch.id);
        self.dispatches.insert(dispatch.id, dispatch);
    }

    /// Orders what may be typed now to be typed.
    pub(in crate::engine) fn deliver_ready(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        let ready: Vec<ReceiptId> = self
            .seats
            .values()
            .filter(|seat| !self.is_under_way(&seat.member.name))
            .filter_map(|seat| {
                let next = self.next_for(seat)?;
                let is_ready = self.may_be_typed(seat, next) && seat.earliest_prompt() <= now;
                is_ready.then_some(next.id)
            })
            .collect();
        for id in ready {
            let dispatch = self.dispatches.get_mut(&id).expect("it was just found");
            let agent = dispatch.agent.clone();
            let run = self.seats[&agent].run;
            (dispatch.run, dispatch.is_untouched) = (Some(run), true);
            let (text, tag) = (dispatch.text.clone(), dispatch.tag.clone());
            let (manner, is_first) = (dispatch.manner, dispatch.is_first());
            if !is_first {
                self.use_conversation(&agent);
            }
            self.begin_turn(&agent);
            self.note_stage(id, Stage::Typed, None, now);
            effects.push(Effect::Deliver { agent, run, receipt: id, text, tag, manner });
        }
    }

    /// Notes which prompts a crash has cut off. Those of which no key was pressed wait on.
    pub(in crate::engine) fn recover_deliveries(&mut self, now: Moment) {
        let under_way = self.dispatches.values().filter(|dispatch| dispatch.stage.is_under_way());
        let (untouched, cut_off): (Vec<&Dispatch>, Vec<&Dispatch>) =
            under_way.partition(|one| one.stage == Stage::Typed && one.is_untouched);
        let untouched: Vec<ReceiptId> = untouched.iter().map(|dispatch| dispatch.id).collect();
        self.cut_off = cut_off.iter().map(|dispatch| dispatch.id).collect();
        for id in untouched {
            self.note_stage(id, Stage::Queued, None, now);
        }
    }

    /// Asks the shell to look what became of the prompts that a crash may have cut off.
    pub(in crate::engine) fn inspect_deliveries(
        &mut self,
        agent: &AgentName,
        effects: &mut Vec<Effect>,
    ) {
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
    pub(in crate::engine) fn forsake_dispatches(
        &mut self,
        agent: &AgentName,
        has_next: bool,
        now: Moment,
    ) {
        let open: Vec<_> = self
            .open_of(agent)
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
    pub(in crate::engine) fn delivery_deadline(&self) -> Option<Moment> {
        let waiting = self.seats.values().filter(|seat| {
            let name = &seat.member.name;
            let next = self.next_for(seat);
            next.is_some_and(|next| seat.may_take(next.manner.is_confirmed))
                && !self.is_under_way(name)
        });
        let waiting = waiting.map(|seat| seat.readiness.earliest());
        // Who waits for an agent is answered when a turn that was expected has not come.
        let watched = self.watches.iter().filter_map(|watch| self.expected_of(&watch.condition));
        let past = self.seats.values().filter_map(Seat::limit_past_at);
        let past = past.filter(|at| *at > self.handled_at);
        waiting.chain(watched).chain(past).min()
    }

    fn expected_of(&self, condition: &Condition) -> Option<Moment> {
        let Condition::Agent { agent, .. } = condition else { return None };
        self.seats.get(agent)?.readiness.turn_expected_until()
    }

    fn waiting_for<'a>(&'a self, agent: &'a AgentName) -> impl Iterator<Item = &'a Dispatch> {
        self.open_of(agent).filter(|one| one.stage == Stage::Queued)
    }

    pub(in crate::engine) fn open_of(&self, agent: &AgentName) -> impl Iterator<Item = &Dispatch> {
        let open = self.open_dispatches.iter().map(|id| &self.dispatches[id]);
        open.filter(move |one| one.agent == *agent)
    }

    /// Notes that something is said to an agent: its conversation is no longer a new one.
    pub(in crate::engine) fn use_conversation(&mut self, agent: &AgentName) {
        let unused = self.seats.get_mut(agent).filter(|seat| !seat.is_used);
        if let Some(seat) = unused {
            seat.is_used = true;
            self.touch_seat(agent);
        }
    }

    fn is_under_way(&self, agent: &AgentName) -> bool {
        self.open_of(agent).any(|one| one.stage.is_under_way())
    }

    /// Says whether a prompt is on its way to an agent.
    pub(in crate::engine) fn has_open_dispatch(&self, agent: &AgentName) -> bool {
        self.open_of(agent).next().is_some()
    }

    fn sent_under(&self, key: &str) -> Vec<Receipt> {
        let is_same = |one: &&Dispatch| one.idempotency_key.as_deref() == Some(key);
        self.dispatches.values().filter(is_same).map(Dispatch::receipt).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::fixture::{Bench, name, seen};
    use crate::engine::{Event, RunEvent};
    use crate::model::{AgentState, Command, Source};

    fn send(bench: &mut Bench, key: Option<&str>) -> (Receipt, Vec<Effect>) {
        send_text(bench, "do it", key)
    }

    fn send_text(bench: &mut Bench, text: &str, key: Option<&str>) -> (Receipt, Vec<Effect>) {
        send_as(bench, text, key, Manner::default())
    }

    fn send_as(
        bench: &mut Bench,
        text: &str,
        key: Option<&str>,
        manner: Manner,
    ) -> (Receipt, Vec<Effect>) {
        let letter = Letter { agent: name("one"), text: text.to_owned(), tag: None };
        let idempotency_key = key.map(str::to_owned);
        let letters = vec![letter];
        let effects = bench.ask(Command::Dispatch { letters, idempotency_key, manner });
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
    fn that_a_prompt_is_typed_is_told_once_and_what_was_left_out_beside_it() {
        let mut bench = idle();
        let (receipt, _) = send(&mut bench, None);
        let (receipt, stage) = (receipt.receipt, Stage::Typed);
        let _ = came_to(&mut bench, receipt, stage);
        let reason = Some("2 control characters were left out".to_owned());
        let _ = bench.tell("one", RunEvent::Delivery { receipt, stage, reason });
        let saves = bench.seen.iter().filter_map(|effect| {
            let Effect::Save(changes) = effect else { return None };
            Some(&changes.entries)
        });
        let kinds: Vec<&str> = saves.flatten().map(|entry| entry.kind.as_str()).collect();
        let told: Vec<&&str> = kinds.iter().filter(|one| one.starts_with("dispatch.")).collect();
        assert_eq!(told, [&"dispatch.queued", &"dispatch.typed", &"dispatch.left_out"]);
        let known = bench.engine.dispatches[&receipt].receipt();
        assert_eq!(known.reason.as_deref(), Some("2 control characters were left out"));
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
    fn a_prompt_waits_at_a_dialog_and_is_refused_before_an_unknown_screen() {
        for (state, stage) in
            [(AgentState::Waiting, Stage::Queued), (AgentState::Unknown, Stage::Refused)]
        {
            let mut bench = idle();
            let _ = did(&mut bench, state);
            let (receipt, effects) = send(&mut bench, None);
            assert_eq!((receipt.state, delivered(&effects)), (stage, None), "{state}");
            assert_eq!(receipt.reason.is_some(), stage == Stage::Refused);
        }
    }

    #[test]
    fn a_prompt_waits_until_the_agent_has_come_up() {
        let mut bench = Bench::with_running(&["one"]);
        let (receipt, effects) = send(&mut bench, None);
        assert_eq!((receipt.state, delivered(&effects)), (Stage::Queued, None));
        assert_eq!(delivered(&did(&mut bench, AgentState::Idle)), Some(receipt.receipt));
    }

    #[test]
    fn what_waited_for_an_agent_that_nothing_recognises_is_refused_but_for_the_first_words() {
        let mut bench = Bench::with_running(&["one"]);
        let (receipt, _) = send(&mut bench, None);
        let (first, _) = send(&mut bench, Some("first prompt of one in run 1"));
        let _ = did(&mut bench, AgentState::Unknown);
        assert_eq!(stage(&bench, receipt.receipt), Stage::Refused);
        assert_eq!(stage(&bench, first.receipt), Stage::Queued);
        // Later, not to know for a while is no reason to give up.
        let _ = did(&mut bench, AgentState::Working);
        let (late, _) = send(&mut bench, None);
        let _ = did(&mut bench, AgentState::Unknown);
        assert_eq!(stage(&bench, late.receipt), Stage::Queued);
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
        let _ = came_to(&mut bench, receipt.receipt, Stage::Typed);
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
    fn a_prompt_of_which_no_key_was_pressed_waits_on_after_a_crash() {
        let mut bench = idle();
        let (receipt, _) = send(&mut bench, None);
        assert_eq!(stage(&bench, receipt.receipt), Stage::Typed);
        let (engine, _) = Engine::recover(bench.engine.record(), bench.now);
        bench.engine = engine;
        assert_eq!(stage(&bench, receipt.receipt), Stage::Queued);
        let effects = bench.tell("one", seen());
        let looks = |effect: &Effect| matches!(effect, Effect::Inspect { .. });
        assert!(!effects.iter().any(looks), "{effects:?}");
        assert_eq!(delivered(&effects), Some(receipt.receipt));
        let effects = came_to(&mut bench, receipt.receipt, Stage::Typed);
        let Some(Effect::Save(changes)) = effects.first() else { panic!("{effects:?}") };
        let row = changes.rows.iter().find(|row| row.table == "dispatch").unwrap();
        assert_eq!(row.value.as_ref().unwrap()["is_untouched"], false, "before any key");
    }

    #[test]
    fn a_turn_that_ended_unseen_holds_up_nothing_whenever_that_is_known() {
        for is_early in [false, true] {
            let mut bench = idle();
            let (first, _) = send(&mut bench, None);
            let (second, _) = send(&mut bench, None);
            let _ = came_to(&mut bench, first.receipt, Stage::Submitted);
            if is_early {
                assert_eq!(delivered(&bench.tell("one", RunEvent::TurnEnded)), None);
                let effects = came_to(&mut bench, first.receipt, Stage::Accepted);
                assert_eq!(delivered(&effects), Some(second.receipt));
            } else {
                let effects = came_to(&mut bench, first.receipt, Stage::Accepted);
                assert_eq!(delivered(&effects), None);
                let effects = bench.tell("one", RunEvent::TurnEnded);
                assert_eq!(delivered(&effects), Some(second.receipt));
            }
        }
    }

    #[test]
    fn the_turn_of_a_program_that_tells_what_it_does_is_awaited_for_longer() {
        let cases = [
            (Source::Screen, "do it", 10),
            (Source::Signal, "do it", 30),
            (Source::Hook, "do it", 30),
            (Source::Signal, "/clear", 10),
        ];
        for (source, text, seconds) in cases {
            let mut bench = Bench::with_running(&["one"]);
            let _ = bench.tell("one", RunEvent::Did { state: AgentState::Idle, source });
            let is_command = text.starts_with('/');
            let manner = Manner { is_command, ..Manner::default() };
            let first = send_as(&mut bench, text, None, manner).0.receipt;
            let second = send(&mut bench, None).0.receipt;
            let _ = came_to(&mut bench, first, Stage::Submitted);
            let _ = came_to(&mut bench, first, Stage::Accepted);
            let mut after = |seconds| {
                let then = bench.now + Duration::from_secs(seconds);
                bench.engine.handle(Event::DeadlineReached, then)
            };
            assert_eq!(delivered(&after(seconds - 1)), None, "{source} {text}");
            let effects = after(seconds);
            assert_eq!(delivered(&effects), Some(second), "{source} {text}");
        }
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
