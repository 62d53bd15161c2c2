//! Keeps what is to be done until the record has what it relies on: write, then act.
//!
//! Every decision's changes go to the record's own thread, and what is to be done about them waits
//! here, in the order in which it was decided, until they are on the disk. While the record cannot
//! be written, nothing waits: requests are taken back (`record/undo`), and whatever else relies on it is
//! refused at once, so that nothing happens later that somebody was told will not. Only what nobody
//! was told of is put off: gates, the news that a task is done, and answers to what is on record.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::api::Fault;
use crate::engine::Effect;
use crate::hub::clients::askers::{Asker, Reply};
use crate::model::{AgentName, Changes, Entry, Moment, ReceiptId, RowChange, RunId};
use crate::store::{Batch, Keep, Outcome, Store, Ticket};

/// So many heartbeats may wait for others, and no more: beside the record, the last reports of an agent
/// are kept word for word (`hub/panes/reports`), and a hub that is killed must find there what is not on record.
const HEARTBEATS_MAX: u32 = 32;

/// Something to be done once the record has all that was decided before it.
#[derive(Debug)]
pub(in crate::hub) enum PendingEffect {
    Effect {
        effect: Effect,
        /// What it is about was changed by the same decision.
        is_of_change: bool,
    },
    /// Goes on with a prompt: what it told of itself is on record.
    GoOn {
        agent: AgentName,
        run: RunId,
        receipt: ReceiptId,
    },
    Answer {
        asker: Asker,
        answer: Reply,
    },
    /// A task may be shown as done.
    Show {
        task: String,
    },
    /// Removes what only these agents needed, if they are off the record.
    Tidy {
        agents: Vec<AgentName>,
    },
}

/// The record, and what waits for it.
#[derive(Debug)]
pub(super) struct CommitQueue {
    store: Store,
    waiting: VecDeque<Waiting>,
    /// How many things ever waited.
    count: u64,
    /// The last batch that something may rely on, and the last one that is on the disk.
    relied_on: Ticket,
    committed: Ticket,
    /// Why the record cannot be written.
    failure: Option<String>,
    backlog: Backlog,
    /// How many heartbeats have waited since something else was written.
    heartbeats: u32,
    /// What can be done just as well later, until the record can be written again.
    parked: Vec<PendingEffect>,
    /// Tasks that are done, and not on record as done yet.
    unrecorded: BTreeSet<String>,
    /// Somebody is at work on what waits; what is decided meanwhile comes after it.
    is_busy: bool,
}

#[derive(Debug)]
struct Waiting {
    /// Its number among all that ever waited.
    number: u64,
    ticket: Ticket,
    /// What it relies on is in the backlog.
    is_crowded: bool,
    /// It follows from a decision of the engine.
    is_decided: bool,
    /// Why what it relies on will never be on record.
    refusal: Option<String>,
    effect: PendingEffect,
}

/// How far all had come at a moment.
#[derive(Debug, Default)]
pub(super) struct QueueMark {
    last: Ticket,
    relied_on: Ticket,
    count: u64,
    unrecorded: BTreeSet<String>,
}

/// What the record has no room for while it cannot be written: the last value of each row, and how
/// many entries of the journal are lost.
#[derive(Debug, Default)]
struct Backlog {
    rows: BTreeMap<(String, String), RowChange>,
    /// What was last said of rows that are gone: nothing else tells of them.
    last: Vec<RowChange>,
    entries: usize,
}

impl CommitQueue {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            waiting: VecDeque::new(),
            count: 0,
            relied_on: Ticket::default(),
            committed: Ticket::default(),
            failure: None,
            backlog: Backlog::default(),
            heartbeats: 0,
            parked: Vec::new(),
            unrecorded: BTreeSet::new(),
            is_busy: false,
        }
    }

    /// Keeps so much of the journal.
    pub(super) fn set_keep(&self, keep: Keep) {
        self.store.set_keep(keep);
    }

    /// Hands a decision and what follows from it over.
    pub(super) fn enter(&mut self, effects: Vec<Effect>, now: Moment) {
        let is_alone = effects.len() == 1;
        let (mut refusal, mut is_of_change) = (None, false);
        for effect in effects {
            if let Effect::Save(changes) = effect {
                is_of_change = true;
                let is_heartbeat = changes.entries.iter().all(Entry::is_heartbeat);
                let is_crowd = self.heartbeats >= HEARTBEATS_MAX;
                let may_wait = is_alone && is_heartbeat && !is_crowd && !is_about_prompt(&changes);
                self.heartbeats = if may_wait { self.heartbeats + 1 } else { 0 };
                refusal = self.enter_changes(changes, may_wait, now).err();
            } else {
                self.queue(PendingEffect::Effect { effect, is_of_change }, refusal.clone(), true);
            }
        }
    }

    /// Hands over what was decided for a request, and returns what its answer relies on; where the
    /// record does not take it, nothing is handed over.
    pub(super) fn enter_request(
        &mut self,
        effects: Vec<Effect>,
        now: Moment,
    ) -> Result<Ticket, String> {
        let mut is_of_change = false;
        for effect in effects {
            // It comes first: nothing was handed over before it.
            if let Effect::Save(changes) = effect {
                is_of_change = true;
                self.heartbeats = 0;
                let before = self.unrecorded.clone();
                self.enter_changes(changes, false, now)
                    .inspect_err(|_| self.unrecorded = before)?;
            } else {
                self.queue(PendingEffect::Effect { effect, is_of_change }, None, true);
            }
        }
        Ok(self.relied_on)
    }

    fn enter_changes(
        &mut self,
        changes: Changes,
        may_wait: bool,
        now: Moment,
    ) -> Result<(), String> {
        let done = done_tasks(&changes);
        let kept = self.keep(changes, may_wait, now);
        self.unrecorded.extend(done.iter().cloned());
        // What will never be on record is never shown either.
        for task in done.into_iter().filter(|_| kept.is_ok()) {
            self.queue(PendingEffect::Show { task }, None, true);
        }
        kept
    }

    /// Queues something behind all that was decided so far.
    pub(super) fn push(&mut self, effect: PendingEffect) {
        self.queue(effect, None, false);
    }

    fn queue(&mut self, effect: PendingEffect, refusal: Option<String>, is_decided: bool) {
        self.count += 1;
        let (number, ticket) = (self.count, self.relied_on);
        let is_crowded = !self.backlog.is_empty();
        let waiting = Waiting { number, ticket, is_crowded, is_decided, refusal, effect };
        self.waiting.push_back(waiting);
    }

    /// Returns how far all has come.
    pub(super) fn mark(&self) -> QueueMark {
        let unrecorded = self.unrecorded.clone();
        QueueMark {
            last: self.store.last(),
            relied_on: self.relied_on,
            count: self.count,
            unrecorded,
        }
    }

    /// Takes back what was decided since a moment, unless some of it is on record. What was queued
    /// meanwhile and follows from no decision stays.
    pub(super) fn withdraw(&mut self, mark: &QueueMark) -> bool {
        if !self.store.withdraw(mark.last) {
            return false;
        }
        self.relied_on = mark.relied_on;
        self.unrecorded.retain(|task| mark.unrecorded.contains(task));
        self.backlog = Backlog::default();
        self.waiting.retain(|one| one.number <= mark.count || !one.is_decided);
        for one in self.waiting.iter_mut().filter(|one| one.number > mark.count) {
            (one.ticket, one.is_crowded) = (mark.relied_on, false);
        }
        true
    }

    /// Returns the last batch that is on the disk.
    pub(super) fn committed(&self) -> Ticket {
        self.committed
    }

    /// Keeps something until the record can be written again.
    pub(super) fn park(&mut self, effect: PendingEffect) {
        self.parked.push(effect);
    }

    /// Says whether a task that is done is on record as done.
    pub(super) fn may_show(&self, task: &str) -> bool {
        !self.unrecorded.contains(task)
    }

    pub(super) fn show(&mut self, task: &str) {
        self.unrecorded.remove(task);
    }

    /// Takes up what waits, unless somebody is at work on it.
    pub(super) fn begin_work(&mut self) -> bool {
        !std::mem::replace(&mut self.is_busy, true)
    }

    /// Returns the next thing that can be done, or that must be refused, and then why. Once there is none,
    /// the work is done.
    pub(super) fn next(&mut self) -> Option<(PendingEffect, Option<String>)> {
        let next = self.pop();
        self.is_busy = next.is_some();
        next
    }

    fn pop(&mut self) -> Option<(PendingEffect, Option<String>)> {
        let next = self.waiting.front()?;
        let obstacle = match &next.refusal {
            Some(refusal) => Some(refusal.clone()),
            None if next.ticket <= self.committed && !next.is_crowded => None,
            None if next.is_crowded => Some(self.trouble()?),
            // What was handed over may yet be written, however much waits behind it.
            None => Some(self.failure.clone()?),
        };
        self.waiting.pop_front().map(|waiting| (waiting.effect, obstacle))
    }

    /// Takes note of what became of what was handed to the record.
    pub(super) fn note(&mut self, outcome: Outcome, now: Moment) {
        match outcome {
            Outcome::Committed(ticket) => self.committed = ticket,
            Outcome::Failing { reason } => {
                tracing::error!(reason, "the record cannot be written");
                self.failure = Some(reason);
            }
            Outcome::Healed => {
                tracing::info!("the record can be written again");
                self.failure = None;
            }
        }
        if !self.backlog.is_empty() && self.store.has_room() {
            let changes = std::mem::take(&mut self.backlog).into_changes();
            if let Err(reason) = self.keep(changes, false, now) {
                tracing::error!(reason, "what waited for room could not be put on record");
            }
            for one in self.waiting.iter_mut().filter(|one| one.is_crowded) {
                (one.ticket, one.is_crowded) = (self.relied_on, false);
            }
        }
        if self.trouble().is_none() {
            for effect in std::mem::take(&mut self.parked) {
                self.push(effect);
            }
        }
    }

    /// Returns why the record cannot be written, if it cannot.
    pub(super) fn trouble(&self) -> Option<String> {
        self.failure.clone().or_else(|| (!self.backlog.is_empty()).then(crowd))
    }

    /// Returns why no request can be put on record now, if none can.
    pub(super) fn obstacle(&self) -> Option<String> {
        self.trouble().or_else(|| (!self.store.has_room()).then(crowd))
    }

    /// Hands changes to the record, or returns why they will never be there.
    fn keep(&mut self, changes: Changes, may_wait: bool, now: Moment) -> Result<(), String> {
        if !self.backlog.is_empty() || !self.store.has_room() {
            self.backlog.add(changes);
            return Ok(());
        }
        let Changes { entries, rows } = changes;
        let batch = Batch { at: now, entries, rows };
        let taken = if may_wait {
            self.store.submit_lazily(batch).map(drop)
        } else {
            self.store.submit(batch).map(|ticket| self.relied_on = ticket)
        };
        taken.map_err(|refused| {
            tracing::error!(%refused, "a decision could not be put on record");
            refused.to_string()
        })
    }
}

impl Backlog {
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.entries == 0
    }

    fn add(&mut self, changes: Changes) {
        self.entries += changes.entries.len();
        for row in changes.rows {
            let is_gone = row.value.is_none();
            let before = self.rows.insert((row.table.clone(), row.key.clone()), row);
            self.last.extend(before.filter(|before| is_gone && before.value.is_some()));
        }
    }

    fn into_changes(self) -> Changes {
        let words = format!("{} entries are lost: too much waited to be written", self.entries);
        let entries = vec![Entry::new("record.gap", words)];
        let rows = self.last.into_iter().chain(self.rows.into_values()).collect();
        Changes { entries, rows }
    }
}

fn crowd() -> String {
    "too much waits to be written".to_owned()
}

/// Says whether changes tell how far a prompt has come: keys rely on that, though nothing may be told.
fn is_about_prompt(changes: &Changes) -> bool {
    changes.rows.iter().any(|row| row.table == "dispatch")
}

/// Returns the tasks that are done according to these changes.
fn done_tasks(changes: &Changes) -> Vec<String> {
    let is_done = |row: &&RowChange| {
        row.table == "task" && row.value.as_ref().is_some_and(|task| task["state"] == "done")
    };
    changes.rows.iter().filter(is_done).map(|row| row.key.clone()).collect()
}

/// Returns what to answer to whoever asks for something that cannot be put on record.
pub(in crate::hub) fn unwritable(reason: &str) -> Fault {
    Fault::new(format!("The record cannot be written: {reason}")).with_hint(
        "Free some disk space and check that the disk is writable; the hub then recovers. What could not be recorded was not done: ask again then. Agents keep running; `wheelhouse agent stop` and `wheelhouse down --force` still work",
    )
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Receiver};
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;
    use crate::model::RequestId;
    use crate::store::Journal;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn bench() -> (TempDir, CommitQueue, Receiver<Outcome>) {
        let directory = tempfile::tempdir().unwrap();
        let (tell, outcomes) = mpsc::channel();
        let path = directory.path().join("record.db");
        let (store, _) = Store::open(&path, move |outcome| drop(tell.send(outcome))).unwrap();
        (directory, CommitQueue::new(store), outcomes)
    }

    fn save(kind: &str, value: impl Into<serde_json::Value>) -> Effect {
        let (table, key, value) = ("t".to_owned(), "k".to_owned(), Some(value.into()));
        let rows = vec![RowChange { table, key, value }];
        Effect::Save(Changes { entries: vec![Entry::new(kind, "")], rows })
    }

    fn answer(request: u64) -> Effect {
        Effect::Answer { request: RequestId(request), outcome: Ok(crate::model::Done::default()) }
    }

    /// Returns the request of the next answer that can be given, and why it must be refused.
    fn next(ledger: &mut CommitQueue) -> Option<(u64, Option<String>)> {
        match ledger.pop()? {
            (PendingEffect::Effect { effect: Effect::Answer { request, .. }, .. }, obstacle) => {
                Some((request.0, obstacle))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn whatever_follows_a_change_waits_for_the_disk_and_keeps_its_order() {
        let (_directory, mut ledger, outcomes) = bench();
        ledger.enter(vec![save("agent.starting", 1), answer(1)], Moment(1));
        ledger.enter(vec![answer(2)], Moment(2));
        assert_eq!(next(&mut ledger), None);
        ledger.note(outcomes.recv_timeout(PATIENCE).unwrap(), Moment(3));
        assert_eq!(next(&mut ledger), Some((1, None)));
        assert_eq!(next(&mut ledger), Some((2, None)));
    }

    #[test]
    fn nobody_waits_for_a_heartbeat_but_for_what_nothing_follows_yet() {
        let (_directory, mut ledger, outcomes) = bench();
        ledger.enter(vec![save("agent.state", 1)], Moment(1));
        ledger.enter(vec![answer(1)], Moment(2));
        assert_eq!(next(&mut ledger), Some((1, None)));
        ledger.enter(vec![save("dispatch.accepted", 2)], Moment(3));
        ledger.enter(vec![answer(2)], Moment(4));
        assert_eq!(next(&mut ledger), None);
        ledger.note(outcomes.recv_timeout(PATIENCE).unwrap(), Moment(5));
        assert_eq!(next(&mut ledger), Some((2, None)));
    }

    #[test]
    fn the_keys_of_a_prompt_wait_though_nothing_is_told_of_it() {
        let (_directory, mut ledger, outcomes) = bench();
        let value = Some(serde_json::json!({ "stage": "typed", "is_untouched": false }));
        let row = RowChange { table: "dispatch".to_owned(), key: "r1".to_owned(), value };
        let changes = Changes { entries: Vec::new(), rows: vec![row] };
        ledger.enter(vec![Effect::Save(changes)], Moment(1));
        ledger.enter(vec![answer(1)], Moment(2));
        assert_eq!(next(&mut ledger), None);
        ledger.note(outcomes.recv_timeout(PATIENCE).unwrap(), Moment(3));
        assert_eq!(next(&mut ledger), Some((1, None)));
    }

    #[test]
    fn what_waits_for_a_record_that_fails_is_refused() {
        let (_directory, mut ledger, outcomes) = bench();
        ledger.enter(vec![save("agent.starting", 1), answer(1)], Moment(1));
        ledger.note(Outcome::Failing { reason: "full".to_owned() }, Moment(2));
        assert_eq!(next(&mut ledger), Some((1, Some("full".to_owned()))));
        ledger.note(Outcome::Healed, Moment(3));
        ledger.note(outcomes.recv_timeout(PATIENCE).unwrap(), Moment(4));
        assert_eq!(ledger.trouble(), None);
    }

    #[test]
    fn what_is_too_large_for_the_record_is_refused_alone() {
        let (_directory, mut ledger, outcomes) = bench();
        let large = save("agent.starting", "x".repeat(4 << 20));
        ledger.enter(vec![large, answer(1)], Moment(1));
        let (request, obstacle) = next(&mut ledger).unwrap();
        assert!(request == 1 && obstacle.unwrap().starts_with("Row `k` of `t`"));
        ledger.enter(vec![save("agent.starting", 1), answer(2)], Moment(1));
        ledger.note(outcomes.recv_timeout(PATIENCE).unwrap(), Moment(2));
        assert_eq!(next(&mut ledger), Some((2, None)));
    }

    #[test]
    fn what_leaves_memory_while_there_is_no_room_is_still_told() {
        let row = |value| RowChange { table: "t".to_owned(), key: "k".to_owned(), value };
        let mut backlog = Backlog::default();
        for value in [Some(1.into()), Some(2.into()), None] {
            backlog.add(Changes { entries: Vec::new(), rows: vec![row(value)] });
        }
        assert_eq!(backlog.into_changes().rows, [row(Some(2.into())), row(None)]);
    }

    #[test]
    fn without_room_the_state_is_kept_and_written_later() {
        let (directory, mut ledger, outcomes) = bench();
        let path = directory.path().join("record.db");
        let stranger = rusqlite::Connection::open(&path).unwrap();
        stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut last = 0;
        while ledger.trouble().is_none() {
            last += 1;
            ledger.enter(vec![save("agent.left", last)], Moment(last));
        }
        ledger.enter(vec![save("agent.left", last + 1), answer(1)], Moment(last));
        assert!(next(&mut ledger).unwrap().1.is_some());
        drop(stranger);
        while ledger.trouble().is_some() || ledger.committed < ledger.relied_on {
            ledger.note(outcomes.recv_timeout(PATIENCE).unwrap(), Moment(last));
        }
        let journal = Journal::open(&path).unwrap();
        journal.verify().unwrap();
        let rows = journal.rows_at(journal.last().unwrap()).unwrap();
        assert_eq!(rows[&("t".to_owned(), "k".to_owned())], last + 1);
    }
}
