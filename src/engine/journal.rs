//! What each decision changed, for whoever keeps the record.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::engine::request_keys::{KeyOf, row_key};
use crate::model::{
    AgentName, AttentionId, Changes, Edge, Entry, MergeId, NeedId, PlayId, ReceiptId, RowChange,
    TaskId,
};

pub(super) const HUB: &str = "hub";
pub(super) const SEAT: &str = "seat";
pub(super) const DISPATCH: &str = "dispatch";
pub(super) const TASK: &str = "task";
pub(super) const NEED: &str = "need";
pub(super) const CONTRACT: &str = "contract";
pub(super) const EDGE: &str = "edge";
pub(super) const ATTENTION: &str = "attention";
pub(super) const TRESPASS: &str = "trespass";
pub(super) const PLAY: &str = "run";
pub(super) const LOCK: &str = "lock";
pub(super) const WORKSPACE: &str = "workspace";
pub(super) const MERGE: &str = "merge";
pub(super) const REQUEST: &str = "request";

/// What has changed since the changes were last taken.
#[derive(Clone, Debug, Default)]
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
    Task(TaskId),
    Need(NeedId),
    /// By its publisher and title.
    Contract(AgentName, String),
    Edge(Edge),
    Attention(AttentionId),
    /// By its key.
    Trespass(String),
    Play(PlayId),
    /// By its name.
    Lock(String),
    Workspace(AgentName),
    Merge(MergeId),
    /// By who asked, and under which key.
    Request(KeyOf),
}

/// What is kept of the hub itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct HubRow {
    /// Someone asked for everything to end, and it has not all ended yet.
    pub(super) going_down: bool,
    /// How many prompts were ever sent.
    pub(super) receipts: u64,
    /// How many tasks were ever added, needs ever told, items ever raised.
    pub(super) tasks: u64,
    pub(super) needs: u64,
    pub(super) attention: u64,
    /// How many runs of playbooks were ever begun.
    pub(super) plays: u64,
    /// How often work was ever to be brought back.
    pub(super) merges: u64,
}

impl Engine {
    pub(super) fn touch(&mut self, place: Place) {
        self.journal.touched.insert(place);
    }

    pub(super) fn touch_seat(&mut self, agent: &AgentName) {
        self.touch(Place::Seat(agent.clone()));
    }

    /// Adds a sentence to the story; what is about a task of a run says of which.
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

    pub(super) fn has_changes(&self) -> bool {
        !self.journal.touched.is_empty() || !self.journal.entries.is_empty()
    }

    /// Returns what has changed since the last time, if anything has.
    pub(super) fn take_changes(&mut self) -> Option<Changes> {
        if !self.has_changes() {
            return None;
        }
        let Journal { touched, entries } = std::mem::take(&mut self.journal);
        let rows = touched.into_iter().map(|place| self.row(place)).collect();
        Some(Changes { entries, rows })
    }

    fn row(&self, place: Place) -> RowChange {
        match place {
            Place::Hub => change(HUB, HUB.to_owned(), Some(&self.hub_row())),
            Place::Seat(agent) => change(SEAT, agent.to_string(), self.seats.get(&agent)),
            Place::Dispatch(id) => change(DISPATCH, id.to_string(), self.dispatches.get(&id)),
            Place::Task(id) => change(TASK, id.to_string(), self.tasks.get(&id)),
            Place::Need(id) => change(NEED, id.to_string(), self.needs.get(&id)),
            Place::Contract(publisher, title) => {
                let key = format!("{publisher}/{title}");
                change(CONTRACT, key, self.contracts.get(&(publisher, title)))
            }
            Place::Edge(edge) => change(EDGE, edge.to_string(), self.edges.get(&edge)),
            Place::Attention(id) => change(ATTENTION, id.to_string(), self.attention.get(&id)),
            Place::Trespass(key) => {
                let trespass = self.trespasses.get(&key);
                change(TRESPASS, key, trespass)
            }
            Place::Play(id) => change(PLAY, id.to_string(), self.plays.get(&id)),
            Place::Lock(name) => {
                let lock = self.locks.get(&name);
                change(LOCK, name, lock)
            }
            Place::Workspace(agent) => {
                change(WORKSPACE, agent.to_string(), self.workspaces.get(&agent))
            }
            Place::Merge(id) => change(MERGE, id.to_string(), self.merges.get(&id)),
            Place::Request(key) => change(REQUEST, row_key(&key), self.kept.get(&key)),
        }
    }

    pub(super) fn hub_row(&self) -> HubRow {
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

pub(super) fn change(table: &str, key: String, value: Option<&impl Serialize>) -> RowChange {
    let to_json = |value| serde_json::to_value(value).expect("rows are plain data");
    RowChange { table: table.to_owned(), key, value: value.map(to_json) }
}
