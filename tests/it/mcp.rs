//! The MCP server, used by a real client: what is offered to whom, and what comes of each tool.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};
use wheelhouse::api::Speaker;
use wheelhouse::mcp::TOOLS;
use wheelhouse::model::{Reach, Role};

use super::support::clock::wait_for;
use super::support::world::{PROGRAM, World};

const WORKER: &str = "on prompt containing \"needs the key\"\n  status blocked \"the api key\"\n\
     on prompt\n  run echo done > $WHEELHOUSE_AGENT.txt\n  status done \"wrote 1 file, 3 tests pass\"\n";

/// Does what is typed into it.
const SHELL: &str = r#"["sh", "-c", "stty -echo; while read line; do eval \"$line\"; done"]"#;

/// Returns a world with an orchestrator, a lead, a verifier and two workers that do as they are told.
fn crew(more: &str) -> World {
    let world = World::new();
    let path = world.path("worker.sim");
    fs::write(&path, format!("speed 1\n{WORKER}")).unwrap();
    let command = serde_json::to_string(&[PROGRAM, "sim", path.to_str().unwrap()]).unwrap();
    let mut config = format!(
        "[stop]\ngrace_seconds = 1\n[cli.hands]\nlike = \"sim\"\ncommand = {command}\n\
         [cli.sh]\ncommand = {SHELL}\n{more}\n"
    );
    let agents = [
        ("top", "sh", "orchestrator"),
        ("lead", "sh", "lead"),
        ("check", "sh", "verifier"),
        ("one", "hands", "worker"),
        ("two", "hands", "worker"),
    ];
    for (name, cli, role) in agents {
        write!(
            config,
            "[[team.crew.agents]]\nname = \"{name}\"\ncli = \"{cli}\"\nrole = \"{role}\"\n"
        )
        .unwrap();
    }
    world.write_config(&config);
    world.trust();
    world.ok(&["up", "crew"]);
    for agent in ["one", "two"] {
        world.ok(&["wait", "--agent", agent, "--for", "idle", "--timeout", "60"]);
    }
    world
}

fn names(tools: &[rmcp::model::Tool]) -> Vec<String> {
    tools.iter().map(|tool| tool.name.to_string()).collect()
}

#[test]
fn each_role_is_offered_the_tools_that_it_may_use_with_a_schema_and_words() {
    let world = crew("");
    let roles = [
        (Some("one"), Speaker::Agent(Role::Worker)),
        (Some("lead"), Speaker::Agent(Role::Lead)),
        (Some("top"), Speaker::Agent(Role::Orchestrator)),
        (Some("check"), Speaker::Agent(Role::Verifier)),
        (None, Speaker::Person),
    ];
    for (agent, speaker) in roles {
        let client = world.mcp(agent);
        let offered = client.tools();
        let may = TOOLS.iter().filter(|tool| tool.kind.right().of(speaker) != Reach::Never);
        assert_eq!(names(&offered), may.map(|tool| tool.name).collect::<Vec<_>>(), "{speaker}");
        for tool in &offered {
            let description = tool.description.as_deref().unwrap_or_default();
            assert!((20..400).contains(&description.len()), "{}: {description}", tool.name);
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        }
        assert!(client.close().success());
    }
}

#[test]
fn an_orchestrator_hands_out_work_waits_for_it_and_reads_what_came_of_it() {
    let world = crew("");
    let top = world.mcp(Some("top"));
    let who = top.ok("whoami", json!({}));
    assert_eq!((&who["agent"], &who["role"]), (&json!("top"), &json!("orchestrator")));
    let agents = top.ok("list_agents", json!({ "limit": 2 }));
    assert_eq!(agents["agents"][0]["name"], "top");
    assert_eq!((&agents["total"], &agents["next_offset"]), (&json!(5), &json!(2)));
    let rest = top.ok("list_agents", json!({ "offset": 2 }));
    assert_eq!(rest["agents"].as_array().unwrap().len(), 3);

    let tasks = json!([
        { "title": "first", "prompt": "Write it", "key": "a", "agent": "one", "gates": ["file:one.txt"] },
        { "title": "second", "prompt": "It needs the key", "agent": "two" },
        { "title": "third", "prompt": "After", "needs": ["a"], "agent": "one" },
    ]);
    let added = top.ok("add_tasks", json!({ "tasks": tasks }));
    let ids: Vec<String> = added["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["id"].as_str().unwrap().to_owned())
        .collect();
    let waited = top.ok("wait", json!({ "tasks": [ids[2]], "timeout_seconds": 100 }));
    assert_eq!((&waited["reached"], &waited["tasks"][0]["state"]), (&json!(true), &json!("done")));
    let first = top.ok("show_task", json!({ "task": ids[0] }));
    assert_eq!(first["attempts"][0]["claim"]["gates"][0]["passed"], true, "{first}");
    assert_eq!(first["added_by"], "top");
    let blocked = top.ok("wait", json!({ "tasks": [ids[1]], "timeout_seconds": 100 }));
    assert_eq!(blocked["tasks"][0]["state"], "blocked", "{blocked}");
    let advice = json!({ "task": ids[1], "advice": "Do it without" });
    let _ = top.ok("cancel_task", json!({ "task": ids[1] }));
    assert!(top.call("show_task", json!({ "task": "t99" })).unwrap_err().contains("may not"));
    let _ = top.ok("retry_task", advice);

    let screen = top.ok("read_screen", json!({ "agent": "one", "lines": 5 }));
    assert!(screen.as_str().unwrap().lines().count() <= 5, "{screen}");
    let old = top.ok("read_screen", json!({ "agent": "one", "scrollback": true }));
    assert!(old.as_str().unwrap().starts_with("[lines "), "{old}");
    let sent = top.ok("dispatch", json!({ "agents": ["one"], "prompt": "More", "wait": true }));
    assert_eq!(sent["receipts"][0]["state"], "accepted", "{sent}");
    let idle = top.ok("wait", json!({ "agent": "one", "timeout_seconds": 100 }));
    assert_eq!(idle["reached"], true, "{idle}");

    let mut after = 0;
    let mut kinds: Vec<String> = Vec::new();
    loop {
        let page = top.ok("list_events", json!({ "after": after, "limit": 10 }));
        let events = page["events"].as_array().unwrap();
        kinds.extend(events.iter().map(|one| one["kind"].as_str().unwrap().to_owned()));
        if page["is_end"] == true {
            break;
        }
        after = page["last"].as_u64().unwrap();
    }
    assert!(kinds.contains(&"agent.prompt".to_owned()), "who asked is on record: {kinds:?}");
    assert!(kinds.contains(&"task.done".to_owned()), "{kinds:?}");
}

#[test]
fn what_is_wrong_is_said_with_what_to_do_next() {
    let world = crew("");
    let (top, one) = (world.mcp(Some("top")), world.mcp(Some("one")));
    for (client, tool, arguments, words) in [
        (&top, "read_screen", json!({ "agent": "nobody" }), "has no permission for"),
        (&top, "read_screen", json!({ "agnet": "one" }), "The arguments do not fit"),
        (&top, "wait", json!({}), "Wait for what?"),
        (&top, "wait", json!({ "agent": "one", "states": ["happy"] }), "is not a state"),
        (&top, "wait", json!({ "agent": "one", "states": ["ready"] }), "An agent is starting"),
        (&top, "wait", json!({ "agent": "one", "tasks": ["t1"] }), "one thing at a time"),
        (&top, "read_screen", json!({ "agent": 7 }), "`agent` (string, required)"),
        (&top, "stop_agents", json!({ "agents": [] }), "No agent is named"),
        (&top, "add_tasks", json!({ "tasks": [] }), "No task is given"),
        (&top, "show_task", json!({ "task": "t99" }), "`list_tasks` shows"),
        (&top, "release_lock", json!({ "name": "free" }), "`list_locks`"),
        (&one, "report_progress", json!({ "step": 5, "steps": 3 }), "no step 5 of 3"),
        (&one, "dispatch", json!({ "agents": ["two"], "prompt": "x" }), "hint: `whoami` shows"),
        (&top, "read_screen", json!({ "agent": "one", "lines": 5.0 }), ""),
        (&top, "dispatch", json!({ "agents": [] , "prompt": "x" }), "No agent is named"),
        (&top, "dispatch", json!({ "agents": ["one"] }), "A prompt or a template"),
        (&top, "read_contract", json!({ "title": "x" }), "There is no contract"),
        (&top, "add_agent", json!({ "name": "new", "cli": "hands" }), "lets no agent start"),
        (
            &top,
            "add_tasks",
            json!({ "tasks": [{ "title": "x", "prompt": "x", "gates": ["rm -rf /"] }] }),
            "gates that run a command",
        ),
        (&one, "stop_agents", json!({ "agents": ["two"] }), "A worker may not stop agents"),
        (&one, "read_screen", json!({ "agent": "two" }), "has no permission for"),
        (&one, "hand_on_artifact", json!({ "path": "../x", "kind": "file" }), "does not lie"),
        (&one, "report_progress", json!({ "step": 1, "steps": 2, "tag": "zzzz", "text": "x" }), ""),
    ] {
        let said = client.call(tool, arguments.clone());
        if words.is_empty() {
            assert!(said.is_ok(), "{tool} {arguments}: {said:?}");
            continue;
        }
        let said = said.unwrap_err();
        assert!(said.contains(words), "{tool} {arguments}: {said}");
        assert!(said.contains("hint: "), "{tool} {arguments}: {said}");
    }
    assert!(top.call("no_such_tool", json!({})).unwrap_err().contains("`tools/list`"));
}

#[test]
fn contracts_locks_and_reports_go_through_tools_and_a_hub_that_dies_is_not_noticed() {
    let world = crew("");
    let (one, two) = (world.mcp(Some("one")), world.mcp(Some("two")));
    let said =
        one.ok("publish_contract", json!({ "title": "users", "body": "GET /users\nfile: api.md" }));
    assert_eq!(
        (&said["outcome"], &said["note"]),
        (&json!("accepted"), &json!("it is version 1 now"))
    );
    world.kill_hub();
    let listed = two.ok("list_contracts", json!({}));
    assert_eq!(listed["contracts"][0]["title"], "users", "{listed}");
    let read = two.ok("read_contract", json!({ "title": "users" }));
    assert_eq!(
        (&read["body"], &read["publisher"]),
        (&json!("GET /users\nfile: api.md"), &json!("one"))
    );
    let shown = world.ok(&["contract", "show", "users"]);
    assert_eq!(shown, "users version 1, by one\n  GET /users\n  file: api.md\n");
    assert!(world.ok(&["contract", "list"]).contains("users"));

    assert_eq!(one.ok("take_lock", json!({ "name": "db" }))["is_yours"], true);
    let waits = two.ok("take_lock", json!({ "name": "db" }));
    assert_eq!((&waits["is_yours"], &waits["lock"]["holder"]), (&json!(false), &json!("one")));
    one.ok("release_lock", json!({ "name": "db" }));
    let mine = two.ok("take_lock", json!({ "name": "db", "wait_seconds": 60 }));
    assert_eq!(mine["is_yours"], true, "{mine}");
    assert_eq!(one.ok("list_locks", json!({}))["locks"][0]["holder"], "two");

    let said = one
        .ok("report_status", json!({ "status": "done", "text": "built", "evidence": "3 tests" }));
    assert_eq!(said["note"], "no task is in hand: it counts for none", "{said}");
    let person = world.mcp(None);
    let said = person.call("report_status", json!({ "status": "done", "text": "x" })).unwrap_err();
    assert!(said.contains("Nobody may report without a token"), "{said}");
    let all = person.ok("list_agents", json!({}));
    assert_eq!(all["total"], 5);
}

#[test]
fn an_orchestrator_starts_agents_of_its_own_within_what_its_team_allows() {
    let world = crew("[team.crew.spawn]\nclis = [\"hands\"]\nagents_max = 2\ndepth_max = 1\n");
    let top = world.mcp(Some("top"));
    assert_eq!(top.ok("whoami", json!({}))["clis"], json!(["hands"]));
    let new = |name: &str| json!({ "name": name, "cli": "hands" });
    assert_eq!(top.ok("add_agent", new("helper"))["started"], json!(["helper"]));
    top.ok("wait", json!({ "agent": "helper", "states": ["idle"], "timeout_seconds": 100 }));
    top.ok("add_agent", new("second"));
    for (arguments, words) in [
        (new("third"), "already started 2 others"),
        (json!({ "name": "third", "cli": "sh" }), "not sh"),
        (json!({ "name": "third", "cli": "hands", "cwd": "../.." }), "outside the project"),
        (new("one"), "There is already an agent `one`"),
        (new("../x"), "hint"),
    ] {
        let said = top.call("add_agent", arguments.clone());
        let said = said.expect_err(&arguments.to_string());
        assert!(said.contains(words) || words == "hint", "{arguments}: {said}");
    }
    let order: Vec<String> = world.status().agents.into_iter().map(|agent| agent.name).collect();
    assert_eq!(order, ["top", "helper", "second", "lead", "check", "one", "two"], "under it");
    assert_eq!(world.agent("helper").started_by.as_deref(), Some("top"));
    // It leads them; nobody else does, and a worker starts none.
    let lead = world.mcp(Some("lead"));
    let said = lead.call("stop_agents", json!({ "agents": ["helper"] })).unwrap_err();
    assert!(said.contains("has no permission for"), "{said}");
    let said = world.mcp(Some("helper")).call("add_agent", new("deep")).unwrap_err();
    assert!(said.contains("A worker may not add agents"), "{said}");
    let added = top
        .ok("add_tasks", json!({ "tasks": [{ "title": "x", "prompt": "x", "agent": "helper" }] }));
    let id = added["tasks"][0]["id"].clone();
    let done = top.ok("wait", json!({ "tasks": [id], "timeout_seconds": 100 }));
    assert_eq!(done["tasks"][0]["state"], "done", "{done}");
    top.ok("stop_agents", json!({ "agents": ["helper", "second"] }));
    top.ok("remove_agents", json!({ "agents": ["helper"] }));
    assert!(world.status().agents.iter().all(|agent| agent.name != "helper"));
    let said = top.call("remove_agents", json!({ "agents": ["one"] })).unwrap_err();
    assert!(said.contains("has no permission for"), "{said}");
}

#[test]
fn a_report_says_what_was_made_of_it_and_one_of_an_attempt_that_is_over_is_refused() {
    let world = World::new();
    let argv: Value = serde_json::from_str(SHELL).unwrap();
    // Its screen shows what a cli shows that waits, and nothing moves it but the test.
    let script = "speed 1\non prompt\n  think 600s\n";
    fs::write(world.path("slow.sim"), script).unwrap();
    let slow = json!([PROGRAM, "sim", world.path("slow.sim")]);
    world.write_config(&format!(
        "[stop]\ngrace_seconds = 1\n[cli.slow]\nlike = \"sim\"\ncommand = {slow}\n[cli.sh]\ncommand = {argv}\n\
         [[team.crew.agents]]\nname = \"one\"\ncli = \"slow\"\nowns = [\"src/**\"]\n\
         [[team.crew.agents]]\nname = \"two\"\ncli = \"sh\"\nowns = [\"web/**\"]\n"
    ));
    world.trust();
    world.ok(&["up", "crew"]);
    world.ok(&["wait", "--agent", "one", "--for", "idle", "--timeout", "60"]);
    let one = world.mcp(Some("one"));
    let begin = |title: &str| {
        let task =
            world.json(&["task", "add", "--title", title, "--prompt", "x", "--agent", "one"]);
        wait_for("the task is taken", || {
            world.agent("one").state.to_string() == "working"
                && one.ok("whoami", json!({}))["task"] == task["id"]
        });
        (task["id"].as_str().unwrap().to_owned(), one.ok("whoami", json!({}))["tag"].clone())
    };
    let (first, tag) = begin("a");
    let note = |tool: &str, mut arguments: Value| {
        arguments["tag"] = tag.clone();
        let said = one.ok(tool, arguments);
        format!("{}: {}", said["outcome"].as_str().unwrap(), said["note"].as_str().unwrap())
    };
    assert_eq!(
        note("report_progress", json!({ "step": 1, "steps": 3, "text": "read" })),
        format!("accepted: noted for task {first}")
    );
    assert_eq!(
        note("report_build", json!({ "passed": false, "text": "E1" })),
        format!("accepted: noted for task {first}; nothing counts as done until one passes")
    );
    assert_eq!(
        note(
            "report_status",
            json!({ "status": "done", "text": "all", "evidence": "3 tests pass" })
        ),
        format!("refused: sent back: the last build of task {first} failed")
    );
    assert_eq!(
        note("report_build", json!({ "passed": true })),
        format!("accepted: noted for task {first}")
    );
    assert_eq!(
        note("report_status", json!({ "status": "done", "text": "I think it looks good" })),
        "refused: sent back: say what you checked, with numbers, paths or results"
    );
    let need = note("ask_need", json!({ "thing": "web/a.ts", "why": "types" }));
    assert!(need.starts_with("accepted: need n1: ") && need.contains("two"), "{need}");
    fs::write(world.project.join("out.json"), "{}").unwrap();
    assert_eq!(
        note("hand_on_artifact", json!({ "path": "out.json", "kind": "data" })),
        format!("accepted: noted for task {first}")
    );
    assert_eq!(
        note("publish_contract", json!({ "title": "t", "body": "b" })),
        "accepted: it is version 1 now"
    );
    world.ok(&["task", "cancel", &first]);
    // The attempt is over, and the token is that of the same run.
    let done = json!({ "status": "done", "text": "all", "evidence": "3 tests pass", "tag": tag });
    let said = one.call("report_status", done.clone()).unwrap_err();
    assert!(said.contains("has ended: the report is ignored"), "{said}");
    world.ok(&["agent", "restart", "one"]);
    assert!(one.call("whoami", json!({})).unwrap_err().contains("belongs to no running agent"));
    world.ok(&["wait", "--agent", "one", "--for", "idle", "--timeout", "60"]);
    let again = world.mcp(Some("one"));
    let second = world.json(&["task", "add", "--title", "b", "--prompt", "x", "--agent", "one"]);
    wait_for("the next task", || again.ok("whoami", json!({}))["task"] == second["id"]);
    assert!(again.call("report_status", done).unwrap_err().contains("has ended"));
    let task = world.json(&["task", "show", second["id"].as_str().unwrap()]);
    assert_eq!(task["state"], "running", "nothing was counted for it");
}
