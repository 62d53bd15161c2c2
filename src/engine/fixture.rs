//! An engine on a table: events in, effects out, without a world around it.

use super::{Effect, Engine, Event, RunEvent};
use crate::model::{
    AgentName, Command, Contact, Environment, Launch, Member, Moment, ProcessId, RequestId, Role,
    RunId, Size,
};

pub(super) const GRACE_MS: u64 = 3_000;
pub(super) const PROCESS: ProcessId = ProcessId { pid: 42, started: 7 };

/// An engine with a clock and a count of requests.
pub(super) struct Bench {
    pub(super) engine: Engine,
    pub(super) now: Moment,
    requests: u64,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self { engine: Engine::new(Moment(0)), now: Moment(0), requests: 0 }
    }

    pub(super) fn ask(&mut self, command: Command) -> Vec<Effect> {
        self.requests += 1;
        let request = RequestId(self.requests);
        self.engine.handle(Event::Asked { request, command }, self.now)
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
        self.engine.handle(Event::Run { agent, run, event }, self.now)
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
        conversation: None,
        contact: Contact::default(),
        added: None,
    }
}

fn launch() -> Launch {
    Launch {
        argv: vec!["sim".to_owned()],
        cwd: "/".into(),
        environment: Environment::default(),
        size: Size::default(),
    }
}
