//! A request that is refused because the record cannot be written has no effect, whatever it asks for.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use wheelhouse::api::{
    LockRequest, NewAgent, Request, RequestKind, Response, RunRequest, Status, TaskRequest,
    WantedPosting, WorkspaceRequest,
};
use wheelhouse::model::{AgentState, Environment, PlayOrder, Role, TaskSpec};
use wheelhouse::store::{Journal, Rows};

use super::rights::{example, ids};
use super::support::clock::{PATIENCE, wait_for};
use super::support::visitor::Visitor;
use super::support::world::World;
use super::support::yard::Yard;

const SHELL: &[&str] = &["sh", "-c", "echo up; while read line; do echo \"<$line>\"; done", "ROOT"];

/// Is done at once, or never.
const QUICK: &str = "on prompt\n  status done \"3 tests pass\"\n";
const BUSY: &str = "on prompt\n  await go 600s\n";

/// A run of one agent, whose task nobody of it takes.
const ORDER: &str = r#"{"call":"c","cast":{"playbook":"p","hash":"","pattern":"hub","team":"cast",
    "vars":{},"agents":[{"name":"actor","cli":"red","role":"worker"}]},
    "tasks":[{"key":"k","title":"x","prompt":"y","role":"lead"}]}"#;

#[test]
fn a_task_that_was_refused_is_not_there() {
    let world = World::with_crew(&[("red", SHELL)]);
    world.ok(&["agent", "start", "red"]);
    world.wait_for_text("red", "up");
    let add = ["task", "add", "--title", "x", "--prompt", "y"];
    let hub = world.status().hub.pid;
    choke(hub, true);
    let said = world.run(&add);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("The record cannot be written: "), "{}", said.err);
    assert_eq!(world.ok(&["task", "list", "--json"]).trim(), "[]");
    heal(&world, hub);
    assert_eq!(world.ok(&["task", "list", "--json"]).trim(), "[]");
    world.ok(&add);
    assert_eq!(world.json(&["task", "list"])[0]["id"], "t1", "not even a number was used up");
}

/// A world in which the record fails when it is wanted to.
struct Trial {
    yard: Yard,
    visitor: Visitor,
    tried: BTreeSet<&'static str>,
}

impl Trial {
    fn new() -> Self {
        let agents = [("red", QUICK), ("blue", QUICK), ("busy", BUSY)];
        let yard = Yard::new(&[("a.txt", "1")], &agents, "");
        yard.up(&["red", "blue", "busy"]);
        let visitor = Visitor::greeted(&yard.world);
        Self { yard, visitor, tried: BTreeSet::new() }
    }

    /// Returns all that is known, in memory and on the disk, and what each agent shows; nothing of
    /// those at work, whose screens never rest.
    fn all(&self) -> (serde_json::Value, Rows, Vec<String>) {
        let world = &self.yard.world;
        let mut status = world.status();
        status.hub.trouble = None;
        status.agents.retain(|agent| agent.state != AgentState::Working);
        let live = status.agents.iter().filter(|agent| agent.pid.is_some());
        let panes = live.map(|agent| world.read(&agent.name)).collect();
        Journal::open(&world.paths().record()).unwrap().verify().unwrap();
        let mut rows = world.rows();
        rows.retain(|_, row| row["state"] != "working");
        (serde_json::to_value(status).unwrap(), rows, panes)
    }

    /// Makes a request as the one that finds out that the record cannot be written, and then again.
    fn try_out(&mut self, request: Request) {
        let kind = request.kind().right().request;
        self.tried.insert(kind);
        self.settle();
        let (before, keepers) = (self.all(), self.yard.world.players("keeper").len());
        let stranger = self.stranger();
        let fault = self.visitor.answer(request.clone()).expect_err(kind);
        assert!(fault.message.starts_with("The record cannot be written: "), "{kind}: {fault:?}");
        assert_eq!(self.all(), before, "{kind}");
        drop(stranger);
        let is_healed = |status: &Status| status.hub.trouble.is_none();
        self.yard.world.wait_for_status("a record that is written", is_healed);
        assert_eq!(self.all(), before, "{kind}, once the record is written");
        assert_eq!(self.yard.world.players("keeper").len(), keepers, "{kind}");
        let granted = self.visitor.answer(request);
        assert!(granted.is_ok(), "{kind}: {granted:?}");
        assert_ne!(self.all().1, before.1, "{kind} changes something");
    }

    /// Does the same with all kinds of requests about agents.
    fn try_agents(&mut self) {
        let (blue, none) = (vec!["blue".to_owned()], || Environment(BTreeMap::new()));
        let grace_ms = Some(100);
        self.stop("blue");
        self.try_out(Request::Up { team: Some("crew".to_owned()), environment: none() });
        self.stop("blue");
        self.try_out(Request::Start { agents: blue.clone(), environment: none() });
        self.rest("blue");
        self.try_out(Request::Restart { agents: blue.clone(), environment: none(), grace_ms });
        self.rest("blue");
        let (agents, environment, brief) = (blue, none(), true);
        self.try_out(Request::Resume { agents, environment, grace_ms, brief });
        self.rest("blue");
        let agent = NewAgent {
            name: "extra".to_owned(),
            cli: "red".to_owned(),
            role: Role::Worker,
            team: Some("crew".to_owned()),
            cwd: None,
            env: none(),
            command: Vec::new(),
            posting: WantedPosting::default(),
        };
        self.try_out(Request::Add { agent, environment: none() });
        self.rest("extra");
        self.stop("extra");
        self.try_out(Request::Forget { agents: vec!["extra".to_owned()], abandon: false });
    }

    /// Does the same with all kinds of requests about prompts.
    fn try_prompts(&mut self) {
        let red = vec!["red".to_owned()];
        let dispatch = |agents: Vec<String>, prompt: &str| {
            let (prompt, idempotency_key) = (prompt.to_owned(), None);
            let (anyway, command, no_queue) = (false, false, false);
            Request::Dispatch { agents, prompt, idempotency_key, anyway, command, no_queue }
        };
        self.try_out(dispatch(red, "hello"));
        self.done("red");
        let vars = [("claim".to_owned(), "x".to_owned())];
        self.try_out(Request::DispatchTemplate {
            agents: vec!["blue".to_owned()],
            template: "evidence-request".to_owned(),
            vars: vars.into(),
            idempotency_key: None,
            anyway: false,
            no_queue: false,
        });
        self.done("blue");
        let busy = || vec!["busy".to_owned()];
        self.visitor.ask(dispatch(busy(), "now"));
        self.yard.world.ok(&["wait", "--agent", "busy", "--for", "working", "--timeout", "35"]);
        let Response::Done(done) = self.visitor.ask(dispatch(busy(), "later")) else { panic!() };
        self.try_out(Request::Withdraw { receipt: done.receipts[0].receipt });
        self.stop("busy");
    }

    /// Does the same with all kinds of requests about tasks, runs and locks.
    fn try_work(&mut self) {
        let about = |ask| Request::Task { ask };
        let mut spec = TaskSpec { title: "x".into(), prompt: "y".into(), ..TaskSpec::default() };
        // Nobody of this role is there to take it.
        spec.terms.role = Some(Role::Lead);
        self.try_out(about(TaskRequest::Add { specs: vec![spec] }));
        self.try_out(about(TaskRequest::Cancel { task: "t1".into() }));
        let (task, advice, agent) = ("t1".into(), None, None);
        self.try_out(about(TaskRequest::Retry { task, advice, agent }));
        let (from, to) = ("red".into(), "blue".into());
        self.try_out(about(TaskRequest::Consent { from, to }));
        let environment = || Environment(BTreeMap::new());
        let order: PlayOrder = serde_json::from_str(ORDER).unwrap();
        let order = Box::new(order);
        self.try_out(Request::Run { ask: RunRequest::Begin { order, environment: environment() } });
        self.rest("actor");
        let needs_person =
            |status: &Status| status.runs.iter().any(|run| run.state.to_string() == "needs_person");
        self.yard.world.wait_for_status("a run that stands still", needs_person);
        let resume = RunRequest::Resume { run: self.run_id(), environment: environment() };
        self.try_out(Request::Run { ask: resume });
        self.yard.world.wait_for_status("a run that stands still", needs_person);
        self.try_out(Request::Run { ask: RunRequest::Cancel { run: self.run_id() } });
        let (name, limit_ms) = ("db".to_owned(), None);
        self.try_out(Request::Lock { ask: LockRequest::Take { name, limit_ms } });
    }

    /// Does the same with all kinds of requests about workspaces.
    fn try_workspaces(&mut self) {
        let about = |ask| Request::Workspace { ask };
        let merge = serde_json::json!({ "about": "merge", "agent": "blue", "committed": true });
        self.try_out(about(serde_json::from_value(merge).unwrap()));
        // What holds work is kept when its agent ends.
        std::fs::write(self.yard.root("blue").join("new.txt"), "new").unwrap();
        self.stop("blue");
        let (agents, rescue, drop_ignored) = (vec!["blue".to_owned()], true, false);
        self.try_out(about(WorkspaceRequest::Clean { agents, rescue, drop_ignored, gone: false }));
        self.try_out(about(WorkspaceRequest::Restore { name: "blue".to_owned() }));
    }

    /// Returns one who writes to the record and does not end: nobody else can then.
    fn stranger(&self) -> rusqlite::Connection {
        let stranger = rusqlite::Connection::open(self.yard.world.paths().record()).unwrap();
        stranger.busy_timeout(PATIENCE).unwrap();
        stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
        stranger
    }

    /// Waits until nothing follows any more from what was done, and all of it is on the disk: what an
    /// agent does may wait a second for company.
    fn settle(&self) {
        wait_for("rest", || {
            let before = self.all();
            let state = |name: &str| {
                let seat = ("seat".to_owned(), name.to_owned());
                before.1.get(&seat).map(|seat| seat["state"].clone())
            };
            let agents = before.0["agents"].as_array().unwrap();
            let is_written = |agent: &serde_json::Value| {
                state(agent["name"].as_str().unwrap()) == Some(agent["state"].clone())
            };
            let is_ready = |one: &serde_json::Value| one["state"] == "ready";
            agents.iter().all(is_written)
                && self.yard.list().iter().all(is_ready)
                && self.all() == before
        });
    }

    fn stop(&self, agent: &str) {
        self.yard.world.ok(&["agent", "stop", agent]);
    }

    fn rest(&self, agent: &str) {
        self.yard.world.ok(&["wait", "--agent", agent, "--for", "idle,done", "--timeout", "35"]);
    }

    /// Waits until an agent has done what it was told; it may rest before it begins.
    fn done(&self, agent: &str) {
        self.yard.world.ok(&["wait", "--agent", agent, "--for", "done", "--timeout", "35"]);
    }

    fn run_id(&self) -> String {
        self.yard.world.status().runs[0].id.clone()
    }
}

/// These find nothing to change in this world, or are answered once they are on record.
const UNTRIED: &[RequestKind] = &[
    RequestKind::Report,
    RequestKind::ClaimTask,
    RequestKind::MarkRead,
    RequestKind::Resolve,
    RequestKind::Allow,
    RequestKind::Meet,
];

#[test]
fn whatever_was_refused_left_no_trace() {
    let mut trial = Trial::new();
    trial.try_agents();
    trial.try_prompts();
    trial.try_work();
    trial.try_workspaces();
    let wants_record = |kind: &&RequestKind| example(**kind, &ids("red", "t1", 1)).wants_record();
    let all = RequestKind::ALL.iter().filter(wants_record);
    let missing = all.filter(|kind| !trial.tried.contains(kind.right().request));
    let missing: Vec<RequestKind> = missing.copied().collect();
    assert_eq!(missing, UNTRIED, "what else changes something is tried out, too");
}

#[test]
fn a_report_is_answered_once_it_is_on_record() {
    let world = World::with_crew(&[("red", SHELL)]);
    world.ok(&["agent", "start", "red"]);
    world.wait_for_text("red", "up");
    let hub = world.status().hub.pid;
    let mut red = Visitor::speaking(&world, "red");
    choke(hub, true);
    let report = example(RequestKind::Report, &ids("red", "t1", 1));
    let id = red.send(report.clone());
    world.wait_for_status("a record that fails", |status| status.hub.trouble.is_some());
    heal(&world, hub);
    let answer = loop {
        if let Some(wheelhouse::api::FromHub::Answer { id: answered, outcome }) = red.next()
            && answered == id
        {
            break outcome.unwrap();
        }
    };
    assert!(matches!(answer, Response::Report(reception) if reception.is_new));
    let Response::Report(again) = red.ask(report) else { panic!() };
    assert_eq!(again.reports, 1, "{again:?}");
}

fn heal(world: &World, hub: u32) {
    choke(hub, false);
    world.wait_for_status("a record that is written", |status| status.hub.trouble.is_none());
}

/// Lets no file of a process grow, or lets them grow again.
fn choke(pid: u32, is_choked: bool) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let limit = Rlimit { current: is_choked.then_some(1), maximum: None };
    prlimit(pid, Resource::Fsize, limit).unwrap();
}
