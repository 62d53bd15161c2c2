//! What the simulated hub does with the engine's effects, and what comes of it.

use wheelhouse::engine::{Effect, Event, Plan, RunEvent, WorkspaceEvent, WorkspaceOrder};
use wheelhouse::model::{
    AgentName, AgentState, Checks, GateResult, Made, MergeOutcome, ProcessId, ReceiptId, Role,
    RunId, Stage, Task, TaskId,
};

use super::crew::World;
use super::team::{AGENTS, launch, member};

impl World {
    pub(super) fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if !self.is_calm && self.random.percent(1) {
                return self.crash();
            }
            match effect {
                Effect::Save(changes) => self.write(changes),
                Effect::Start { agent, run, .. } => {
                    self.pids += 1;
                    let process = ProcessId { pid: self.pids, started: 1 };
                    let before = self.keepers.insert(agent.clone(), (run, process));
                    assert_eq!(before, None, "seed {}: {agent} runs twice", self.seed);
                    // An agent that was forgotten counts its runs anew.
                    self.addressed.remove(&(agent.clone(), run));
                    self.tell(&agent, run, RunEvent::Seen { keeper: process, process });
                    self.does(&agent, run, AgentState::Idle);
                }
                Effect::Adopt { agent, run, .. } => match self.keepers.get(&agent).copied() {
                    Some((run, process)) => {
                        self.tell(&agent, run, RunEvent::Seen { keeper: process, process });
                        self.does(&agent, run, AgentState::Idle);
                    }
                    None => self.tell(&agent, run, RunEvent::KeeperLost),
                },
                Effect::Stop { agent, run, .. } | Effect::Release { agent, run } => {
                    if self.keepers.remove(&agent).is_some() {
                        self.tell(&agent, run, RunEvent::Stopped { survivors: Vec::new() });
                        self.tell(&agent, run, RunEvent::KeeperLost);
                    }
                }
                Effect::Sweep { agent, run } => {
                    self.tell(&agent, run, RunEvent::Swept { survivors: Vec::new() });
                }
                Effect::Deliver { agent, run, receipt, tag, text, .. } => {
                    self.files.write(&text, &mut self.random, self.is_calm);
                    self.work(&agent, run, receipt, tag.as_deref());
                }
                Effect::Renew { agent, run } => {
                    let plan = self.plan(&agent);
                    self.tell(&agent, run, RunEvent::Planned { plan, grace_ms: 1 });
                }
                Effect::Inspect { agent, run, receipt, .. } => {
                    let stage =
                        if self.random.percent(50) { Stage::Accepted } else { Stage::Unknown };
                    self.tell(&agent, run, RunEvent::Delivery { receipt, stage, reason: None });
                }
                effect @ (Effect::RunGates { .. }
                | Effect::RunStageGates { .. }
                | Effect::Scan { .. }
                | Effect::HashFile { .. }
                | Effect::ListModified { .. }) => self.look_at_files(effect),
                Effect::Interrupt { agent, run } => self.does(&agent, run, AgentState::Idle),
                Effect::Workspace(order) => self.keep_house(order),
                // Nobody here shows a dialog, and no rules are set.
                Effect::Approve { .. } => panic!("seed {}: nobody asked", self.seed),
                Effect::Answer { .. } => {}
                Effect::EndHub => return self.crash(),
            }
        }
    }

    /// Answers what is asked about files.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others have nothing to do with files")]
    fn look_at_files(&mut self, effect: Effect) {
        match effect {
            Effect::RunGates { task, attempt, gates, .. } => {
                self.run_gates(task, attempt, gates);
            }
            Effect::Scan { root } => {
                let changes = self.files.look();
                self.news.push_back(Event::Scanned { root, changes: Some(changes) });
            }
            Effect::HashFile { task, attempt, path, .. } => {
                let hash = Some("1".to_owned());
                self.news.push_back(Event::FileHashed { task, attempt, path, hash });
            }
            Effect::RunStageGates { play, stage, round, gates, .. } => {
                let passed = self.is_calm || self.random.percent(60);
                let result = |gate| GateResult { gate, passed, output: "no".to_owned() };
                let results = gates.into_iter().map(result).collect();
                let checks = Checks { results, ..Checks::default() };
                self.news.push_back(Event::StageGates { play, stage, round, checks });
            }
            Effect::ListModified { task, attempt, .. } => {
                let files = vec!["src/a.rs".to_owned()];
                self.news.push_back(Event::ModifiedListed { task, attempt, files });
            }
            _ => {}
        }
    }

    /// Answers what is ordered about workspaces.
    fn keep_house(&mut self, order: WorkspaceOrder) {
        let (agent, event) = match order {
            WorkspaceOrder::Make(workspace) => {
                (workspace.agent, WorkspaceEvent::Made(Made::default()))
            }
            WorkspaceOrder::Clear(workspace, _) => {
                assert!(!self.keepers.contains_key(&workspace.agent), "seed {}", self.seed);
                let event = if self.random.percent(50) {
                    WorkspaceEvent::Cleared { rescue: None }
                } else {
                    WorkspaceEvent::Kept { reason: "1 new file".to_owned() }
                };
                (workspace.agent, event)
            }
            WorkspaceOrder::Rescue(workspace) => {
                (workspace.agent, WorkspaceEvent::Rescued { outcome: Ok(None) })
            }
            WorkspaceOrder::Compare(workspace) => {
                let files = Some(vec![format!("f{}", self.random.below(4))]);
                (workspace.agent, WorkspaceEvent::Compared { files, settings: None })
            }
            WorkspaceOrder::Merge(merge, _) => {
                let outcome = if self.is_calm || self.random.percent(60) {
                    let (commit, tip) = ("c".to_owned(), format!("t{}", merge.id));
                    MergeOutcome::Done { commit, tip, files: Vec::new(), was_there: false }
                } else {
                    MergeOutcome::Conflict { files: vec!["f".to_owned()], onto: "i".to_owned() }
                };
                return self.news.push_back(Event::Merged { merge: merge.id, outcome });
            }
        };
        self.news.push_back(Event::Workspace { agent, event });
    }

    fn plan(&mut self, agent: &AgentName) -> Plan {
        if !self.random.percent(90) {
            return Err("no".to_owned());
        }
        let is_it = |(_, (name, _)): &(usize, &(&str, Role))| *name == agent.as_str();
        let (place, (_, role)) = AGENTS.iter().enumerate().find(is_it).unwrap();
        Ok(Box::new((member(agent.as_str(), *role, place), launch())))
    }

    /// A task that wants a new conversation is the first thing that is said in one.
    pub(super) fn check_freshness(&mut self, agent: &AgentName, run: RunId, receipt: ReceiptId) {
        let is_first = self.addressed.insert((agent.clone(), run));
        let begins = |task: &&Task| task.open().is_some_and(|open| open.receipt == receipt);
        let task = self.engine.tasks().find(begins).filter(|task| task.wants_fresh());
        if let Some(task) = task {
            assert!(is_first, "seed {}: {} begins in an old conversation", self.seed, task.id);
        }
    }

    fn run_gates(&mut self, task: TaskId, attempt: usize, gates: Vec<String>) {
        let passed = self.is_calm || self.random.percent(60);
        if passed {
            self.passed.insert(task);
        }
        let is_restless = !self.is_calm && self.random.percent(15);
        let result = |gate| GateResult { gate, passed, output: "said so".to_owned() };
        let checks = Checks {
            results: gates.into_iter().map(result).collect(),
            tree_before: Some("1".to_owned()),
            tree_after: Some(if is_restless { "2" } else { "1" }.to_owned()),
        };
        self.news.push_back(Event::Gates { task, attempt, checks });
    }
}
