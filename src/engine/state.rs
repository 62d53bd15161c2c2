//! The engine's whole memory, and the one door to change it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::comparisons::Comparisons;
use super::dispatch::Dispatch;
use super::journal::Journal;
use super::keys::{KeptRequest, KeyOf};
use super::ownership::Looks;
use super::patience::{PATIENCE, Pace};
use super::reach::Unreachable;
use super::readiness::Readiness;
use super::routing::Routed;
use super::space_requests::SpaceWait;
use super::spawn::Spawned;
use super::tags::Tags;
use super::waits::{Wait, Watch};
use super::{Effect, Event};
use crate::approval::Rules;
use crate::model::{
    AgentName, AgentState, Attention, AttentionId, Contract, Edge, Ending, Entry, Launch, Lock,
    Member, Merge, MergeId, MergeTerms, Moment, Need, NeedId, Play, PlayId, Plot, ProcessId,
    ReceiptId, RequestId, Reset, RunId, Source, Task, TaskId, Trespass, Workspace,
};

/// A hub that serves nobody and holds no agent ends itself after this long.
const LINGER: Duration = Duration::from_mins(1);

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
    clients: usize,
    /// Since when nobody needs this hub.
    idle_since: Option<Moment>,
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

/// One agent's place on the team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub member: Member,
    pub run: RunId,
    pub phase: Phase,
    pub state: AgentState,
    /// Who says so.
    #[serde(default = "by_process")]
    pub source: Source,
    /// Since when it is in this state.
    pub since: Moment,
    /// How it gets on.
    #[serde(default)]
    pub pace: Pace,
    /// It is to be interrupted, and was not seen to rest since.
    #[serde(default)]
    pub(super) is_to_stop: bool,
    /// Until when its dialog is left to the rules that may answer it, and nobody is called.
    #[serde(skip)]
    pub(super) rules_until: Option<Moment>,
    /// When it may get its next prompt.
    #[serde(skip)]
    pub readiness: Readiness,
    /// How many of this run's reports the rest of the record takes into account.
    #[serde(default)]
    pub reports: u64,
    /// Something was said to this run beside what its team says first.
    #[serde(default = "yes")]
    pub is_used: bool,
    /// Tokens that this run was seen to use; nothing, if its cli shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// When the limit ends that holds it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
    /// The task for which it begins anew; nothing of this outlives the hub.
    #[serde(skip)]
    pub(super) renews_for: Option<TaskId>,
    /// Why it cannot begin anew.
    #[serde(skip)]
    pub(super) no_renewal: Option<String>,
    /// Present while nobody reaches the place where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<Unreachable>,
    pub keeper: Option<ProcessId>,
    pub process: Option<ProcessId>,
    /// What went wrong, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What to start once this run has ended. Holds an environment, so it is never written down: a
    /// crash in the middle of a restart leaves the agent stopped.
    #[serde(skip)]
    pub(super) next: Option<(Member, Launch)>,
    /// What to start once its workspace is there; nothing of it outlives the hub either.
    #[serde(skip)]
    pub(super) held: Option<(Plot, Launch)>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Its start is on record, and its keeper has not been seen yet.
    Starting,
    Running,
    Stopping,
    /// Its tree is proven empty; its keeper has yet to let go of the agent's lock.
    Leaving(Ending),
    /// Its keeper was lost; what that may have left behind is being looked for.
    Sweeping(Ending),
    /// Nothing of it is left, and the agent's lock is free.
    Ended(Ending),
}

fn by_process() -> Source {
    Source::Process
}

/// Of a run that an older record tells of, nobody knows.
fn yes() -> bool {
    true
}

impl Seat {
    /// Says whether the agent's tree is proven empty.
    pub fn is_gone(&self) -> bool {
        match self.phase {
            Phase::Leaving(_) | Phase::Ended(_) => true,
            Phase::Starting | Phase::Running | Phase::Stopping | Phase::Sweeping(_) => false,
        }
    }

    /// Says whether something of this run may still be there, its keeper included.
    pub fn is_live(&self) -> bool {
        match self.phase {
            Phase::Starting
            | Phase::Running
            | Phase::Stopping
            | Phase::Leaving(_)
            | Phase::Sweeping(_) => true,
            Phase::Ended(_) => false,
        }
    }
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

    /// Takes one event and returns the orders that follow from it.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.handled_at = now;
        match event {
            Event::Asked { request, command, by, key } => {
                self.obey_once(request, command, (by, key), now, &mut effects);
            }
            Event::AskedAgain { request, by, key } => {
                self.answer_again(request, by, &key, &mut effects);
            }
            Event::AskerLeft { request } => {
                self.waits.retain(|wait| wait.request != request);
                self.watches.retain(|watch| watch.request != request);
                self.drop_space_waits(request);
            }
            Event::Run { agent, run, event } => {
                self.note_run(&agent, run, event, now, &mut effects);
            }
            Event::Began { seed } => self.begin_hub(seed, now, &mut effects),
            Event::Gates { task, attempt, checks } => {
                self.note_gates(task, attempt, checks, now, &mut effects);
            }
            Event::StageGates { play, stage, round, checks } => {
                self.note_stage_gates(play, stage, round, &checks, now, &mut effects);
            }
            Event::Surveyed { task, attempt, files } => {
                self.note_survey(task, attempt, &files, now);
            }
            Event::Weighed { task, attempt, path, hash } => {
                self.note_weight(task, attempt, &path, hash);
            }
            Event::Looked { root, changes } => self.note_look(&root, changes, now),
            Event::Workspace { agent, event } => {
                self.note_workspace(&agent, event, now, &mut effects);
            }
            Event::Merged { merge, outcome } => {
                self.note_merged(merge, &outcome, now, &mut effects);
            }
            Event::LookedUp { tasks, dispatches } => self.take_looked_up(tasks, dispatches),
            Event::ClientCame => self.clients += 1,
            Event::ClientLeft => self.clients = self.clients.saturating_sub(1),
            Event::DeadlineReached => {
                self.mark_stuck(now);
                self.stop_expecting(now);
                self.watch_play_limits(now, &mut effects);
                self.watch_limits(now, &mut effects);
                self.end_if_unneeded(now, &mut effects);
            }
        }
        self.tend_locks(now);
        self.weigh_verdicts(now, &mut effects);
        self.leave_limits(now);
        self.hand_out(now, &mut effects);
        while self.follow_plays(now, &mut effects) {
            self.hand_out(now, &mut effects);
        }
        self.deliver_ready(now, &mut effects);
        self.note_workers(now, &mut effects);
        self.order_comparisons(&mut effects);
        self.advance_merges(now, &mut effects);
        self.forget_ended();
        self.note_attention(now);
        self.settle_watches(now, &mut effects);
        self.note_idleness(now);
        if let Some(changes) = self.take_changes() {
            effects.insert(0, Effect::Save(changes));
        }
        self.assert_invariants();
        self.assert_work();
        effects
    }

    /// Returns the moment at which the shell must report `DeadlineReached`.
    pub fn next_deadline(&self) -> Option<Moment> {
        let deadlines = [
            self.linger_deadline(),
            self.stuck_deadline(),
            self.delivery_deadline(),
            self.limits_deadline(),
            self.quota_deadline(),
            self.hand_out_deadline(),
            self.stall_deadline(),
            self.lock_deadline(),
            self.attention_due,
        ];
        deadlines.into_iter().flatten().min()
    }

    fn linger_deadline(&self) -> Option<Moment> {
        self.idle_since.map(|since| since + LINGER)
    }

    /// Returns the agents in the order of their names.
    pub fn seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values()
    }

    /// Returns one agent.
    pub fn seat(&self, agent: &AgentName) -> Option<&Seat> {
        self.seats.get(agent)
    }

    fn begin_hub(&mut self, seed: u64, now: Moment, effects: &mut Vec<Effect>) {
        self.tags.seed = seed;
        self.recover_workspaces(now, effects);
        self.recover_merges(effects);
        // What agents did since the last entry nobody saw.
        if self.seats.values().any(Seat::is_live) {
            self.tell(Entry::new("hub.back", "a hub takes over from one that is gone"));
        }
    }

    pub(super) fn note_idleness(&mut self, now: Moment) {
        let is_needed = self.clients > 0
            || self.seats.values().any(Seat::is_live)
            || self.is_busy_with_workspaces();
        self.idle_since = if is_needed { None } else { self.idle_since.or(Some(now)) };
    }

    fn end_if_unneeded(&self, now: Moment, effects: &mut Vec<Effect>) {
        if self.linger_deadline().is_some_and(|deadline| deadline <= now) {
            effects.push(Effect::EndHub);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RunEvent;
    use super::super::fixture::{Bench, stopped};
    use super::*;

    #[test]
    fn a_hub_that_nobody_needs_ends_itself() {
        let mut bench = Bench::with_running(&["one"]);
        let (state, source) = (AgentState::Unknown, Source::Silence);
        let _ = bench.tell("one", RunEvent::Did { state, source });
        assert_eq!(bench.engine.next_deadline(), None, "it holds an agent");
        let _ = bench.stop("one");
        let _ = bench.tell("one", stopped());
        let _ = bench.tell("one", RunEvent::KeeperLost);
        let deadline = bench.engine.next_deadline().unwrap();
        assert_eq!(bench.engine.handle(Event::DeadlineReached, Moment(0)), [], "not yet");
        let effects = bench.engine.handle(Event::DeadlineReached, deadline);
        assert_eq!(effects, [Effect::EndHub]);
    }

    #[test]
    fn a_client_keeps_the_hub() {
        let mut engine = Engine::new(Moment(0));
        let _ = engine.handle(Event::ClientCame, Moment(1));
        assert_eq!(engine.next_deadline(), None);
        let _ = engine.handle(Event::ClientLeft, Moment(2));
        assert_eq!(engine.next_deadline(), Some(Moment(2) + LINGER));
    }
}
