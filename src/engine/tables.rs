//! Declares the tables of the record, each once: its name on disk, its key and its row.

use serde::Deserialize;
use serde_json::Value;

use crate::engine::request_keys::{KeptRequest, KeyOf};
use crate::engine::table::{Row, Table, row_change};
use crate::engine::{Dispatch, Engine, Record, Seat};
use crate::model::{
    AgentName, Attention, AttentionId, Contract, Edge, Lock, Merge, MergeId, Need, NeedId, Play,
    PlayId, ReceiptId, RowChange, Task, TaskId, Trespass, Workspace,
};

/// Declares tables: where each stands in the record and in the engine, its name on disk, its row, its
/// key, how a row tells its key, and how a key is written.
macro_rules! tables {
    ($(
        $($in_record:ident).+ = $in_engine:ident,
        $name:literal: $row:ty, $key:ty, $key_of:expr, $on_disk:expr;
    )*) => {
        $(impl Row for $row {
            const TABLE: &'static str = $name;
            type Key = $key;

            fn key(&self) -> Option<$key> {
                let key_of: fn(&$row) -> Option<$key> = $key_of;
                key_of(self)
            }

            fn key_on_disk(key: &$key) -> String {
                let on_disk: fn(&$key) -> String = $on_disk;
                on_disk(key)
            }
        })*

        impl Record {
            /// Takes in one row of a table; a table that a later version may keep is none of ours.
            pub(super) fn take_row(
                &mut self,
                table: &str,
                value: &Value,
            ) -> Result<(), serde_json::Error> {
                match table {
                    $($name => self.$($in_record).+.push(<$row>::deserialize(value)?),)*
                    _ => {}
                }
                Ok(())
            }

            /// Puts the rows of every table in the order of their keys.
            pub(super) fn sort(&mut self) {
                $(self.$($in_record).+.sort_by_key(Row::key);)*
            }

            /// Returns the rows of every table as they stand on disk.
            pub(super) fn table_rows(&self) -> Vec<RowChange> {
                let mut rows = Vec::new();
                $(for row in &self.$($in_record).+ {
                    rows.extend(Row::key(row).map(|key| row_change(&key, Some(row))));
                })*
                rows
            }
        }

        impl Engine {
            /// Copies what every table holds.
            pub(super) fn copy_tables(&self, record: &mut Record) {
                $(record.$($in_record).+ = self.$in_engine.recorded();)*
            }

            /// Fills every table from the record.
            pub(super) fn fill_tables(&mut self, record: &mut Record) {
                $(self.$in_engine = Table::from_record(std::mem::take(&mut record.$($in_record).+));)*
            }

            pub(super) fn may_have_changed_rows(&self) -> bool {
                false $(|| self.$in_engine.may_have_changed())*
            }

            /// Returns the rows that have changed since the last time.
            pub(super) fn take_changed_rows(&mut self) -> Vec<RowChange> {
                let mut rows = Vec::new();
                $(rows.extend(self.$in_engine.take_changes());)*
                rows
            }
        }
    };
}

tables! {
    agents = seats,
        "seat": Seat, AgentName, |seat| Some(seat.member.name.clone()), ToString::to_string;
    dispatches = dispatches,
        "dispatch": Dispatch, ReceiptId, |prompt| Some(prompt.id), ToString::to_string;
    work.tasks = tasks,
        "task": Task, TaskId, |task| Some(task.id), ToString::to_string;
    work.needs = needs,
        "need": Need, NeedId, |need| Some(need.id), ToString::to_string;
    work.contracts = contracts,
        "contract": Vec<Contract>, (AgentName, String),
        |versions| versions.first().map(|first| (first.publisher.clone(), first.title.clone())),
        |(publisher, title)| format!("{publisher}/{title}");
    work.edges = edges,
        "edge": Edge, Edge, |edge| Some(edge.clone()), ToString::to_string;
    work.attention = attention,
        "attention": Attention, AttentionId, |item| Some(item.id), ToString::to_string;
    work.trespasses = trespasses,
        "trespass": Trespass, String, |trespass| Some(trespass.key()), Clone::clone;
    work.plays = plays,
        "run": Play, PlayId, |play| Some(play.id), ToString::to_string;
    work.locks = locks,
        "lock": Lock, String, |lock| Some(lock.name.clone()), Clone::clone;
    work.workspaces = workspaces,
        "workspace": Workspace, AgentName, |one| Some(one.agent.clone()), ToString::to_string;
    work.merges = merges,
        "merge": Merge, MergeId, |merge| Some(merge.id), ToString::to_string;
    work.requests = kept,
        "request": KeptRequest, KeyOf, |kept| Some(kept.key_of()),
        |(by, key)| format!("{}/{key}", by.as_ref().map_or("", AgentName::as_str));
}
