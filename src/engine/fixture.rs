//! An engine on a table: events in, effects out, without a world around it.

use crate::engine::{Effect, Engine, Event, RunEvent, Seat};
use crate::model::{
    AgentName, AgentState, Command, Contact, Environment, Launch, Letter, Manner, Member, Moment,
    ProcessId, RequestId, Role, RunId, Size, Source, Stage, TaskCommand, TaskId, TaskSpec,
    TaskState, Terms,
};
use crate::protocol::read;

pub(super) const GRACE_MS: u64 = 3_000;
pub(super) const PROCESS: ProcessId = ProcessId { pid: 42, started: 7 };

/// An engine with a clock and a count of requests.
pub(super) struct Bench {
    pub(super) engine: Engine,
    pub(super) now: Moment,
    /// Every order so far.
    pub(super) seen: Vec<Effect>,
    requests: u64,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self { engine: Engine::new(Moment(0)), now: Moment(0), seen: Vec::new(), requests: 0 }
    }

    pub(super) fn ask(&mut self, command: Command) -> Vec<Effect> {
        self.requests += 1;
        let request = RequestId(self.requests);
        let effects =
            self.engine.handle(Event::Asked { request, command, by: None, key: None }, self.now);
        self.seen.extend(effects.iter().cloned());
        effects
    }

    pub(super) fn start(&mut self, agents: &[&str]) -> Vec<Effect> {
        self.ask(Command::Start { members: crew(agents, "team") })
    }

    pub(super) fn stop(&mut self, agent: &str) -> Vec<Effect> {
        self.ask(Command::Stop { agents: vec![name(agent)], grace_ms: GRACE_MS })
    }

    pub(super) fn down(&mut self, force: bool) -> Vec<Effect> {
        self.ask(Command::Down { force, grace_ms: GRACE_MS })
    }

    /// Reports what happened to an agent's current run.
    pub(super) fn tell(&mut self, agent: &str, event: RunEvent) -> Vec<Effect> {
        let agent = name(agent);
        let run = self.engine.seat(&agent).map_or_else(RunId::default, |seat| seat.run);
        let effects = self.engine.handle(Event::Run { agent, run, event }, self.now);
        self.seen.extend(effects.iter().cloned());
        effects
    }

    /// Starts agents and lets them come up.
    pub(super) fn with_running(agents: &[&str]) -> Self {
        let mut bench = Self::new();
        let _ = bench.start(agents);
        for agent in agents {
            let _ = bench.tell(agent, seen());
        }
        bench
    }
}

pub(super) fn seen() -> RunEvent {
    RunEvent::Seen { keeper: PROCESS, process: PROCESS }
}

pub(super) fn stopped() -> RunEvent {
    RunEvent::Stopped { survivors: Vec::new() }
}

pub(super) fn name(agent: &str) -> AgentName {
    agent.parse().unwrap()
}

pub(super) fn crew(agents: &[&str], team: &str) -> Vec<(Member, Launch)> {
    agents.iter().map(|agent| (member(agent, team), launch())).collect()
}

fn member(agent: &str, team: &str) -> Member {
    Member {
        name: name(agent),
        team: team.to_owned(),
        place: 0,
        cli: "sim".to_owned(),
        role: Role::Worker,
        argv: vec!["sim".to_owned()],
        cwd: "/".into(),
        workspace: std::path::PathBuf::new(),
        owns: Vec::new(),
        capabilities: Vec::new(),
        speaks_freely: false,
        speaks_to: Vec::new(),
        conversation: None,
        opening: crate::model::Opening::default(),
        contact: Contact::default(),
        kit: crate::model::Kit::default(),
        runner: None,
        added: None,
        plot: None,
    }
}

fn launch() -> Launch {
    Launch {
        argv: vec!["sim".to_owned()],
        cwd: "/".into(),
        environment: Environment::default(),
        size: Size::default(),
        confinement: crate::model::Confinement::default(),
    }
}

/// A task to be added.
pub(super) struct Work(TaskSpec);

impl Work {
    pub(super) fn new(title: &str) -> Self {
        Self(TaskSpec {
            key: Some(title.to_owned()),
            title: title.to_owned(),
            prompt: format!("do {title}"),
            ..TaskSpec::default()
        })
    }

    /// One that others cannot name.
    pub(super) fn plain(title: &str) -> Self {
        let mut work = Self::new(title);
        work.0.key = None;
        work
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Terms)) -> Self {
        change(&mut self.0.terms);
        self
    }

    pub(super) fn needing(mut self, keys: &[&str]) -> Self {
        self.0.needs = keys.iter().map(|key| (*key).to_owned()).collect();
        self
    }
}

/// What agents do when they work on tasks.
impl Bench {
    /// Starts agents that wait for a prompt.
    pub(super) fn with_idle(agents: &[&str]) -> Self {
        let mut bench = Self::with_running(agents);
        for agent in agents {
            bench.did(agent, AgentState::Idle);
        }
        bench
    }

    /// Has another agent join the team.
    pub(super) fn join(&mut self, agent: &str) {
        self.join_as(agent, Role::Worker);
    }

    pub(super) fn join_as(&mut self, agent: &str, role: Role) {
        let _ = self.start(&[agent]);
        let _ = self.tell(agent, seen());
        self.seat_mut(agent).member.role = role;
        self.did(agent, AgentState::Idle);
    }

    pub(super) fn seat_mut(&mut self, agent: &str) -> &mut Seat {
        self.engine.seats.get_mut(&name(agent)).unwrap()
    }

    pub(super) fn handle(&mut self, event: Event) {
        let effects = self.engine.handle(event, self.now);
        self.seen.extend(effects);
    }

    pub(super) fn add(&mut self, works: Vec<Work>) -> Vec<Effect> {
        let specs = works.into_iter().map(|work| work.0).collect();
        self.ask(Command::Task(TaskCommand::Add { specs }))
    }

    pub(super) fn did(&mut self, agent: &str, state: AgentState) {
        let _ = self.tell(agent, RunEvent::Did { state, source: Source::Screen });
    }

    /// Answers how an agent would begin anew.
    pub(super) fn plan(&mut self, agent: &str) -> Vec<Effect> {
        let next = crew(&[agent], "team").remove(0);
        let (plan, grace_ms) = (Ok(Box::new(next)), GRACE_MS);
        self.tell(agent, RunEvent::Planned { plan, grace_ms })
    }

    /// Lets an agent begin anew that is to do so.
    pub(super) fn renew(&mut self, agent: &str) {
        let role = self.seat_mut(agent).member.role;
        let _ = self.plan(agent);
        let _ = self.tell(agent, stopped());
        let _ = self.tell(agent, RunEvent::KeeperLost);
        let _ = self.tell(agent, seen());
        self.seat_mut(agent).member.role = role;
        self.did(agent, AgentState::Idle);
    }

    pub(super) fn send(&mut self, agent: &str, text: &str) {
        let letters = vec![Letter { agent: name(agent), text: text.to_owned(), tag: None }];
        let (idempotency_key, manner) = (None, Manner::default());
        let _ = self.ask(Command::Dispatch { letters, idempotency_key, manner });
    }

    /// Lets an agent take the prompt that is typed into it.
    pub(super) fn accept(&mut self, agent: &str) {
        let under_way = self
            .engine
            .dispatches
            .values()
            .find(|one| one.agent == name(agent) && one.stage.is_under_way());
        if let Some(receipt) = under_way.map(|one| one.id) {
            let stage = Stage::Accepted;
            let _ = self.tell(agent, RunEvent::Delivery { receipt, stage, reason: None });
        }
    }

    /// Lets an agent take its prompt and go to work.
    pub(super) fn begin(&mut self, agent: &str) {
        self.accept(agent);
        self.did(agent, AgentState::Working);
    }

    /// Has an agent say something without a tag.
    pub(super) fn say(&mut self, agent: &str, text: &str) {
        let report = read(text).remove(0);
        let _ = self.tell(agent, RunEvent::Reported(report));
    }

    /// Has an agent say something with the tag of its attempt at a task.
    pub(super) fn report(&mut self, agent: &str, task: u64, text: &str) {
        let mut report = read(text).remove(0);
        let task = self.engine.task(TaskId(task)).unwrap();
        report.tag = task.attempts.last().map(|attempt| attempt.tag.clone());
        let _ = self.tell(agent, RunEvent::Reported(report));
    }

    /// Answers every look that is under way: nothing has changed.
    pub(super) fn answer_looks(&mut self) {
        let is_look = |effect: &mut Effect| matches!(effect, Effect::Look { .. });
        loop {
            let asked: Vec<Effect> = self.seen.extract_if(.., is_look).collect();
            if asked.is_empty() {
                break;
            }
            for effect in asked {
                let Effect::Look { root } = effect else { continue };
                self.handle(Event::Looked { root, changes: Some(Vec::new()) });
            }
        }
    }

    /// Goes to the next moment at which something is due.
    pub(super) fn pass_time(&mut self) {
        self.now = self.engine.next_deadline().unwrap();
        self.handle(Event::DeadlineReached);
    }

    /// The hub dies and comes back with what it wrote down.
    pub(super) fn crash(&mut self) {
        let (engine, effects) = Engine::recover(self.engine.record(), self.now);
        self.engine = engine;
        self.seen.extend(effects);
    }

    pub(super) fn states(&self) -> Vec<TaskState> {
        self.engine.tasks().map(|task| task.state).collect()
    }

    pub(super) fn worker(&self, task: u64) -> Option<String> {
        Some(self.engine.task(TaskId(task))?.open()?.agent.to_string())
    }

    /// Returns every prompt whose typing into this agent was ordered.
    pub(super) fn prompts(&self, agent: &str) -> Vec<String> {
        let ordered = self.seen.iter().filter_map(|effect| {
            let Effect::Deliver { agent: to, text, .. } = effect else { return None };
            (*to == name(agent)).then(|| text.clone())
        });
        ordered.collect()
    }

    /// Says whether something of this kind waits for a person, about this task or (0) any.
    pub(super) fn waits_for(&self, kind: &str, task: u64) -> bool {
        self.engine.attention().iter().any(|item| {
            item.kind.to_string() == kind && (task == 0 || item.task == Some(TaskId(task)))
        })
    }
}
