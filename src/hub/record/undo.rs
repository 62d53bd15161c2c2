//! Takes back what was decided for requests that the record could not take: as if nobody had asked.
//!
//! Before the first request that waits for the record the engine is copied, and what it hears from
//! then on is kept until the record has it. Nothing of what was decided meanwhile has been carried out
//! (see `commit_queue`). So if the record fails, the copy takes the engine's place and hears all of it once
//! more, without the requests, and those are refused. That holds for every request there is.

use std::collections::VecDeque;
use std::time::Duration;

use super::commit_queue::QueueMark;
use super::state::HubRecord;
use crate::config::Settings;
use crate::engine::{Effect, Engine, Event, RunEvent};
use crate::hub::workspaces::terms::merging;
use crate::model::{AgentName, Changes, Entry, Moment, RequestId, RunId};
use crate::store::Ticket;

/// The way back to before the oldest request that the record does not have yet.
#[derive(Debug, Default)]
pub(super) struct Undo {
    base: Option<Box<Engine>>,
    /// All since then; the first step is that request.
    steps: VecDeque<Step>,
}

#[derive(Debug)]
struct Step {
    news: News,
    /// The request that it is, where one counts only if it is on record.
    request: Option<Pending>,
}

#[derive(Debug)]
enum News {
    Event(Box<Event>, Moment),
    Change(EngineChange),
}

#[derive(Debug)]
struct Pending {
    id: RequestId,
    /// How far the queue was before it.
    mark: QueueMark,
    /// The record has it once it has this.
    ticket: Ticket,
}

/// What the shell changes in the engine beside telling it what happened.
#[derive(Clone, Debug)]
pub(in crate::hub) enum EngineChange {
    /// A tag was drawn.
    Tag,
    Settings(Box<Settings>),
    /// The machine slept for so long, or its clock was set.
    Skipped(Duration, Moment),
    /// A person goes on typing into the pane of a run.
    NextKey(AgentName, RunId, Moment),
}

/// A request that is being decided, with the way back to before it.
#[derive(Debug)]
pub(super) struct RequestAttempt {
    id: RequestId,
    engine: Box<Engine>,
    mark: QueueMark,
}

impl EngineChange {
    fn apply(&self, engine: &mut Engine) {
        match self {
            Self::Tag => drop(engine.next_tag()),
            Self::Skipped(skipped, now) => engine.skip_time(*skipped, *now),
            Self::NextKey(agent, run, now) => drop(engine.note_next_key(agent, *run, *now)),
            Self::Settings(settings) => {
                let patience = Duration::from_secs(settings.stuck.after_seconds.into());
                engine.set_patience(patience);
                engine.set_resume_after_reset(settings.limit.resume_after_reset);
                engine.set_merging(merging(&settings.workspace));
                engine.set_approvals(settings.approvals.clone());
            }
        }
    }
}

impl Undo {
    /// Says whether what the engine hears has to be kept.
    pub(super) fn is_needed(&self) -> bool {
        self.base.is_some()
    }

    /// Keeps an event that was decided, and the way back if it was a request.
    fn note(&mut self, event: Event, at: Moment, by: Option<(RequestAttempt, Ticket)>) {
        let request = by.map(|(RequestAttempt { id, engine, mark }, ticket)| {
            self.base.get_or_insert(engine);
            Pending { id, mark, ticket }
        });
        if self.is_needed() {
            self.steps.push_back(Step { news: News::Event(Box::new(event), at), request });
        }
    }

    /// Notes that a person presses a key in a pane, and returns what there is to decide about it: nothing, if
    /// the person was typing already.
    fn note_key(
        &mut self,
        engine: &mut Engine,
        (agent, run): (AgentName, RunId),
        now: Moment,
    ) -> Option<Event> {
        if !engine.note_next_key(&agent, run, now) {
            return Some(Event::Run { agent, run, event: RunEvent::PersonTyped });
        }
        self.note_change(EngineChange::NextKey(agent, run, now));
        None
    }

    fn note_change(&mut self, change: EngineChange) {
        if self.is_needed() {
            self.steps.push_back(Step { news: News::Change(change), request: None });
        }
    }

    /// Goes on to the oldest request that the record does not have yet.
    pub(super) fn settle(&mut self, committed: Ticket) {
        let is_open =
            |step: &Step| step.request.as_ref().is_some_and(|pending| pending.ticket > committed);
        let Some(first) = self.steps.iter().position(is_open) else {
            *self = Self::default();
            return;
        };
        let Some(base) = &mut self.base else { return };
        for step in self.steps.drain(..first) {
            let _ = step.news.tell(base);
        }
    }
}

impl News {
    /// Lets an engine hear it, and returns what it orders, and when.
    fn tell(self, engine: &mut Engine) -> Option<(Vec<Effect>, Moment)> {
        match self {
            Self::Event(event, at) => Some((engine.handle(*event, at), at)),
            Self::Change(change) => {
                change.apply(engine);
                None
            }
        }
    }
}

impl HubRecord {
    pub(in crate::hub) fn change_engine(&mut self, engine: &mut Engine, change: EngineChange) {
        change.apply(engine);
        self.undo.note_change(change);
    }

    /// Returns a tag that nobody has.
    pub(in crate::hub) fn draw_tag(&mut self, engine: &mut Engine) -> String {
        self.undo.note_change(EngineChange::Tag);
        engine.next_tag()
    }

    /// Notes that a person presses a key in a pane, and returns what there is to decide about it.
    pub(in crate::hub) fn note_key(
        &mut self,
        engine: &mut Engine,
        (agent, run): (AgentName, RunId),
        now: Moment,
    ) -> Option<Event> {
        self.undo.note_key(engine, (agent, run), now)
    }

    /// Has an event decided and hands what was decided to the record; says whether that changed anything.
    /// A request that needs the record, which does not take it, changes nothing: then this returns it, and why.
    pub(in crate::hub) fn decide(
        &mut self,
        engine: &mut Engine,
        event: Event,
        needs_record: impl Fn(RequestId) -> bool,
        now: Moment,
    ) -> Result<bool, (RequestId, String)> {
        let attempt = self.attempt(engine, &event, needs_record);
        let kept = (attempt.is_some() || self.undo.is_needed()).then(|| event.clone());
        let effects = engine.handle(event, now);
        let is_change = effects.iter().any(|effect| matches!(effect, Effect::Save(_)));
        let entered = match attempt {
            None => {
                self.queue.enter(effects, now);
                None
            }
            Some(attempt) => match self.queue.enter_request(effects, now) {
                Ok(ticket) => Some((attempt, ticket)),
                Err(reason) => {
                    *engine = *attempt.engine;
                    return Err((attempt.id, reason));
                }
            },
        };
        if let Some(event) = kept {
            self.undo.note(event, now, entered);
            self.undo.settle(self.queue.committed());
        }
        Ok(is_change)
    }

    /// Takes all requests back that the record does not have, and returns them, so that they are refused.
    /// Returns nothing if the record may have been written after all.
    pub(super) fn take_back(
        &mut self,
        engine: &mut Engine,
        reason: &str,
        now: Moment,
    ) -> Option<Vec<RequestId>> {
        let Undo { base: Some(mut before), mut steps } = std::mem::take(&mut self.undo) else {
            return Some(Vec::new());
        };
        let first = steps.front().and_then(|step| step.request.as_ref());
        if !first.is_some_and(|pending| self.queue.withdraw(&pending.mark)) {
            self.undo = Undo { base: Some(before), steps };
            return None;
        }
        let mut refused = Vec::new();
        for Step { news, request } in steps.drain(..) {
            match request {
                Some(pending) => refused.push(pending.id),
                None => {
                    if let Some((effects, at)) = news.tell(&mut before) {
                        self.queue.enter(effects, at);
                    }
                }
            }
        }
        *engine = *before;
        // The record is tried again as long as something waits for it.
        let words = format!("{} refused: {reason}", count(refused.len()));
        let changes =
            Changes { entries: vec![Entry::new("record.refused", words)], rows: Vec::new() };
        self.queue.enter(vec![Effect::Save(changes)], now);
        Some(refused)
    }

    /// Returns the way back from an event, if it is a request that counts only if it is on record.
    fn attempt(
        &self,
        engine: &Engine,
        event: &Event,
        needs_record: impl Fn(RequestId) -> bool,
    ) -> Option<RequestAttempt> {
        let (Event::Asked { request, .. } | Event::AskedAgain { request, .. }) = event else {
            return None;
        };
        needs_record(*request).then(|| {
            let engine = Box::new(engine.clone());
            RequestAttempt { id: *request, engine, mark: self.queue.mark() }
        })
    }
}

fn count(requests: usize) -> String {
    if requests == 1 { "1 request".to_owned() } else { format!("{requests} requests") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::engine::Record;
    use crate::model::{Command, TaskCommand, TaskSpec};

    /// Has a task added, and returns how.
    fn add(engine: &mut Engine, undo: &mut Undo, number: u64, mark: QueueMark) {
        let before = Box::new(engine.clone());
        let spec = TaskSpec { title: "x".into(), prompt: "y".into(), ..TaskSpec::default() };
        let command = Command::Task(TaskCommand::Add { specs: vec![spec] });
        let id = RequestId(number);
        let event = Event::Asked { request: id, command, by: None, key: None };
        let _ = engine.handle(event.clone(), Moment(number));
        let attempt = RequestAttempt { id, engine: before, mark };
        undo.note(event, Moment(number), Some((attempt, Ticket(number))));
    }

    #[test]
    fn of_all_keys_that_a_person_types_the_engine_handles_the_first() {
        let member = json!({
            "name": "one", "team": "crew", "cli": "shell", "role": "worker", "argv": [], "cwd": "/",
        });
        let seat = json!({
            "member": member, "run": 1, "phase": "running", "state": "idle", "since": 0,
        });
        let rows = BTreeMap::from([(("seat".to_owned(), "one".to_owned()), seat)]);
        let (mut engine, _) = Engine::recover(Record::from_rows(&rows).unwrap(), Moment(0));
        let (agent, mut undo) = ("one".parse::<AgentName>().unwrap(), Undo::default());
        let mut press = |engine: &mut Engine, now: Moment| {
            let event = undo.note_key(engine, (agent.clone(), RunId(1)), now);
            event.map(|event| engine.handle(event, now)).is_some()
        };
        let keys = (0..50).map(|key| Moment(60_000 + key * 200));
        let handled = keys.map(|now| press(&mut engine, now)).collect::<Vec<_>>();
        assert_eq!(handled.iter().filter(|is_handled| **is_handled).count(), 1);
        assert!(handled[0], "the first key is an event");
        assert!(
            !press(&mut engine, Moment(73_000)),
            "it is typed into until a pause is long enough"
        );
        assert!(press(&mut engine, Moment(90_000)), "a key after a pause is an event again");
    }

    #[test]
    fn the_way_back_leads_to_before_the_oldest_request_that_is_not_on_record() {
        let (mut engine, mut undo) = (Engine::new(Moment(0)), Undo::default());
        let _ = engine.handle(Event::Began { seed: 7 }, Moment(0));
        add(&mut engine, &mut undo, 1, QueueMark::default());
        let change = EngineChange::Tag;
        change.apply(&mut engine);
        undo.note_change(change);
        undo.note(Event::ClientCame, Moment(1), None);
        let _ = engine.handle(Event::ClientCame, Moment(1));
        let mut second = engine.clone();
        add(&mut engine, &mut undo, 2, QueueMark::default());
        undo.settle(Ticket(0));
        assert_eq!(undo.steps.len(), 4);
        undo.settle(Ticket(1));
        assert_eq!(undo.steps.len(), 1);
        let base = undo.base.as_deref_mut().unwrap();
        assert_eq!(base.record(), second.record());
        assert_eq!(base.next_tag(), second.next_tag(), "the same tags are drawn");
        undo.settle(Ticket(2));
        assert!(!undo.is_needed() && undo.steps.is_empty());
    }
}
