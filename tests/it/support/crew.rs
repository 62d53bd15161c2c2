//! Agents that lie, stay silent, loop, die and contradict themselves, around an engine whose hub
//! crashes at any moment; then calm.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use wheelhouse::engine::{Engine, Event, Record, RunEvent};
use wheelhouse::model::{
    AgentName, AgentState, Changes, Command, Exit, Letter, Manner, MergeForm, MergeTerms, Moment,
    Need, NeedId, NeedState, PlayCommand, ProcessId, ReceiptId, RequestId, Reset, RunId, Source,
    Stage, TaskCommand, TaskId, TaskState,
};
use wheelhouse::protocol;

use super::chance::Chance;
use super::manners::{lines, spec};
use super::pipeline::pipeline;
use super::shared_files::SharedFiles;
use super::team::{AGENTS, begun, is_touched, launch, member};

const STORM_STEPS: u32 = 250;
/// Calm lasts until nothing but time has happened this often.
const QUIET_STEPS: u32 = 40;
const CALM_STEPS_MAX: u32 = 5000;

/// What is wrong with the hub on purpose, to see that it would be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    GatesAreNotHeard,
    EndsAreNotHeard,
    LooksAreNotHeard,
    TypingIsNotSaved,
    NeedsAreNotSaved,
}

/// The hub's surroundings.
pub(crate) struct World {
    pub(crate) seed: u64,
    fault: Fault,
    pub(super) random: Chance,
    pub(crate) engine: Engine,
    now: Moment,
    pub(crate) disk: BTreeMap<(String, String), serde_json::Value>,
    pub(super) typed: BTreeSet<ReceiptId>,
    /// The runs to which something was said.
    pub(super) addressed: BTreeSet<(AgentName, RunId)>,
    /// Tasks whose gates passed, and those that are on record as done.
    pub(super) passed: BTreeSet<TaskId>,
    done: BTreeSet<TaskId>,
    pub(super) files: SharedFiles,
    pub(super) keepers: BTreeMap<AgentName, (RunId, ProcessId)>,
    pub(super) news: VecDeque<Event>,
    requests: u64,
    pub(super) pids: u32,
    pub(super) is_calm: bool,
    /// How many events there were.
    pub(crate) events: u64,
    /// What a stand-in was promised for.
    pub(crate) stubbed: BTreeSet<NeedId>,
}

impl World {
    /// Lives through a storm, and then until nothing more happens.
    pub(crate) fn live(seed: u64, fault: Fault) -> Self {
        let mut world = Self {
            seed,
            fault,
            random: Chance::new(seed),
            engine: Engine::new(Moment(0)),
            now: Moment(0),
            disk: BTreeMap::new(),
            typed: BTreeSet::new(),
            stubbed: BTreeSet::new(),
            addressed: BTreeSet::new(),
            passed: BTreeSet::new(),
            done: BTreeSet::new(),
            files: SharedFiles::new(),
            keepers: BTreeMap::new(),
            news: VecDeque::new(),
            requests: 0,
            pids: 100,
            is_calm: false,
            events: 0,
        };
        world.report(Event::Began { seed });
        world.engine.set_resume_after_reset(seed.is_multiple_of(2));
        world.engine.set_merging(Some(merging()));
        world.start_all();
        for _ in 0..3 {
            world.add_tasks();
        }
        for _ in 0..STORM_STEPS {
            world.storm();
        }
        world.is_calm = true;
        world.start_all();
        let mut quiet = 0;
        for _ in 0..CALM_STEPS_MAX {
            quiet = if world.news.is_empty() { quiet + 1 } else { 0 };
            if quiet > QUIET_STEPS {
                break;
            }
            world.step();
        }
        world
    }

    fn start_all(&mut self) {
        let members = AGENTS
            .iter()
            .enumerate()
            .map(|(place, (agent, role))| (member(agent, *role, place), launch()));
        let members = members.collect();
        self.ask(Command::Start { members });
    }

    fn add_tasks(&mut self) {
        let known = self.engine.tasks().count() as u64;
        let count = 1 + self.random.below(3);
        let specs = (0..count).map(|_| spec(&mut self.random, known)).collect();
        self.ask(Command::Task(TaskCommand::Add { specs }));
    }

    fn storm(&mut self) {
        match self.random.below(40) {
            0 => self.crash(),
            1 => self.kill(),
            2 => self.start_all(),
            3 if self.engine.tasks().count() < 20 => self.add_tasks(),
            4 => self.meddle(),
            5 => self.babble(),
            6 => self.begin_play(),
            _ => self.step(),
        }
    }

    fn begin_play(&mut self) {
        let order = Box::new(pipeline(format!("call{}", self.requests)));
        self.ask(Command::Play(PlayCommand::Begin { order, members: Vec::new() }));
    }

    /// A person cancels, retries or takes something for another.
    fn meddle(&mut self) {
        let task = TaskId(1 + self.random.below(20));
        if self.random.percent(20) {
            let letter = Letter { agent: self.someone(), text: "here".to_owned(), tag: None };
            let (letters, idempotency_key, manner) = (vec![letter], None, Manner::default());
            return self.ask(Command::Dispatch { letters, idempotency_key, manner });
        }
        let command = match self.random.below(6) {
            0 => TaskCommand::Cancel { task },
            1 => TaskCommand::Retry { task, advice: Some("otherwise".to_owned()), agent: None },
            2 => TaskCommand::MarkRead { items: Vec::new() },
            3 => TaskCommand::Allow { agent: self.someone() },
            4 => TaskCommand::Meet { need: NeedId(1 + self.random.below(10)) },
            _ => TaskCommand::Consent { from: self.someone(), to: self.someone() },
        };
        self.ask(Command::Task(command));
    }

    /// An agent says something that nobody asked for, with a tag that is no longer its own.
    fn babble(&mut self) {
        let agent = self.someone();
        let tags: Vec<String> = self
            .engine
            .tasks()
            .flat_map(|task| task.attempts.iter())
            .filter(|attempt| attempt.ended.is_some())
            .map(|attempt| attempt.tag.clone())
            .collect();
        if !tags.is_empty() {
            let tag = &tags[usize::try_from(self.random.below(tags.len() as u64)).unwrap()];
            self.say(&agent, &format!("STATUS({tag}): DONE — 3 tests pass"));
        }
    }

    fn someone(&mut self) -> AgentName {
        AGENTS[usize::try_from(self.random.below(AGENTS.len() as u64)).unwrap()].0.parse().unwrap()
    }

    /// Lets one thing happen, or time pass.
    fn step(&mut self) {
        self.now = self.now + Duration::from_millis(self.random.below(3_000));
        if let Some(event) = self.news.pop_front() {
            return self.report(event);
        }
        let deadline = self.engine.next_deadline();
        if let Some(deadline) = deadline.filter(|_| self.is_calm || self.random.percent(30)) {
            self.now = self.now.max(deadline);
            self.report(Event::DeadlineReached);
        }
    }

    fn ask(&mut self, command: Command) {
        self.requests += 1;
        let request = RequestId(self.requests);
        self.report(Event::Asked { request, command, by: None, key: None });
    }

    fn report(&mut self, event: Event) {
        match (&event, self.fault) {
            (Event::Gates { .. }, Fault::GatesAreNotHeard)
            | (Event::Scanned { .. }, Fault::LooksAreNotHeard)
            | (Event::Run { event: RunEvent::Swept { .. }, .. }, Fault::EndsAreNotHeard) => return,
            _ => {}
        }
        self.events += 1;
        let (claimed, wanted) = (self.claimed(), self.wanted());
        let begun = begun(&event);
        let effects = self.engine.handle(event, self.now);
        self.check();
        self.check_ends(&claimed);
        self.check_needs(&wanted);
        self.check_rings();
        self.carry_out(effects);
        let typed = begun.filter(|(.., id)| is_touched(&self.engine, *id));
        if let Some((agent, run, receipt)) = typed {
            self.check_freshness(&agent, run, receipt);
            let is_new = self.typed.insert(receipt);
            assert!(is_new, "seed {}: {receipt} is typed twice", self.seed);
        }
    }

    /// Returns the tasks that are claimed, and by whom.
    fn claimed(&self) -> Vec<(TaskId, AgentName)> {
        let open = self.engine.tasks().filter_map(|task| Some((task, task.open()?)));
        let claimed = open.filter(|(task, _)| task.state == TaskState::Claimed);
        claimed.map(|(task, open)| (task.id, open.agent.clone())).collect()
    }

    /// Returns what agents want for their attempts, which are counted from one.
    fn wanted(&self) -> Vec<(NeedId, TaskId, usize)> {
        let open = self.engine.needs().filter(|need| need.state != NeedState::Met);
        let of = |need: &Need| {
            let task = self.engine.task(need.task?)?;
            Some((need.id, task.id, task.attempts.len()))
        };
        open.filter_map(of).collect()
    }

    /// A need is met, or ends with the attempt that has it; nothing else makes it go away.
    fn check_needs(&self, wanted: &[(NeedId, TaskId, usize)]) {
        for (id, task, attempt) in wanted {
            let is_known = self.engine.needs().any(|need| need.id == *id);
            let is_over = self.engine.task(*task).is_none_or(|task| {
                task.attempts.get(attempt - 1).is_none_or(|attempt| attempt.ended.is_some())
            });
            assert!(is_known || is_over, "seed {}: {id} of {task} is forgotten", self.seed);
        }
    }

    /// Of agents at work that need something of each other, one is asked for a stand-in at once.
    fn check_rings(&mut self) {
        let needs = || self.engine.needs().filter(|need| need.state == NeedState::Sent);
        self.stubbed.extend(needs().filter(|need| need.is_stubbed).map(|need| need.id));
        let edges: Vec<(&AgentName, &AgentName)> = (needs().filter(|need| !need.is_stubbed))
            .filter_map(|need| Some((&need.from, need.to.as_ref()?)))
            .filter(|(from, to)| [from, to].iter().all(|one| self.engine.task_of(one).is_some()))
            .collect();
        let mut ring: BTreeSet<&AgentName> = edges.iter().map(|(from, _)| *from).collect();
        while let Some(free) = ring
            .iter()
            .copied()
            .find(|agent| !edges.iter().any(|(from, to)| from == agent && ring.contains(to)))
        {
            ring.remove(free);
        }
        assert!(ring.is_empty(), "seed {}: {ring:?} wait for each other", self.seed);
    }

    /// No claim is believed of an agent that changed what others own.
    fn check_ends(&self, claimed: &[(TaskId, AgentName)]) {
        for (id, agent) in claimed {
            if self.engine.task(*id).is_some_and(|task| task.state == TaskState::Done) {
                let open = self.engine.trespasses_of(agent).next();
                assert!(open.is_none(), "seed {}: {id} is done in spite of {open:?}", self.seed);
            }
        }
    }

    /// What must hold at every step, beside what the engine checks of itself.
    fn check(&self) {
        let seed = self.seed;
        for task in self.engine.tasks() {
            let id = task.id;
            let open = task.attempts.iter().filter(|attempt| attempt.ended.is_none()).count();
            assert!(open <= 1, "seed {seed}: {id} runs twice");
            let is_done = task.state == TaskState::Done;
            assert!(is_done || !self.done.contains(&id), "seed {seed}: {id} was done already");
            let is_checked = task.terms.gates.is_empty() || self.passed.contains(&id);
            assert!(!is_done || is_checked, "seed {seed}: {id} is done unchecked");
            if task.state == TaskState::Running {
                let agent = &task.open().unwrap().agent;
                let seat = self.engine.seat(agent).unwrap();
                assert!(seat.process.is_some(), "seed {seed}: {id} runs without a process");
            }
        }
    }

    /// An agent gets a prompt, and does what such agents do.
    pub(super) fn work(
        &mut self,
        agent: &AgentName,
        run: RunId,
        receipt: ReceiptId,
        tag: Option<&str>,
    ) {
        let stages = [Stage::Stalled, Stage::Refused, Stage::Unknown];
        let end = if !self.is_calm && self.random.percent(8) {
            stages[usize::try_from(self.random.below(3)).unwrap()]
        } else {
            Stage::Accepted
        };
        for stage in [Stage::Typed, Stage::Seen, Stage::Submitted, end] {
            self.tell(agent, run, RunEvent::Delivery { receipt, stage, reason: None });
        }
        if end != Stage::Accepted {
            return;
        }
        self.does(agent, run, AgentState::Working);
        let tag = tag.map(|tag| format!("({tag})")).unwrap_or_default();
        if !tag.is_empty() {
            let manner = if self.is_calm { 0 } else { self.random.below(18) };
            for line in lines(manner) {
                let (keyword, rest) = line.split_once(':').unwrap();
                self.say(agent, &format!("{keyword}{tag}:{rest}"));
            }
        }
        if self.random.percent(30) {
            let tokens = self.random.below(1_000);
            self.tell(agent, run, RunEvent::Used { tokens });
        }
        if !self.is_calm && self.random.percent(5) {
            self.tell(agent, run, RunEvent::Compacted);
        }
        let limited = !self.is_calm && self.random.percent(3);
        if limited && self.random.percent(50) {
            let at = Some(self.now + Duration::from_mins(self.random.below(90)));
            let text = "later".to_owned();
            self.tell(agent, run, RunEvent::Resets(Reset { text, at }));
        }
        self.does(agent, run, if limited { AgentState::Limited } else { AgentState::Idle });
    }

    fn say(&mut self, agent: &AgentName, line: &str) {
        let Some(&(run, _)) = self.keepers.get(agent) else { return };
        let report = protocol::parse(line).unwrap();
        self.tell(agent, run, RunEvent::Reported(report));
    }

    pub(super) fn does(&mut self, agent: &AgentName, run: RunId, state: AgentState) {
        self.tell(agent, run, RunEvent::Did { state, source: Source::Screen });
    }

    pub(super) fn tell(&mut self, agent: &AgentName, run: RunId, event: RunEvent) {
        self.news.push_back(Event::Run { agent: agent.clone(), run, event });
    }

    fn kill(&mut self) {
        let agent = self.someone();
        let Some((run, _)) = self.keepers.remove(&agent) else { return };
        if self.random.percent(50) {
            self.tell(&agent, run, RunEvent::Exited { exit: Exit::Code(0) });
        }
        self.tell(&agent, run, RunEvent::KeeperLost);
    }

    pub(super) fn crash(&mut self) {
        self.news.clear();
        let saved = Record::from_rows(&self.disk).unwrap();
        let (engine, effects) = Engine::recover(saved, self.now);
        self.engine = engine;
        self.engine.set_resume_after_reset(self.seed.is_multiple_of(2));
        self.engine.set_merging(Some(merging()));
        self.check();
        self.report(Event::Began { seed: self.seed ^ self.now.0 });
        self.carry_out(effects);
    }

    pub(super) fn write(&mut self, changes: Changes) {
        for row in changes.rows {
            let is_typed = row.value.as_ref().is_some_and(|value| value["stage"] == "typed");
            if self.fault == Fault::TypingIsNotSaved && row.table == "dispatch" && is_typed {
                continue;
            }
            if self.fault == Fault::NeedsAreNotSaved && row.table == "need" {
                continue;
            }
            if row.table == "task" && row.value.as_ref().is_some_and(|task| task["state"] == "done")
            {
                self.done.insert(row.key.parse().unwrap());
            }
            match row.value {
                Some(value) => self.disk.insert((row.table, row.key), value),
                None => self.disk.remove(&(row.table, row.key)),
            };
        }
    }
}

/// The work of tasks comes back by itself here.
fn merging() -> MergeTerms {
    MergeTerms {
        form: MergeForm::Merge,
        into: "i".to_owned(),
        gates: Vec::new(),
        message: None,
        committed_only: false,
        is_trial: false,
        sends_back: false,
    }
}
