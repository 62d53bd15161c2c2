//! The engine's whole memory, and the one door to change it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::approval::Rules;
use crate::engine::agents::agent::Seat;
use crate::engine::agents::spawn::Spawned;
use crate::engine::agents::stuck::PATIENCE;
use crate::engine::journal::Journal;
use crate::engine::prompts::prompt::Dispatch;
use crate::engine::request_keys::{KeptRequest, KeyOf};
use crate::engine::tasks::tags::Tags;
use crate::engine::teamwork::ownership::Looks;
use crate::engine::teamwork::routing::Routed;
use crate::engine::waits::{Wait, Watch};
use crate::engine::workspaces::comparisons::Comparisons;
use crate::engine::workspaces::requests::SpaceWait;
use crate::model::{
    AgentName, Attention, AttentionId, Contract, Edge, Lock, Merge, MergeId, MergeTerms, Moment,
    Need, NeedId, Play, PlayId, ReceiptId, RequestId, Task, TaskId, Trespass, Workspace,
};

/// Decides what happens to every agent. A copy that is told the same decides the same.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) seats: BTreeMap<AgentName, Seat>,
    pub(super) waits: Vec<Wait>,
    pub(super) watches: Vec<Watch>,
    pub(super) dispatches: BTreeMap<ReceiptId, Dispatch>,
    /// Those of them that go further.
    pub(super) open_dispatches: BTreeSet<ReceiptId>,
    /// How many prompts were ever sent.
    pub(super) receipts: u64,
    /// Prompts that an earlier hub was typing when it died, and that have not been looked for yet.
    pub(super) cut_off: BTreeSet<ReceiptId>,
    /// Agents whose interrupt died with an earlier hub.
    pub(super) unstopped: BTreeSet<AgentName>,
    pub(super) tasks: BTreeMap<TaskId, Task>,
    /// Those of them that an agent has in hand.
    pub(super) open_tasks: BTreeSet<TaskId>,
    /// Those of them that had left memory, and were looked up for the request that is being handled:
    /// there are no rows of them.
    pub(super) looked_up: BTreeSet<TaskId>,
    /// The same of prompts.
    pub(super) looked_up_prompts: BTreeSet<ReceiptId>,
    /// How many tasks were ever added.
    pub(super) task_count: u64,
    pub(super) plays: BTreeMap<PlayId, Play>,
    /// How many runs of playbooks were ever begun.
    pub(super) play_count: u64,
    pub(super) locks: BTreeMap<String, Lock>,
    pub(super) needs: BTreeMap<NeedId, Need>,
    pub(super) need_count: u64,
    /// Every version of each contract, by publisher and title.
    pub(super) contracts: BTreeMap<(AgentName, String), Vec<Contract>>,
    /// Whose words may reach whom, by a person's consent.
    pub(super) edges: BTreeSet<Edge>,
    pub(super) routed: Routed,
    pub(super) spawned: Spawned,
    pub(super) attention: BTreeMap<AttentionId, Attention>,
    pub(super) attention_count: u64,
    /// When a need will have waited long enough for a person to hear of it.
    pub(super) attention_due: Option<Moment>,
    /// How many agents counted as stuck when that was last looked at.
    pub(super) stuck_count: usize,
    /// What agents did to each other's files, by key.
    pub(super) trespasses: BTreeMap<String, Trespass>,
    /// Who worked in each workspace since it was last looked at.
    pub(super) looks: Looks,
    /// The workspaces that were made, by agent.
    pub(super) workspaces: BTreeMap<AgentName, Workspace>,
    pub(super) space_waits: Vec<SpaceWait>,
    pub(super) comparisons: Comparisons,
    /// Work that is being brought back, or was.
    pub(super) merges: BTreeMap<MergeId, Merge>,
    /// How often work was ever to be brought back.
    pub(super) merge_count: u64,
    pub(super) merge_waits: Vec<(RequestId, MergeId)>,
    /// How the work of a task that is done is brought back, if that happens by itself.
    pub(super) merging: Option<MergeTerms>,
    pub(super) tags: Tags,
    /// Requests that were granted under a key.
    pub(super) kept: BTreeMap<KeyOf, KeptRequest>,
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
            seats: BTreeMap::new(),
            waits: Vec::new(),
            watches: Vec::new(),
            dispatches: BTreeMap::new(),
            open_dispatches: BTreeSet::new(),
            receipts: 0,
            cut_off: BTreeSet::new(),
            unstopped: BTreeSet::new(),
            tasks: BTreeMap::new(),
            open_tasks: BTreeSet::new(),
            looked_up: BTreeSet::new(),
            looked_up_prompts: BTreeSet::new(),
            task_count: 0,
            plays: BTreeMap::new(),
            play_count: 0,
            locks: BTreeMap::new(),
            needs: BTreeMap::new(),
            need_count: 0,
            contracts: BTreeMap::new(),
            edges: BTreeSet::new(),
            routed: Routed::new(),
            spawned: Spawned::new(),
            attention: BTreeMap::new(),
            attention_count: 0,
            attention_due: None,
            stuck_count: 0,
            trespasses: BTreeMap::new(),
            looks: Looks::default(),
            workspaces: BTreeMap::new(),
            space_waits: Vec::new(),
            comparisons: Comparisons::default(),
            merges: BTreeMap::new(),
            merge_count: 0,
            merge_waits: Vec::new(),
            merging: None,
            tags: Tags::default(),
            kept: BTreeMap::new(),
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
