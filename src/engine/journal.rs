//! What each decision changed, for whoever keeps the record.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::model::{AgentName, Changes, Entry, ReceiptId, RowChange};

pub(super) const HUB: &str = "hub";
pub(super) const SEAT: &str = "seat";
pub(super) const DISPATCH: &str = "dispatch";

/// What has changed since the changes were last taken.
#[derive(Debug, Default)]
pub(super) struct Journal {
    touched: BTreeSet<Place>,
    entries: Vec<Entry>,
}

/// A row of the record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Hub,
    Seat(AgentName),
    Dispatch(ReceiptId),
}

/// What is kept of the hub itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct HubRow {
    /// Someone asked for everything to end, and it has not all ended yet.
    pub(super) going_down: bool,
    /// How many prompts were ever sent.
    pub(super) receipts: u64,
}

impl Engine {
    pub(super) fn touch(&mut self, place: Place) {
        self.journal.touched.insert(place);
    }

    pub(super) fn touch_seat(&mut self, agent: &AgentName) {
        self.touch(Place::Seat(agent.clone()));
    }

    /// Adds a sentence to the story.
    pub(super) fn tell(&mut self, entry: Entry) {
        self.journal.entries.push(entry);
    }

    /// Returns what has changed since the last time, if anything has.
    pub(super) fn take_changes(&mut self) -> Option<Changes> {
        let Journal { touched, entries } = std::mem::take(&mut self.journal);
        if touched.is_empty() && entries.is_empty() {
            return None;
        }
        let rows = touched.into_iter().map(|place| self.row(place)).collect();
        Some(Changes { entries, rows })
    }

    fn row(&self, place: Place) -> RowChange {
        match place {
            Place::Hub => change(HUB, HUB.to_owned(), Some(&self.hub_row())),
            Place::Seat(agent) => change(SEAT, agent.to_string(), self.seats.get(&agent)),
            Place::Dispatch(id) => change(DISPATCH, id.to_string(), self.dispatches.get(&id)),
        }
    }

    pub(super) fn hub_row(&self) -> HubRow {
        HubRow { going_down: self.going_down, receipts: self.receipts }
    }
}

pub(super) fn change(table: &str, key: String, value: Option<&impl Serialize>) -> RowChange {
    let to_json = |value| serde_json::to_value(value).expect("rows are plain data");
    RowChange { table: table.to_owned(), key, value: value.map(to_json) }
}
