//! What waits until the record has what it relies on: write, then act.
//!
//! Every decision's changes go to the record's own thread, and what is to be done about them waits
//! here, in the order in which it was decided, until they are on the disk. While the record cannot
//! be written, nothing waits: whatever relies on it is refused at once, so that nothing happens
//! later that somebody was told will not.

use std::collections::{BTreeMap, VecDeque};

use super::requests::{Answer, Asker};
use crate::engine::Effect;
use crate::model::{AgentName, Changes, Entry, Moment, ReceiptId, RowChange, RunId};
use crate::store::{Batch, Outcome, Store, Ticket};
use crate::wire::Fault;

/// Something to be done once the record has all that was decided before it.
#[derive(Debug)]
pub(super) enum Deed {
    Effect {
        effect: Effect,
        /// What it is about was changed by the same decision.
        is_of_change: bool,
    },
    /// Types a part of a prompt.
    Press {
        agent: AgentName,
        run: RunId,
        receipt: ReceiptId,
        bytes: Vec<u8>,
    },
    Answer {
        asker: Asker,
        answer: Answer,
    },
}

/// The record, and what waits for it.
#[derive(Debug)]
pub(super) struct Ledger {
    store: Store,
    waiting: VecDeque<Waiting>,
    /// The last batch that something may rely on, and the last one that is on the disk.
    relied_on: Ticket,
    committed: Ticket,
    /// Why the record cannot be written.
    failure: Option<String>,
    backlog: Backlog,
    /// Somebody is at work on what waits; what is decided meanwhile comes after it.
    pub(super) is_busy: bool,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    /// Why what it relies on will never be on record.
    refusal: Option<String>,
    deed: Deed,
}

/// What the record has no room for while it cannot be written: the last value of each row, and how
/// many sentences of the story are lost.
#[derive(Debug, Default)]
struct Backlog {
    rows: BTreeMap<(String, String), RowChange>,
    entries: usize,
}

impl Ledger {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            waiting: VecDeque::new(),
            relied_on: Ticket::default(),
            committed: Ticket::default(),
            failure: None,
            backlog: Backlog::default(),
            is_busy: false,
        }
    }

    /// Hands a decision and what follows from it over.
    pub(super) fn enter(&mut self, effects: Vec<Effect>, now: Moment) {
        let is_alone = effects.len() == 1;
        let (mut refusal, mut is_of_change) = (None, false);
        for effect in effects {
            match effect {
                Effect::Save(changes) => {
                    is_of_change = true;
                    let may_wait = is_alone && changes.entries.iter().all(Entry::is_heartbeat);
                    refusal = self.keep(changes, may_wait, now).err();
                }
                effect => {
                    let deed = Deed::Effect { effect, is_of_change };
                    self.push(deed, refusal.clone());
                }
            }
        }
    }

    /// Queues something behind all that was decided so far.
    pub(super) fn push(&mut self, deed: Deed, refusal: Option<String>) {
        self.waiting.push_back(Waiting { ticket: self.relied_on, refusal, deed });
    }

    /// Returns the next thing that can be done, or that must be refused, and then why.
    pub(super) fn pop(&mut self) -> Option<(Deed, Option<String>)> {
        let next = self.waiting.front()?;
        let obstacle = match &next.refusal {
            Some(refusal) => Some(refusal.clone()),
            None if next.ticket <= self.committed && self.backlog.is_empty() => None,
            None => Some(self.trouble()?),
        };
        self.waiting.pop_front().map(|waiting| (waiting.deed, obstacle))
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
        }
    }

    /// Returns why the record cannot be written, if it cannot.
    pub(super) fn trouble(&self) -> Option<String> {
        let crowd = || "too much waits to be written".to_owned();
        self.failure.clone().or_else(|| (!self.backlog.is_empty()).then(crowd))
    }

    /// Hands changes to the record, or returns why they will never be there.
    fn keep(&mut self, changes: Changes, may_wait: bool, now: Moment) -> Result<(), String> {
        if !self.backlog.is_empty() || !self.store.has_room() {
            self.backlog.add(changes);
            return Ok(());
        }
        let Changes { entries, rows } = changes;
        let batch = Batch { at: now, entries, rows };
        let taken = match may_wait {
            true => self.store.submit_lazily(batch).map(drop),
            false => self.store.submit(batch).map(|ticket| self.relied_on = ticket),
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
            self.rows.insert((row.table.clone(), row.key.clone()), row);
        }
    }

    fn into_changes(self) -> Changes {
        let words = format!("{} entries are lost: too much waited to be written", self.entries);
        let entries = vec![Entry::new("record.gap", words)];
        Changes { entries, rows: self.rows.into_values().collect() }
    }
}

/// Returns what to answer to whoever asks for something that cannot be put on record.
pub(super) fn unwritable(reason: &str) -> Fault {
    Fault::new(format!("The record cannot be written: {reason}")).with_hint(
        "Make room on the disk, and see that it can be written; it heals by itself. Agents go on, and \
         `wheelhouse agent stop` and `wheelhouse down --force` work all the same",
    )
}
