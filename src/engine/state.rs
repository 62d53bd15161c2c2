//! Holds everything that the engine remembers.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::approval::Rules;
use crate::engine::agents::agent::Seat;
use crate::engine::agents::spawn::Spawned;
use crate::engine::agents::stuck::PATIENCE;
use crate::engine::journal::Journal;
use crate::engine::prompts::prompt::Dispatch;
use crate::engine::request_keys::KeptRequest;
use crate::engine::table::Table;
use crate::engine::tasks::tags::Tags;
use crate::engine::teamwork::ownership::Scans;
use crate::engine::teamwork::routing::Routed;
use crate::engine::waits::{ConditionWait, RunWait};
use crate::engine::workspaces::comparisons::Comparisons;
use crate::engine::workspaces::requests::SpaceWait;
use crate::model::{
    AgentName, Attention, Contract, Edge, Lock, Merge, MergeId, MergeTerms, Moment, Need, Play,
    ReceiptId, RequestId, Task, TaskId, Trespass, Workspace,
};

/// Decides what happens to every agent. A copy that is told the same decides the same.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) seats: Table<Seat>,
    pub(super) waits: Vec<RunWait>,
    pub(super) watches: Vec<ConditionWait>,
    pub(super) dispatches: Table<Dispatch>,
    /// Those of them that go further.
    pub(super) open_dispatches: BTreeSet<ReceiptId>,
    /// How many prompts were ever sent.
    pub(super) receipts: u64,
    /// Prompts that an earlier hub was typing when it died, and that have not been looked for yet.
    pub(super) cut_off: BTreeSet<ReceiptId>,
    /// Agents whose interrupt died with an earlier hub.
    pub(super) unstopped: BTreeSet<AgentName>,
    pub(super) tasks: Table<Task>,
    /// Those of them that an agent has in hand.
    pub(super) open_tasks: BTreeSet<TaskId>,
    /// How many tasks were ever added.
    pub(super) task_count: u64,
    pub(super) plays: Table<Play>,
    /// How many runs of playbooks were ever begun.
    pub(super) play_count: u64,
    pub(super) locks: Table<Lock>,
    pub(super) needs: Table<Need>,
    pub(super) need_count: u64,
    /// Every version of each contract, by publisher and title.
    pub(super) contracts: Table<Vec<Contract>>,
    /// Whose words may reach whom, by a person's consent.
    pub(super) edges: Table<Edge>,
    pub(super) routed: Routed,
    pub(super) spawned: Spawned,
    pub(super) attention: Table<Attention>,
    pub(super) attention_count: u64,
    /// When a need will have waited long enough for a person to hear of it.
    pub(super) attention_due: Option<Moment>,
    /// How many agents counted as stuck when that was last looked at.
    pub(super) stuck_count: usize,
    /// What agents did to each other's files, by key.
    pub(super) trespasses: Table<Trespass>,
    /// Who worked in each workspace since it was last looked at.
    pub(super) scans: Scans,
    /// The workspaces that were made, by agent.
    pub(super) workspaces: Table<Workspace>,
    pub(super) space_waits: Vec<SpaceWait>,
    pub(super) comparisons: Comparisons,
    /// Work that is being brought back, or was.
    pub(super) merges: Table<Merge>,
    /// How often work was ever to be brought back.
    pub(super) merge_count: u64,
    pub(super) merge_waits: Vec<(RequestId, MergeId)>,
    /// How the work of a task that is done is brought back, if that happens by itself.
    pub(super) merging: Option<MergeTerms>,
    pub(super) tags: Tags,
    /// Requests that were granted under a key.
    pub(super) kept: Table<KeptRequest>,
    pub(super) going_down: bool,
    pub(super) clients: usize,
    /// Since when nobody needs this hub.
    pub(super) idle_since: Option<Moment>,
    pub(super) journal: Journal,
    /// When the last event came: what was due by then has been seen to.
    pub(super) handled_at: Moment,
    /// How long an agent may stand still before it counts as stuck.
    pub(super) patience: Duration,
    /// Which dialogs are answered without a person.
    pub(super) approvals: Rules,
    /// Whether agents go on by themselves once a limit has ended.
    pub(super) resumes_after_reset: bool,
}

impl Engine {
    /// Returns an engine that knows of no agent.
    pub fn new(now: Moment) -> Self {
        Self {
            seats: Table::default(),
            waits: Vec::new(),
            watches: Vec::new(),
            dispatches: Table::default(),
            open_dispatches: BTreeSet::new(),
            receipts: 0,
            cut_off: BTreeSet::new(),
            unstopped: BTreeSet::new(),
            tasks: Table::default(),
            open_tasks: BTreeSet::new(),
            task_count: 0,
            plays: Table::default(),
            play_count: 0,
            locks: Table::default(),
            needs: Table::default(),
            need_count: 0,
            contracts: Table::default(),
            edges: Table::default(),
            routed: Routed::new(),
            spawned: Spawned::new(),
            attention: Table::default(),
            attention_count: 0,
            attention_due: None,
            stuck_count: 0,
            trespasses: Table::default(),
            scans: Scans::default(),
            workspaces: Table::default(),
            space_waits: Vec::new(),
            comparisons: Comparisons::default(),
            merges: Table::default(),
            merge_count: 0,
            merge_waits: Vec::new(),
            merging: None,
            tags: Tags::default(),
            kept: Table::default(),
            going_down: false,
            clients: 0,
            idle_since: Some(now),
            journal: Journal::default(),
            handled_at: now,
            patience: PATIENCE,
            approvals: Rules::default(),
            resumes_after_reset: false,
        }
    }

    /// Returns the agents in the order of their names.
    pub fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values()
    }

    /// Returns one agent.
    pub fn seat(&self, agent: &AgentName) -> Option<&Seat> {
        self.seats.get(agent)
    }
}
