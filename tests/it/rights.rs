//! Every request, by every role, about its own, others' and nobody's: as the table says, and no more.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use wheelhouse::api::{
    DialogChoice, LockRequest, NewAgent, PROTOCOL, Request, RequestKind, Response, RunRequest,
    Speaker, TaskRequest, WorkspaceRequest,
};
use wheelhouse::model::{
    Against, AgentState, Environment, Named, PlayOrder, Reach, ReceiptId, Role, Size, TaskSpec,
    TaskState,
};
use wheelhouse::protocol::{ReportKind, Status};

use super::support::clock::wait_for;
use super::support::visitor::Visitor;
use super::support::world::{PROGRAM, World};
use super::support::yard::Yard;

/// Does what is typed into it.
const SHELL: &[&str] =
    &["sh", "-c", "stty -echo; while read line; do eval \"$line\"; done", "ROOT"];

/// Does in its workspace what it is told, line by line.
const OBEDIENT: &str = "on prompt\n  run $PROMPT\n  status done \"ran it, 1 command passed\"\n";

const ROLES: [(&str, Role); 4] = [
    ("work", Role::Worker),
    ("lead", Role::Lead),
    ("top", Role::Orchestrator),
    ("check", Role::Verifier),
];

/// What a request is made about.
pub(super) struct Ids {
    agent: String,
    task: String,
    receipt: ReceiptId,
}

/// Returns a request of this kind. A new kind of request asks for its line here.
#[expect(clippy::too_many_lines, reason = "one line for each kind of request")]
pub(super) fn example(kind: RequestKind, ids: &Ids) -> Request {
    let agent = || ids.agent.clone();
    let (agents, task) = (|| vec![ids.agent.clone()], || ids.task.clone());
    let (none, grace_ms) = (|| Environment(BTreeMap::new()), Some(100));
    let (about, lock) = (|ask| Request::Task { ask }, || format!("lock-{}", ids.agent));
    match kind {
        RequestKind::Hello => {
            Request::Hello { protocol: PROTOCOL, version: "test".into(), token: None }
        }
        RequestKind::Me => Request::Me,
        RequestKind::Status => Request::Status,
        RequestKind::Report => Request::Report {
            call: format!("call-{}", ids.agent),
            kind: ReportKind::Status(Status::Done),
            text: "built 6 endpoints".into(),
            schema: None,
            tag: None,
        },
        RequestKind::Hook => Request::Hook { call: "c".into(), said: serde_json::json!({}) },
        RequestKind::Up => Request::Up { team: Some("crew".into()), environment: none() },
        RequestKind::Start => Request::Start { agents: agents(), environment: none() },
        RequestKind::Stop => Request::Stop { agents: agents(), grace_ms },
        RequestKind::Restart => {
            Request::Restart { agents: agents(), environment: none(), grace_ms }
        }
        RequestKind::Resume => {
            Request::Resume { agents: agents(), environment: none(), grace_ms, brief: false }
        }
        RequestKind::Add => Request::Add {
            agent: NewAgent {
                name: "fresh".into(),
                cli: "shell".into(),
                role: Role::Worker,
                team: None,
                cwd: None,
                env: none(),
                command: Vec::new(),
                posting: wheelhouse::api::WantedPosting::default(),
            },
            environment: none(),
        },
        RequestKind::Forget => Request::Forget { agents: agents(), abandon: false },
        RequestKind::Down => Request::Down { force: true },
        RequestKind::Read => Request::Read { agent: agent(), lines: Some(1), scrollback: false },
        RequestKind::History => Request::History { agent: agent(), before: None, count: 1 },
        RequestKind::Screen => Request::Screen { agent: agent() },
        RequestKind::Explain => Request::Explain { agent: agent() },
        RequestKind::AwaitAgent => Request::AwaitAgent {
            agent: agent(),
            states: vec![
                AgentState::Unknown,
                AgentState::Idle,
                AgentState::Working,
                AgentState::Done,
                AgentState::Starting,
                AgentState::Exited,
            ],
        },
        RequestKind::Dispatch => {
            let (prompt, idempotency_key, anyway) = ("x".into(), None, false);
            let (agents, command, no_queue) = (agents(), false, false);
            Request::Dispatch { agents, prompt, idempotency_key, anyway, command, no_queue }
        }
        RequestKind::DispatchTemplate => Request::DispatchTemplate {
            agents: agents(),
            template: "none".into(),
            vars: BTreeMap::new(),
            idempotency_key: None,
            anyway: false,
            no_queue: false,
        },
        RequestKind::Withdraw => Request::Withdraw { receipt: ids.receipt },
        RequestKind::AwaitReceipts => Request::AwaitReceipts { receipts: vec![ids.receipt] },
        RequestKind::Interrupt => Request::Interrupt { agent: agent() },
        RequestKind::Answer => {
            let (dialog, choice) = (String::new(), DialogChoice::Approve);
            Request::Answer { agent: agent(), dialog, choice }
        }
        RequestKind::Keys => Request::Keys { agent: agent(), keys: Vec::new() },
        RequestKind::Resize => Request::Resize { agent: agent(), size: Size::default() },
        RequestKind::Tree => Request::Tree { agent: agent() },
        RequestKind::FlushCast => Request::FlushCast { agent: agent() },
        RequestKind::Watch => {
            Request::Watch { agents: Vec::new(), focused: None, is_attended: false }
        }
        RequestKind::Subscribe => Request::Subscribe,
        RequestKind::Reload => Request::Reload,
        RequestKind::Teams => Request::Teams { environment: none() },
        RequestKind::Clis => Request::Clis { environment: none() },
        RequestKind::AddTasks => {
            let mut spec =
                TaskSpec { title: "x".into(), prompt: "x".into(), ..TaskSpec::default() };
            spec.terms.agent = Some(ids.agent.parse().unwrap());
            about(TaskRequest::Add { specs: vec![spec] })
        }
        RequestKind::ListTasks => about(TaskRequest::List),
        RequestKind::EndedTasks => about(TaskRequest::Ended { before: None }),
        RequestKind::ShowTask => about(TaskRequest::Show { task: task() }),
        RequestKind::WaitTask => {
            about(TaskRequest::Wait { task: task(), states: TaskState::ALL.to_vec() })
        }
        RequestKind::ClaimTask => about(TaskRequest::Claim { task: task(), agent: agent() }),
        RequestKind::RetryTask => {
            about(TaskRequest::Retry { task: task(), advice: None, agent: None })
        }
        RequestKind::CancelTask => about(TaskRequest::Cancel { task: task() }),
        RequestKind::Attention => about(TaskRequest::Attention),
        RequestKind::MarkRead => about(TaskRequest::MarkRead { items: Vec::new() }),
        RequestKind::Resolve => about(TaskRequest::Resolve { items: Vec::new() }),
        RequestKind::Consent => about(TaskRequest::Consent { from: agent(), to: agent() }),
        RequestKind::Allow => about(TaskRequest::Allow { agent: agent() }),
        RequestKind::Meet => about(TaskRequest::Meet { need: "n99".into() }),
        RequestKind::BeginRun => {
            let order: PlayOrder = serde_json::from_str(ORDER).unwrap();
            Request::Run { ask: RunRequest::Begin { order: Box::new(order), environment: none() } }
        }
        RequestKind::ResumeRun => {
            Request::Run { ask: RunRequest::Resume { run: "r1".into(), environment: none() } }
        }
        RequestKind::CancelRun => Request::Run { ask: RunRequest::Cancel { run: "r1".into() } },
        RequestKind::ListRuns => Request::Run { ask: RunRequest::List },
        RequestKind::TakeLock => {
            Request::Lock { ask: LockRequest::Take { name: lock(), limit_ms: None } }
        }
        RequestKind::ReleaseLock => Request::Lock { ask: LockRequest::Release { name: lock() } },
        RequestKind::AwaitLock => Request::Lock { ask: LockRequest::Await { name: "free".into() } },
        RequestKind::ListLocks => Request::Lock { ask: LockRequest::List },
        RequestKind::Diff => {
            Request::Diff { agent: agent(), against: Against::Head, paths: Vec::new() }
        }
        RequestKind::ListWorkspaces => Request::Workspace { ask: WorkspaceRequest::List },
        RequestKind::CleanWorkspaces => {
            let clean = serde_json::json!({ "about": "clean", "agents": agents() });
            Request::Workspace { ask: serde_json::from_value(clean).unwrap() }
        }
        RequestKind::Rescue => {
            Request::Workspace { ask: WorkspaceRequest::Rescue { agents: agents() } }
        }
        RequestKind::ListRescues => Request::Workspace { ask: WorkspaceRequest::Rescues },
        RequestKind::Restore => {
            Request::Workspace { ask: WorkspaceRequest::Restore { name: "none".into() } }
        }
        RequestKind::Merge => {
            let merge = serde_json::json!({ "about": "merge", "agent": ids.agent });
            Request::Workspace { ask: serde_json::from_value(merge).unwrap() }
        }
        RequestKind::Contracts => {
            Request::Contracts { publisher: None, title: None, version: None }
        }
        RequestKind::Events => Request::Events {
            after: 0,
            limit: 1,
            agent: Some(agent()),
            task: Some(task()),
            kind: None,
        },
    }
}

const ORDER: &str = r#"{"call":"c","cast":{"playbook":"p","hash":"","pattern":"hub","team":"crew",
    "vars":{},"agents":[],"teams":[],"stages":[]},"tasks":[],"scripts":{}}"#;

pub(super) fn ids(agent: &str, task: &str, receipt: u64) -> Ids {
    let receipt = serde_json::from_value(serde_json::json!(format!("r{receipt}")));
    Ids { agent: agent.into(), task: task.into(), receipt: receipt.unwrap() }
}

#[test]
fn every_request_is_a_row_and_names_what_it_is_about() {
    for kind in RequestKind::ALL {
        if *kind == RequestKind::BeginRun {
            continue;
        }
        let request = example(*kind, &ids("one", "t1", 77));
        assert_eq!(request.kind(), *kind);
        // Whatever has a name in it that an id was put into says so.
        let text = serde_json::to_string(&request).unwrap();
        let named = request.named();
        let says = |word: &str| named.iter().any(|named| named.to_string().contains(word));
        if text.contains("\"one\"") {
            assert!(says("`one`"), "{kind:?} names an agent: {text}");
        }
        if text.contains("\"t1\"") {
            assert!(says("`t1`"), "{kind:?} names a task: {text}");
        }
        if text.contains("\"r77\"") {
            assert!(says("`r77`"), "{kind:?} names a prompt: {text}");
        }
    }
}

/// Returns a world with two teams: one with an agent of each role and a worker more, one foreign.
pub(super) fn two_teams() -> World {
    let world = World::new();
    let argv = serde_json::to_string(SHELL).unwrap().replace("ROOT", world.mark());
    let mut config = format!("[stop]\ngrace_seconds = 1\n[cli.sh]\ncommand = {argv}\n");
    let crew = ROLES.iter().map(|(name, role)| (*name, *role, "crew"));
    let more = [("mate", Role::Worker, "crew"), ("alien", Role::Worker, "other")];
    for (name, role, team) in crew.chain(more) {
        write!(
            config,
            "[[team.{team}.agents]]\nname = \"{name}\"\ncli = \"sh\"\nrole = \"{role}\"\n"
        )
        .unwrap();
    }
    world.write_config(&config);
    world.trust();
    world.ok(&["up", "crew"]);
    world.ok(&["up", "other"]);
    world
}

fn add_task(world: &World, agent: &str) -> String {
    let words = ["task", "add", "--title", "x", "--prompt", "x", "--agent", agent];
    world.json(&words)["id"].as_str().unwrap().to_owned()
}

fn dispatched(world: &World, agent: &str) -> ReceiptId {
    // A shell that has been silent for long waits for no prompt: refused, it has a receipt as well.
    let said = world.run(&["dispatch", agent, "x", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let receipt = told["receipt"].as_str().unwrap();
    if said.code == Some(0) {
        world.ok(&["withdraw", receipt]);
    }
    receipt.parse().unwrap()
}

#[test]
fn each_role_gets_over_the_socket_what_the_table_gives_it_and_nothing_of_others() {
    let world = two_teams();
    let foreign = Ids {
        agent: "alien".into(),
        task: add_task(&world, "alien"),
        receipt: dispatched(&world, "alien"),
    };
    let unknown = ids("nobody", "t999", 999);
    for (name, role) in ROLES {
        // Those who lead act on another, so that they outlive what they do.
        let target = if role.reach() > Reach::Own { "mate" } else { name };
        for (whose, ids) in [
            (
                "own",
                &Ids {
                    agent: target.into(),
                    task: add_task(&world, target),
                    receipt: dispatched(&world, target),
                },
            ),
            ("foreign", &foreign),
            ("unknown", &unknown),
        ] {
            for kind in RequestKind::ALL {
                let request = example(*kind, ids);
                let reach = kind.right().of(Speaker::Agent(role));
                let is_named = request.named().iter().any(|named| *named != Named::Everyone);
                // Nobody was started by an agent here, and nobody has a need.
                let is_there =
                    whose == "own" && reach != Reach::Started && *kind != RequestKind::Meet;
                let is_let = reach != Reach::Never && (!is_named || is_there);
                let answer = Visitor::speaking(&world, name).answer(request);
                let refusal =
                    answer.as_ref().err().filter(|fault| fault.message.contains(" may not "));
                assert_eq!(refusal.is_none(), is_let, "{role} {kind:?} {whose}: {answer:?}");
                if let Some(fault) = refusal {
                    assert!(fault.hint.is_some(), "{role} {kind:?} {whose}: {fault:?}");
                }
            }
        }
    }
    let status = world.status();
    let alien = status.agents.iter().find(|agent| agent.name == "alien").unwrap();
    assert_eq!((alien.run, alien.queued), (1, 0), "nobody has touched it");
    let task = status.tasks.iter().find(|task| task.id == foreign.task).unwrap();
    assert_eq!(task.state, TaskState::Ready);
}

#[test]
fn what_is_answered_is_about_those_within_reach() {
    let world = two_teams();
    let (own, other) = (add_task(&world, "work"), add_task(&world, "alien"));
    let seen = |agent: &str| {
        let Ok(Response::Status(status)) = Visitor::speaking(&world, agent).answer(Request::Status)
        else {
            panic!("{agent}")
        };
        let names: Vec<String> = status.agents.into_iter().map(|agent| agent.name).collect();
        (names, status.tasks.into_iter().map(|task| task.id).collect::<Vec<_>>())
    };
    assert_eq!(seen("work"), (vec!["work".into()], vec![own.clone()]));
    let led = ["work", "lead", "check", "mate"].map(str::to_owned).to_vec();
    assert_eq!(seen("lead"), (led, vec![own.clone()]));
    let team = ["work", "lead", "top", "check", "mate"].map(str::to_owned).to_vec();
    for agent in ["top", "check"] {
        assert_eq!(seen(agent), (team.clone(), vec![own.clone()]), "not {other}");
    }
    let events = |agent: &str| {
        let request =
            Request::Events { after: 0, limit: 1000, agent: None, task: None, kind: None };
        let Ok(Response::Events { events, .. }) = Visitor::speaking(&world, agent).answer(request)
        else {
            panic!("{agent}")
        };
        events.into_iter().filter_map(|event| event.agent).collect::<Vec<_>>()
    };
    assert!(events("work").iter().all(|agent| agent == "work"));
    assert!(events("top").iter().any(|agent| agent == "mate"));
    assert!(events("top").iter().all(|agent| agent != "alien"));
}

#[test]
fn what_runs_inside_an_agent_is_that_agent_with_its_token_and_nobody_without() {
    let world = two_teams();
    let does = |line: &str, file: &str| {
        let path = world.path(file);
        let path = path.to_str().unwrap();
        let line = format!("{line} > {path}.new 2>&1; mv {path}.new {path}");
        world.ok(&["agent", "keys", "work", "--text", &line, "enter"]);
        wait_for(file, || fs::exists(path).unwrap());
        fs::read_to_string(path).unwrap()
    };
    let said = does(&format!("'{PROGRAM}' whoami"), "who");
    assert!(said.starts_with("agent work, worker of team crew\n"), "{said}");
    let said = does(&format!("'{PROGRAM}' agent read mate"), "read");
    assert!(said.contains("A worker may not read a pane: it has no permission for agent `mate`"));
    let said = does(&format!("'{PROGRAM}' status"), "status");
    assert!(said.contains("work") && !said.contains("mate"), "{said}");
    let person = format!("env -u WHEELHOUSE_TOKEN '{PROGRAM}' agent read mate");
    let said = does(&person, "person");
    assert!(said.contains("This runs inside agent `work`, and does not say so"), "{said}");
    let away =
        format!("(setsid -f env -u WHEELHOUSE_TOKEN '{PROGRAM}' agent stop mate) 2>&1; sleep 1");
    let _ = does(&away, "away");
    assert_eq!(world.agent("mate").run, 1);
    assert!(world.agent("mate").pid.is_some());
}

#[test]
fn what_an_agent_types_in_its_worktree_is_about_its_own_hub_and_by_itself() {
    let yard = Yard::new(&[("a.txt", "1\n")], &[("one", OBEDIENT), ("two", OBEDIENT)], "");
    // The tree has settings of its own in it: it could be taken for another project.
    yard.up(&["one", "two"]);
    let (world, root) = (&yard.world, yard.root("one"));
    fs::copy(yard.project().join("wheelhouse.toml"), root.join("wheelhouse.toml")).unwrap();
    let does = |line: &str| {
        yard.say("one", &format!("'{PROGRAM}' {line} > out 2>&1; true"));
        fs::read_to_string(root.join("out")).unwrap()
    };
    let said = does("status --json");
    let status: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(status["hub"]["session"], world.status().hub.session, "{said}");
    assert_eq!(status["agents"].as_array().unwrap().len(), 1, "{said}");
    for (line, words) in [
        ("up crew", "A worker may not start a team"),
        ("down", "A worker may not stop everything"),
        ("down --force", "A worker may not stop everything"),
        ("agent read two", "A worker may not read a pane"),
        ("--project . down --force", "Nothing runs"),
    ] {
        let said = does(line);
        assert!(said.contains(words), "{line}: {said}");
    }
    assert_eq!(world.status().agents.iter().filter(|agent| agent.pid.is_some()).count(), 2);
    assert_eq!(world.players("hub").len(), 1, "no other hub was started");
}
