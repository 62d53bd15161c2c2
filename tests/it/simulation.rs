//! Drives the engine through storms of commands, crashes and dying keepers, and then through calm.
//!
//! Every run is fixed by its seed: a failure prints the seed that replays it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use wheelhouse::engine::{Effect, Engine, Event, Phase, Record, RunEvent};
use wheelhouse::model::{
    AgentName, AgentState, Changes, Command, Exit, Letter, Manner, Member, Moment, ProcessId,
    ProcessInfo, ReceiptId, RequestId, Role, RunId, Source, Stage,
};

use super::support::chance::Chance;
use super::support::team::{self, begun, is_touched};

const SEEDS: u64 = 150;
const STORM_STEPS: u32 = 400;
const CALM_STEPS: u32 = 2000;

#[test]
fn no_agent_runs_twice_and_every_request_ends_whatever_dies() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        for _ in 0..STORM_STEPS {
            world.storm();
        }
        world.is_calm = true;
        for _ in 0..CALM_STEPS {
            world.step();
        }
        world.assert_settled();
    }
}

#[test]
fn the_same_seed_gives_the_same_story() {
    let story = |seed| {
        let mut world = World::new(seed);
        (0..STORM_STEPS).for_each(|_| world.storm());
        (world.starts, format!("{:?}", world.engine.record()))
    };
    assert_eq!(story(7), story(7));
    assert_ne!(story(7), story(8));
}

/// The hub's surroundings: keepers that do as they are told, late, or die.
struct World {
    seed: u64,
    random: Chance,
    engine: Engine,
    now: Moment,
    /// The last value of every row that was written.
    disk: BTreeMap<(String, String), serde_json::Value>,
    /// Prompts whose typing was ordered, ever.
    typed: BTreeSet<ReceiptId>,
    keepers: BTreeMap<AgentName, Keeper>,
    /// What happened and has not reached the hub yet, in order for each agent.
    news: BTreeMap<AgentName, VecDeque<(RunId, RunEvent)>>,
    open: BTreeSet<RequestId>,
    next_request: u64,
    next_pid: u32,
    starts: u32,
    is_calm: bool,
}

struct Keeper {
    run: RunId,
    process: ProcessId,
    has_ended: bool,
    /// It was told to stop, and something could not be killed yet.
    is_haunted: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            random: Chance::new(seed),
            engine: Engine::new(Moment(0)),
            now: Moment(0),
            disk: BTreeMap::new(),
            typed: BTreeSet::new(),
            keepers: BTreeMap::new(),
            news: BTreeMap::new(),
            open: BTreeSet::new(),
            next_request: 0,
            next_pid: 100,
            starts: 0,
            is_calm: false,
        }
    }

    fn storm(&mut self) {
        match self.random.below(20) {
            0..=4 => self.ask(),
            5 => self.crash(),
            6 | 7 => self.kill_keeper(),
            8 => self.agent_exits(),
            9 => self.drop_line(),
            _ => self.step(),
        }
    }

    /// Lets one piece of news arrive.
    fn step(&mut self) {
        self.now = self.now + Duration::from_millis(self.random.below(5_000));
        let waiting: Vec<_> = self.news.iter().filter(|(_, queue)| !queue.is_empty()).collect();
        if waiting.is_empty() {
            if self.engine.next_deadline().is_some_and(|deadline| deadline <= self.now) {
                self.report(Event::DeadlineReached);
            }
            return self.lay_to_rest();
        }
        let pick = usize::try_from(self.random.below(waiting.len() as u64)).unwrap();
        let agent = waiting[pick].0.clone();
        let (run, event) = self.news.get_mut(&agent).unwrap().pop_front().unwrap();
        self.report(Event::Run { agent, run, event });
    }

    fn ask(&mut self) {
        let count = 1 + self.random.below(3);
        let names: BTreeSet<_> = (0..count).map(|_| name(self.random.below(5))).collect();
        let crew =
            |team: &str| names.iter().map(|name| (member(name, team), team::launch())).collect();
        let grace_ms = 100;
        let command = match self.random.below(14) {
            0..=3 => Command::Start { members: crew("a") },
            4 => Command::Start { members: crew("b") },
            5 | 6 => Command::Stop { agents: names.into_iter().collect(), grace_ms },
            7 => Command::Restart { members: crew("a"), grace_ms },
            8 => Command::Forget { agents: names.into_iter().collect(), abandon: false },
            10..=13 => Command::Dispatch {
                letters: names.into_iter().map(letter).collect(),
                idempotency_key: None,
                manner: Manner::default(),
            },
            _ => Command::Down { force: self.random.percent(50), grace_ms },
        };
        self.next_request += 1;
        let request = RequestId(self.next_request);
        self.open.insert(request);
        self.report(Event::Asked { request, command, by: None, key: None });
    }

    fn report(&mut self, event: Event) {
        let begun = begun(&event);
        let effects = self.engine.handle(event, self.now);
        self.carry_out(effects);
        if let Some((.., receipt)) = begun.filter(|(.., id)| is_touched(&self.engine, *id)) {
            let seed = self.seed;
            assert!(self.typed.insert(receipt), "seed {seed}: {receipt} is typed twice");
        }
    }

    /// Carries effects out; in a storm the hub may die between any two of them.
    fn carry_out(&mut self, effects: Vec<Effect>) {
        let mut saved_before_start = false;
        for effect in effects {
            if !self.is_calm && self.random.percent(2) {
                return self.crash();
            }
            match effect {
                Effect::Save(changes) => {
                    self.write(changes);
                    saved_before_start = true;
                }
                Effect::Deliver { agent, run, receipt, .. } => {
                    let seed = self.seed;
                    assert!(saved_before_start, "seed {seed}: {receipt} is typed off record");
                    self.type_in(&agent, run, receipt);
                }
                Effect::Inspect { agent, run, receipt, .. } => {
                    let stage =
                        if self.random.percent(50) { Stage::Accepted } else { Stage::Unknown };
                    self.tell(&agent, run, RunEvent::Delivery { receipt, stage, reason: None });
                }
                Effect::Start { agent, run, .. } => {
                    assert!(saved_before_start, "seed {}: {agent} starts off record", self.seed);
                    self.start(&agent, run);
                }
                Effect::Adopt { agent, run, .. } => self.adopt(&agent, run),
                Effect::Stop { agent, run, .. } => self.stop(&agent, run),
                Effect::Release { agent, run } => self.release(&agent, run),
                Effect::Sweep { agent, run } => {
                    assert!(!self.keepers.contains_key(&agent), "seed {}", self.seed);
                    self.tell(&agent, run, RunEvent::Swept { survivors: Vec::new() });
                }
                Effect::RunGates { .. }
                | Effect::RunStageGates { .. }
                | Effect::ListModified { .. }
                | Effect::Approve { .. }
                | Effect::Renew { .. }
                | Effect::Scan { .. }
                | Effect::HashFile { .. }
                | Effect::Workspace(_)
                | Effect::Interrupt { .. } => {
                    panic!("seed {}: there are no tasks here", self.seed)
                }
                Effect::Answer { request, .. } => {
                    assert!(self.open.remove(&request), "seed {}: answered twice", self.seed);
                }
                Effect::EndHub => return self.crash(),
            }
        }
    }

    fn write(&mut self, changes: Changes) {
        for row in changes.rows {
            match row.value {
                Some(value) => self.disk.insert((row.table, row.key), value),
                None => self.disk.remove(&(row.table, row.key)),
            };
        }
    }

    fn saved(&self) -> Record {
        Record::from_rows(&self.disk).unwrap()
    }

    /// A pane takes a prompt, or not, and mostly its agent goes to work on it.
    fn type_in(&mut self, agent: &AgentName, run: RunId, receipt: ReceiptId) {
        let is_alive = self.keepers.get(agent).is_some_and(|keeper| !keeper.has_ended);
        let ends = [Stage::Accepted, Stage::Accepted, Stage::Stalled, Stage::Refused];
        let end = ends[usize::try_from(self.random.below(4)).unwrap()];
        let all = [Stage::Typed, Stage::Seen, Stage::Submitted, end];
        let stages = if is_alive { &all[..] } else { &[] };
        for &stage in stages {
            self.tell(agent, run, RunEvent::Delivery { receipt, stage, reason: None });
        }
        if is_alive && end == Stage::Accepted {
            for state in [AgentState::Working, AgentState::Idle] {
                self.tell(agent, run, RunEvent::Did { state, source: Source::Screen });
            }
        }
    }

    fn start(&mut self, agent: &AgentName, run: RunId) {
        let other = self.keepers.get(agent).map(|keeper| keeper.run);
        assert_eq!(other, None, "seed {}: {agent} would run twice", self.seed);
        self.starts += 1;
        if !self.is_calm && self.random.percent(10) {
            let reason = "the keeper could not be started".to_owned();
            return self.tell(agent, run, RunEvent::NeverCame { reason });
        }
        self.next_pid += 1;
        let process = ProcessId { pid: self.next_pid, started: 1 };
        if !self.is_calm && self.random.percent(10) {
            self.keepers
                .insert(agent.clone(), Keeper { run, process, has_ended: true, is_haunted: false });
            let reason = "no such program".to_owned();
            return self.tell(agent, run, RunEvent::StartFailed { reason });
        }
        self.keepers
            .insert(agent.clone(), Keeper { run, process, has_ended: false, is_haunted: false });
        self.tell(agent, run, RunEvent::Seen { keeper: process, process });
        self.tell(agent, run, RunEvent::Moved);
        self.tell(agent, run, RunEvent::Did { state: AgentState::Idle, source: Source::Screen });
    }

    /// A hub that comes back finds the keeper, or that nobody holds the lock.
    fn adopt(&mut self, agent: &AgentName, run: RunId) {
        match self.keepers.get(agent) {
            Some(keeper) => {
                let (run, process) = (keeper.run, keeper.process);
                let has_ended = keeper.has_ended;
                self.tell(agent, run, RunEvent::Seen { keeper: process, process });
                if has_ended {
                    self.tell(agent, run, RunEvent::Exited { exit: Exit::Code(0) });
                } else {
                    let (state, source) = (AgentState::Idle, Source::Screen);
                    self.tell(agent, run, RunEvent::Did { state, source });
                }
            }
            None => self.tell(agent, run, RunEvent::KeeperLost),
        }
    }

    fn stop(&mut self, agent: &AgentName, run: RunId) {
        let Some(keeper) = self.keepers.get_mut(agent).filter(|keeper| keeper.run == run) else {
            return;
        };
        if !self.is_calm && self.random.percent(20) {
            keeper.is_haunted = true;
            let survivors = vec![survivor()];
            return self.tell(agent, run, RunEvent::Stopped { survivors });
        }
        self.tell(agent, run, RunEvent::Stopped { survivors: Vec::new() });
        self.leave(agent, run);
    }

    /// A keeper whose agent has ended goes when it is told to; it does not answer otherwise.
    fn release(&mut self, agent: &AgentName, run: RunId) {
        if self.keepers.get(agent).is_some_and(|keeper| keeper.run == run && keeper.has_ended) {
            self.leave(agent, run);
        }
    }

    /// What could not be killed dies in the end, and its keeper says so.
    fn lay_to_rest(&mut self) {
        let haunted = self.keepers.iter().find(|(_, keeper)| keeper.is_haunted);
        if let Some((agent, run)) = haunted.map(|(agent, keeper)| (agent.clone(), keeper.run)) {
            self.tell(&agent, run, RunEvent::Stopped { survivors: Vec::new() });
            self.leave(&agent, run);
        }
    }

    fn leave(&mut self, agent: &AgentName, run: RunId) {
        self.keepers.remove(agent);
        self.tell(agent, run, RunEvent::KeeperLost);
    }

    fn agent_exits(&mut self) {
        let agent = name(self.random.below(5));
        let Some(keeper) = self.keepers.get_mut(&agent).filter(|keeper| !keeper.has_ended) else {
            return;
        };
        keeper.has_ended = true;
        let run = keeper.run;
        self.tell(&agent, run, RunEvent::Exited { exit: Exit::Code(1) });
    }

    fn drop_line(&mut self) {
        let agent = name(self.random.below(5));
        let Some(run) = self.keepers.get(&agent).map(|keeper| keeper.run) else { return };
        self.tell(&agent, run, RunEvent::OutOfReach { reason: "cut".to_owned() });
        self.adopt(&agent, run);
    }

    fn kill_keeper(&mut self) {
        let agent = name(self.random.below(5));
        if let Some(keeper) = self.keepers.remove(&agent) {
            self.tell(&agent, keeper.run, RunEvent::KeeperLost);
        }
    }

    /// The hub dies with everything that it had not written down; another takes its place.
    fn crash(&mut self) {
        self.open.clear();
        self.news.clear();
        let (engine, effects) = Engine::recover(self.saved(), self.now);
        self.engine = engine;
        self.carry_out(effects);
    }

    fn tell(&mut self, agent: &AgentName, run: RunId, event: RunEvent) {
        self.news.entry(agent.clone()).or_default().push_back((run, event));
    }

    /// After calm nothing is on its way, nobody waits, and the record says what is so.
    fn assert_settled(&self) {
        let seed = self.seed;
        assert!(self.news.values().all(VecDeque::is_empty), "seed {seed}: news is left");
        assert!(self.open.is_empty(), "seed {seed}: never answered: {:?}", self.open);
        for seat in self.engine.seats() {
            let name = &seat.member.name;
            let keeper = self.keepers.get(name).filter(|keeper| keeper.run == seat.run);
            match seat.phase {
                Phase::Running => assert!(keeper.is_some(), "seed {seed}: {name} runs unkept"),
                Phase::Ended(_) => assert!(keeper.is_none(), "seed {seed}: {name} is alive"),
                Phase::Starting | Phase::Stopping | Phase::Leaving(_) | Phase::Sweeping(_) => {
                    panic!("seed {seed}: {name} hangs")
                }
            }
        }
        for dispatch in self.engine.dispatches() {
            let (id, stage) = (dispatch.id, dispatch.stage);
            assert!(stage.is_final(), "seed {seed}: {id} is {stage} for ever");
        }
        let json = |record: &Record| serde_json::to_value(record).unwrap();
        assert_eq!(json(&self.engine.record()), json(&self.saved()), "seed {seed}: off record");
    }
}

fn name(number: u64) -> AgentName {
    format!("agent{number}").parse().unwrap()
}

fn member(name: &AgentName, team: &str) -> Member {
    let team = team.to_owned();
    Member { team, plot: None, ..team::member(name.as_str(), Role::Worker, 0) }
}

fn letter(agent: AgentName) -> Letter {
    Letter { agent, text: "go on".to_owned(), tag: None }
}

fn survivor() -> ProcessInfo {
    ProcessInfo {
        id: ProcessId { pid: 1, started: 1 },
        parent: 1,
        name: "undead".to_owned(),
        cpu_ms: 0,
        memory_bytes: 0,
    }
}
