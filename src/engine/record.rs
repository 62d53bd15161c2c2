//! Builds the record that survives a crash, and the engine from it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::journal::{HUB, HubRow};
use crate::engine::request_keys::KeptRequest;
use crate::engine::{Dispatch, Effect, Engine, Phase, Seat};
use crate::model::{
    AgentName, AgentState, Attention, ClaimProgress, Contract, Edge, Lock, Merge, Moment, Need,
    Outcome, Play, RowChange, Task, TaskId, TaskState, Trespass, Workspace, WorkspaceState,
};

/// Stands at a task that ran when the hub died, until its agent is seen again; what was noted about it
/// before stays instead.
pub(super) const AWAITED: &str = "the hub has restarted, its agent is not back yet";

/// The tasks, and what goes with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// How many tasks were ever added, needs ever told, items ever raised.
    pub task_count: u64,
    pub need_count: u64,
    pub attention_count: u64,
    pub tasks: Vec<Task>,
    pub needs: Vec<Need>,
    /// Every version of each contract.
    pub contracts: Vec<Vec<Contract>>,
    pub edges: Vec<Edge>,
    pub attention: Vec<Attention>,
    /// What agents did to each other's files.
    #[serde(default)]
    pub trespasses: Vec<Trespass>,
    /// How many runs of playbooks were ever begun.
    #[serde(default)]
    pub play_count: u64,
    #[serde(default)]
    pub plays: Vec<Play>,
    #[serde(default)]
    pub locks: Vec<Lock>,
    #[serde(default)]
    pub workspaces: Vec<Workspace>,
    /// How often work was ever to be brought back.
    #[serde(default)]
    pub merge_count: u64,
    #[serde(default)]
    pub merges: Vec<Merge>,
    /// Requests that were granted under a key.
    #[serde(default)]
    pub requests: Vec<KeptRequest>,
}

/// The engine's memory as it is written to disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The form of this file; a newer form is refused, never overwritten.
    pub version: u32,
    /// Someone asked for everything to end, and it has not all ended yet.
    pub going_down: bool,
    pub agents: Vec<Seat>,
    /// How many prompts were ever sent.
    #[serde(default)]
    pub receipts: u64,
    #[serde(default)]
    pub dispatches: Vec<Dispatch>,
    #[serde(default)]
    pub work: Work,
}

impl Record {
    /// The form that this version reads and writes.
    pub const VERSION: u32 = 1;

    /// Puts the record together from the last value of each of its rows, by table and key.
    pub fn from_rows(rows: &BTreeMap<(String, String), Value>) -> Result<Self, serde_json::Error> {
        let mut record = Self::default();
        for ((table, _), value) in rows {
            if table == HUB {
                let hub = HubRow::deserialize(value)?;
                (record.going_down, record.receipts) = (hub.going_down, hub.receipts);
                record.work.task_count = hub.tasks;
                record.work.need_count = hub.needs;
                record.work.attention_count = hub.attention;
                record.work.play_count = hub.plays;
                record.work.merge_count = hub.merges;
            } else {
                record.take_row(table, value)?;
            }
        }
        record.sort();
        Ok(record)
    }

    /// Returns the rows that the record consists of.
    pub fn rows(&self) -> Vec<RowChange> {
        let work = &self.work;
        let hub = HubRow {
            going_down: self.going_down,
            receipts: self.receipts,
            tasks: work.task_count,
            needs: work.need_count,
            attention: work.attention_count,
            plays: work.play_count,
            merges: work.merge_count,
        };
        let mut rows = vec![hub.to_row()];
        rows.extend(self.table_rows());
        rows
    }
}

impl Default for Record {
    fn default() -> Self {
        let (agents, dispatches) = (Vec::new(), Vec::new());
        let work = Work::default();
        Self { version: Self::VERSION, going_down: false, agents, receipts: 0, dispatches, work }
    }
}

impl Engine {
    /// Returns what must survive a crash.
    pub fn record(&self) -> Record {
        let mut record = Record {
            going_down: self.going_down,
            receipts: self.receipts,
            work: Work {
                task_count: self.task_count,
                need_count: self.need_count,
                attention_count: self.attention_count,
                play_count: self.play_count,
                merge_count: self.merge_count,
                ..Work::default()
            },
            ..Record::default()
        };
        self.copy_tables(&mut record);
        record
    }

    /// Rebuilds the engine from its record, and says what to look for first.
    ///
    /// Nothing on record is believed to be alive until its keeper has answered.
    #[must_use]
    pub fn recover(mut record: Record, now: Moment) -> (Self, Vec<Effect>) {
        let mut engine = Self::new(now);
        let mut effects = Vec::new();
        let unmade = record.work.workspaces.iter().filter(|one| one.state != WorkspaceState::Ready);
        let unmade: BTreeSet<AgentName> = unmade.map(|one| one.agent.clone()).collect();
        for seat in &mut record.agents {
            let agent = seat.member.name.clone();
            // Whoever still waited for a workspace was never started.
            let is_unmade = seat.phase == Phase::Starting && unmade.contains(&agent);
            if seat.is_live() && !is_unmade {
                let was_seen = seat.phase != Phase::Starting;
                effects.push(Effect::Adopt { agent: agent.clone(), run: seat.run, was_seen });
            }
            // Whoever worked when the hub died may have gone on meanwhile.
            engine.recall_worker(seat);
            if seat.is_to_stop && seat.is_live() {
                engine.unstopped.insert(agent);
            }
            seat.doubt();
            seat.pace.take_up(now);
        }
        engine.fill_tables(&mut record);
        let is_open = |prompt: &&Dispatch| !prompt.stage.is_final();
        let open = engine.dispatches.values().filter(is_open);
        engine.open_dispatches = open.map(|prompt| prompt.id).collect();
        let is_open = |task: &&Task| task.open().is_some();
        engine.open_tasks = engine.tasks.values().filter(is_open).map(|task| task.id).collect();
        let Record { going_down, receipts, work, .. } = record;
        (engine.going_down, engine.receipts, engine.task_count) =
            (going_down, receipts, work.task_count);
        (engine.need_count, engine.attention_count) = (work.need_count, work.attention_count);
        (engine.play_count, engine.merge_count) = (work.play_count, work.merge_count);
        engine.note_hub_row();
        engine.recover_deliveries(now);
        for id in engine.tasks.keys().copied().collect::<Vec<TaskId>>() {
            engine.recover_task(id, now, &mut effects);
        }
        engine.recheck_stages(&mut effects);
        engine.going_down &= engine.seats.values().any(Seat::is_live);
        engine.note_idleness(now);
        (engine, effects)
    }
}

impl Engine {
    /// Says whether it is still open what became of a run that the record says is alive.
    pub fn is_recovering(&self) -> bool {
        self.seats
            .values()
            .any(|seat| seat.is_live() && seat.process.is_none() && seat.unreachable.is_none())
    }
}

impl Engine {
    /// Nothing runs until its agent has been seen; what was asked of the shell is asked again.
    fn recover_task(&mut self, id: TaskId, now: Moment, effects: &mut Vec<Effect>) {
        let task = &self.tasks[&id];
        let Some(open) = task.open() else { return };
        let seat = self.seats.get(&open.agent).filter(|seat| seat.run == open.run);
        let is_there = seat.is_some_and(Seat::is_live);
        if task.state == TaskState::Claimed {
            let claim = open.claim.as_ref();
            match claim.map(|claim| claim.progress) {
                Some(ClaimProgress::Gates) => self.run_gates(id, effects),
                Some(ClaimProgress::Ownership { .. }) => self.finish(id, now),
                Some(ClaimProgress::Idle | ClaimProgress::Verification) | None => {}
            }
        } else if !is_there {
            self.close_attempt(id, Outcome::Interrupted, "its agent was lost", now);
            self.set_task(id, TaskState::Pending, None, now);
        } else {
            if open.is_lost {
                self.list_modified(id, task.attempts.len(), effects);
            }
            if task.state == TaskState::Running {
                let note = task.note.clone().unwrap_or_else(|| AWAITED.to_owned());
                self.doubt_task(id, TaskState::Interrupted, Some(note), now);
            }
        }
    }
}

impl Seat {
    /// Takes back what only a living keeper can tell, and what contradicts the rest.
    fn doubt(&mut self) {
        if self.is_live() {
            (self.keeper, self.process) = (None, None);
        }
        // Whether its place is within reach this hub has yet to find out.
        self.unreachable = None;
        if self.phase == Phase::Running {
            self.phase = Phase::Starting;
        }
        match (self.is_gone(), self.state == AgentState::Exited) {
            (false, true) => self.state = AgentState::Starting,
            (true, false) => self.state = AgentState::Exited,
            (true, true) | (false, false) => {}
        }
    }
}
