//! Collects what each event changed, for whoever keeps the record.

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::model::{Changes, Entry, RowChange};

/// The table with the one row about the hub itself.
pub(super) const HUB: &str = "hub";

/// What has happened since the changes were last taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    entries: Vec<Entry>,
    /// The row about the hub, as it is on record.
    hub: HubRow,
}

/// What is kept of the hub itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct HubRow {
    /// Someone asked for everything to end, and it has not all ended yet.
    pub(super) going_down: bool,
    /// How many prompts were ever sent.
    pub(super) receipts: u64,
    /// How many tasks were ever added, needs ever reported, items ever raised.
    pub(super) tasks: u64,
    pub(super) needs: u64,
    pub(super) attention: u64,
    /// How many playbook runs were ever begun.
    pub(super) plays: u64,
    /// How many merges were ever asked for.
    pub(super) merges: u64,
}

impl Engine {
    /// Adds an entry to the history; one about a task of a playbook run says of which.
    pub(super) fn tell(&mut self, mut entry: Entry) {
        let task = entry.task.as_ref().and_then(|id| self.tasks.get(&id.parse().ok()?));
        if let Some((task, play)) = task.and_then(|task| Some((task, task.play?)))
            && entry.data.is_null()
        {
            entry.data = serde_json::json!({ "run": play, "key": task.key });
        }
        self.journal.entries.push(entry);
    }

    pub(super) fn tell_all(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.tell(entry);
        }
    }

    /// Says whether anything may have changed since the changes were last taken.
    pub(super) fn may_have_changed(&self) -> bool {
        let has_entries = !self.journal.entries.is_empty();
        has_entries || self.may_have_changed_rows() || self.hub_row() != self.journal.hub
    }

    /// Returns what has changed since the last time, if anything has.
    pub(super) fn take_changes(&mut self) -> Option<Changes> {
        let entries = std::mem::take(&mut self.journal.entries);
        let hub = self.hub_row();
        let mut rows = Vec::new();
        if hub != self.journal.hub {
            rows.push(hub.to_row());
            self.journal.hub = hub;
        }
        rows.extend(self.take_changed_rows());
        (!rows.is_empty() || !entries.is_empty()).then_some(Changes { entries, rows })
    }

    /// Takes the row about the hub as the one that is on record.
    pub(super) fn note_hub_row(&mut self) {
        self.journal.hub = self.hub_row();
    }

    fn hub_row(&self) -> HubRow {
        HubRow {
            going_down: self.going_down,
            receipts: self.receipts,
            tasks: self.task_count,
            needs: self.need_count,
            attention: self.attention_count,
            plays: self.play_count,
            merges: self.merge_count,
        }
    }
}

impl HubRow {
    pub(super) fn to_row(&self) -> RowChange {
        let value = serde_json::to_value(self).expect("rows are plain data");
        RowChange { table: HUB.to_owned(), key: HUB.to_owned(), value: Some(value) }
    }
}
