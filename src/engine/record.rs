//! What survives a crash: who is on the team, how far each one came, and what was sent to whom.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::journal::{
    ATTENTION, CONTRACT, DISPATCH, EDGE, HUB, HubRow, LOCK, MERGE, NEED, PLAY, REQUEST, SEAT, TASK,
    TRESPASS, WORKSPACE, change,
};
use crate::engine::request_keys::{KeptRequest, row_key};
use crate::engine::{Dispatch, Effect, Engine, Phase, Seat};
use crate::model::{
    AgentName, AgentState, Attention, Contract, Edge, Lock, Merge, Moment, Need, Outcome, Play,
    RowChange, Task, TaskId, TaskState, Trespass, Workspace, WorkspaceState,
};

/// Stands at a task that ran when the hub died, until its agent is seen again; what was noted about it
/// before stays instead.
pub(super) const AWAITED: &str = "the hub has come back, and its agent not yet";

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
            match table.as_str() {
                HUB => {
                    let hub = HubRow::deserialize(value)?;
                    (record.going_down, record.receipts) = (hub.going_down, hub.receipts);
                    record.work.task_count = hub.tasks;
                    record.work.need_count = hub.needs;
                    record.work.attention_count = hub.attention;
                    record.work.play_count = hub.plays;
                    record.work.merge_count = hub.merges;
                }
                SEAT => record.agents.push(Seat::deserialize(value)?),
                DISPATCH => record.dispatches.push(Dispatch::deserialize(value)?),
                TASK => record.work.tasks.push(Task::deserialize(value)?),
                NEED => record.work.needs.push(Need::deserialize(value)?),
                CONTRACT => record.work.contracts.push(Vec::deserialize(value)?),
                EDGE => record.work.edges.push(Edge::deserialize(value)?),
                ATTENTION => record.work.attention.push(Attention::deserialize(value)?),
                TRESPASS => record.work.trespasses.push(Trespass::deserialize(value)?),
                PLAY => record.work.plays.push(Play::deserialize(value)?),
                LOCK => record.work.locks.push(Lock::deserialize(value)?),
                WORKSPACE => record.work.workspaces.push(Workspace::deserialize(value)?),
                MERGE => record.work.merges.push(Merge::deserialize(value)?),
                REQUEST => record.work.requests.push(KeptRequest::deserialize(value)?),
                // Rows that a later version may keep are none of ours.
                _ => {}
            }
        }
        record.agents.sort_by(|one, other| one.member.name.cmp(&other.member.name));
        record.dispatches.sort_by_key(|dispatch| dispatch.id);
        let work = &mut record.work;
        work.tasks.sort_by_key(|task| task.id);
        work.needs.sort_by_key(|need| need.id);
        work.attention.sort_by_key(|item| item.id);
        work.plays.sort_by_key(|play| play.id);
        work.locks.sort_by(|one, other| one.name.cmp(&other.name));
        work.workspaces.sort_by(|one, other| one.agent.cmp(&other.agent));
        work.merges.sort_by_key(|merge| merge.id);
        work.contracts.sort_by_key(|versions| contract_key(versions));
        work.edges.sort();
        work.trespasses.sort_by_key(Trespass::key);
        work.requests.sort_by_key(KeptRequest::key_of);
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
        let seat = |seat: &Seat| change(SEAT, seat.member.name.to_string(), Some(seat));
        let dispatch = |one: &Dispatch| change(DISPATCH, one.id.to_string(), Some(one));
        let hub = std::iter::once(change(HUB, HUB.to_owned(), Some(&hub)));
        let dispatches = self.dispatches.iter().map(dispatch);
        let tasks = work.tasks.iter().map(|one| change(TASK, one.id.to_string(), Some(one)));
        let needs = work.needs.iter().map(|one| change(NEED, one.id.to_string(), Some(one)));
        let contracts = work.contracts.iter().filter_map(|versions| {
            let Contract { publisher, title, .. } = versions.last()?;
            Some(change(CONTRACT, format!("{publisher}/{title}"), Some(versions)))
        });
        let edges = work.edges.iter().map(|edge| change(EDGE, edge.to_string(), Some(edge)));
        let attention =
            work.attention.iter().map(|item| change(ATTENTION, item.id.to_string(), Some(item)));
        let plays = work.plays.iter().map(|play| change(PLAY, play.id.to_string(), Some(play)));
        let locks = work.locks.iter().map(|lock| change(LOCK, lock.name.clone(), Some(lock)));
        let own = hub.chain(self.agents.iter().map(seat)).chain(dispatches);
        let trespasses = work.trespasses.iter().map(|one| change(TRESPASS, one.key(), Some(one)));
        let told = own.chain(tasks).chain(needs).chain(contracts).chain(edges);
        let spaces = work.workspaces.iter();
        let spaces = spaces.map(|one| change(WORKSPACE, one.agent.to_string(), Some(one)));
        let merges = work.merges.iter().map(|one| change(MERGE, one.id.to_string(), Some(one)));
        let kept = told.chain(attention).chain(trespasses).chain(plays).chain(locks);
        let requests = work.requests.iter();
        let requests = requests.map(|one| change(REQUEST, row_key(&one.key_of()), Some(one)));
        kept.chain(spaces).chain(merges).chain(requests).collect()
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
        let has_row = |prompt: &&Dispatch| !self.looked_up_prompts.contains(&prompt.id);
        Record {
            version: Record::VERSION,
            going_down: self.going_down,
            agents: self.seats.values().cloned().collect(),
            receipts: self.receipts,
            dispatches: self.dispatches.values().filter(has_row).cloned().collect(),
            work: self.work(),
        }
    }

    /// Rebuilds the engine from its record, and says what to look for first.
    ///
    /// Nothing on record is believed to be alive until its keeper has answered.
    #[must_use]
    pub fn recover(record: Record, now: Moment) -> (Self, Vec<Effect>) {
        let mut engine = Self::new(now);
        let mut effects = Vec::new();
        let unmade = record.work.workspaces.iter().filter(|one| one.state != WorkspaceState::Ready);
        let unmade: BTreeSet<AgentName> = unmade.map(|one| one.agent.clone()).collect();
        for mut seat in record.agents {
            let agent = seat.member.name.clone();
            // Whoever still waited for a workspace was never started.
            let is_unmade = seat.phase == Phase::Starting && unmade.contains(&agent);
            if seat.is_live() && !is_unmade {
                let was_seen = seat.phase != Phase::Starting;
                effects.push(Effect::Adopt { agent: agent.clone(), run: seat.run, was_seen });
            }
            // Whoever worked when the hub died may have gone on meanwhile.
            engine.recall_worker(&seat);
            if seat.is_to_stop && seat.is_live() {
                engine.unstopped.insert(agent.clone());
            }
            seat.doubt();
            seat.pace.take_up(now);
            engine.seats.insert(agent, seat);
        }
        engine.receipts = record.receipts;
        engine.dispatches =
            record.dispatches.into_iter().map(|dispatch| (dispatch.id, dispatch)).collect();
        engine.open_dispatches = engine
            .dispatches
            .values()
            .filter(|dispatch| !dispatch.stage.is_final())
            .map(|dispatch| dispatch.id)
            .collect();
        engine.recover_deliveries(now);
        engine.recover_work(record.work, now, &mut effects);
        engine.going_down = record.going_down && engine.seats.values().any(Seat::is_live);
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
    fn work(&self) -> Work {
        let has_row = |task: &&Task| !self.looked_up.contains(&task.id);
        Work {
            task_count: self.task_count,
            need_count: self.need_count,
            attention_count: self.attention_count,
            tasks: self.tasks.values().filter(has_row).cloned().collect(),
            needs: self.needs.values().cloned().collect(),
            contracts: self.contracts.values().cloned().collect(),
            edges: self.edges.iter().cloned().collect(),
            attention: self.attention.values().cloned().collect(),
            trespasses: self.trespasses.values().cloned().collect(),
            play_count: self.play_count,
            plays: self.plays.values().cloned().collect(),
            locks: self.locks.values().cloned().collect(),
            workspaces: self.workspaces.values().cloned().collect(),
            merge_count: self.merge_count,
            merges: self.merges.values().cloned().collect(),
            requests: self.kept.values().cloned().collect(),
        }
    }

    fn recover_work(&mut self, work: Work, now: Moment, effects: &mut Vec<Effect>) {
        self.task_count = work.task_count;
        self.need_count = work.need_count;
        self.attention_count = work.attention_count;
        self.play_count = work.play_count;
        self.workspaces = work.workspaces.into_iter().map(|one| (one.agent.clone(), one)).collect();
        self.merge_count = work.merge_count;
        self.merges = work.merges.into_iter().map(|merge| (merge.id, merge)).collect();
        self.kept = work.requests.into_iter().map(|one| (one.key_of(), one)).collect();
        self.plays = work.plays.into_iter().map(|play| (play.id, play)).collect();
        self.locks = work.locks.into_iter().map(|lock| (lock.name.clone(), lock)).collect();
        self.needs = work.needs.into_iter().map(|need| (need.id, need)).collect();
        self.attention = work.attention.into_iter().map(|item| (item.id, item)).collect();
        self.edges = work.edges.into_iter().collect();
        self.trespasses = work.trespasses.into_iter().map(|one| (one.key(), one)).collect();
        let keyed = |versions: Vec<Contract>| Some((contract_key(&versions)?, versions));
        self.contracts = work.contracts.into_iter().filter_map(keyed).collect();
        self.tasks = work.tasks.into_iter().map(|task| (task.id, task)).collect();
        let is_open = |task: &&Task| task.open().is_some();
        self.open_tasks = self.tasks.values().filter(is_open).map(|task| task.id).collect();
        let ids: Vec<TaskId> = self.tasks.keys().copied().collect();
        for id in ids {
            self.recover_task(id, now, effects);
        }
        self.recheck_stages(effects);
    }

    /// Nothing runs until its agent has been seen; what was asked of the shell is asked again.
    fn recover_task(&mut self, id: TaskId, now: Moment, effects: &mut Vec<Effect>) {
        let task = &self.tasks[&id];
        let Some(open) = task.open() else { return };
        let seat = self.seats.get(&open.agent).filter(|seat| seat.run == open.run);
        let is_there = seat.is_some_and(Seat::is_live);
        if task.state == TaskState::Claimed {
            let claim = open.claim.as_ref();
            let (is_checking, is_looked_at) =
                claim.map_or((false, false), |claim| (claim.is_checking, claim.look.is_some()));
            if is_checking {
                self.run_gates(id, effects);
            } else if is_looked_at {
                self.finish(id, now);
            }
        } else if !is_there {
            self.close_attempt(id, Outcome::Interrupted, "its agent was lost", now);
            self.set_task(id, TaskState::Pending, None, now);
        } else {
            if open.is_lost {
                self.survey(id, task.attempts.len(), effects);
            }
            if task.state == TaskState::Running {
                let note = task.note.clone().unwrap_or_else(|| AWAITED.to_owned());
                self.doubt_task(id, TaskState::Interrupted, Some(note), now);
            }
        }
    }
}

fn contract_key(versions: &[Contract]) -> Option<(AgentName, String)> {
    versions.first().map(|first| (first.publisher.clone(), first.title.clone()))
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
