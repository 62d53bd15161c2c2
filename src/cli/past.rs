//! Reads the record for those who tell of it, with a hub or without.

use std::collections::BTreeSet;

use super::context::Context;
use super::failure::Hinted;
use crate::engine::{Record, Seat};
use crate::history::{HistoryReader, JournalItem, RunFinder, RunHistory, RunSummary};
use crate::model::{AgentName, RowChange};
use crate::store::{Base, Changed, Journal, Query, Recorded, Ticket};

/// Entries that are read at once.
const PAGE: usize = 5000;
/// Decisions whose rows are read at once: some of them hold large prompts.
const BATCHES: u64 = 200;

/// The record, and the runs in it.
pub(super) struct Past {
    pub(super) journal: Journal,
    /// Oldest first; the whole record is the last one.
    pub(super) chapters: Vec<RunSummary>,
}

impl Past {
    pub(super) fn open(context: &Context) -> anyhow::Result<Self> {
        let journal = Journal::open(&context.paths.record())?;
        let live = match journal.base()? {
            Some(base) => live_at(&journal, base.ticket)?,
            None => BTreeSet::new(),
        };
        let mut chapters = RunFinder::amid(live);
        let mut query = Query { limit: PAGE, ..Query::default() };
        loop {
            let found = journal.entries(&query)?;
            for recorded in &found {
                query.after = recorded.id;
                chapters.note(&told(recorded));
            }
            if found.len() < PAGE {
                break;
            }
        }
        Ok(Self { journal, chapters: chapters.finish() })
    }

    /// Returns the run of this name.
    pub(super) fn chapter(&self, id: &str) -> anyhow::Result<&RunSummary> {
        let found = self.chapters.iter().find(|chapter| chapter.id == id);
        found.ok_or_else(|| {
            let hint = "List the runs with `wheelhouse history`";
            Hinted::error(format!("There is no run `{id}`"), hint)
        })
    }

    /// Returns the entries of a run.
    pub(super) fn entries(&self, chapter: &RunSummary) -> anyhow::Result<Vec<JournalItem>> {
        let mut entries = Vec::new();
        let (after, up_to) = (chapter.first - 1, Some(chapter.last));
        let mut query = Query { after, up_to, limit: PAGE, ..Query::default() };
        loop {
            let found = self.journal.entries(&query)?;
            entries.extend(found.iter().map(told));
            if found.len() < PAGE {
                return Ok(entries);
            }
            query.after = found.last().map_or(query.after, |last| last.id);
        }
    }

    /// Tells a run.
    pub(super) fn story(&self, chapter: &RunSummary) -> anyhow::Result<RunHistory> {
        let mut teller = HistoryReader::new(chapter.clone());
        let before = Ticket(chapter.first_batch - 1);
        // Who ran before it began, and what was in their way.
        for ((table, key), value) in self.journal.rows_at(before)? {
            if matches!(table.as_str(), "seat" | "attention") {
                let change = RowChange { table, key, value: Some(value) };
                teller.row(chapter.began, &change);
            }
        }
        let mut entries = self.entries(chapter)?.into_iter().peekable();
        let mut from = before;
        while from.0 < chapter.last_batch {
            let until = Ticket((from.0 + BATCHES).min(chapter.last_batch));
            for Changed { ticket, at, change } in self.journal.changes(from, until)? {
                while let Some(told) = entries.next_if(|told| told.batch <= ticket.0) {
                    teller.entry(&told);
                }
                teller.row(at, &change);
            }
            from = until;
        }
        entries.for_each(|told| teller.entry(&told));
        Ok(teller.finish())
    }

    /// Returns everything that was known after a decision.
    pub(super) fn record(&self, batch: u64) -> anyhow::Result<Record> {
        Ok(Record::from_rows(&self.journal.rows_at(Ticket(batch))?)?)
    }
}

/// Returns who ran after a batch.
fn live_at(journal: &Journal, ticket: Ticket) -> anyhow::Result<BTreeSet<AgentName>> {
    let record = Record::from_rows(&journal.rows_at(ticket)?)?;
    let live = record.agents.into_iter().filter(Seat::is_live);
    Ok(live.map(|seat| seat.member.name).collect())
}

/// Says what of the journal is no longer there.
pub(super) fn cut_off(base: &Base) -> String {
    format!(
        "Entries up to {}, from before {}, are no longer kept (see `[record]` in the settings)",
        base.entry,
        base.at.to_rfc3339()
    )
}

fn told(recorded: &Recorded) -> JournalItem {
    let Recorded { id, ticket, at, entry } = recorded;
    JournalItem { seq: *id, batch: ticket.0, at: *at, entry: entry.clone() }
}
