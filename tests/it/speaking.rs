//! Agents speak beside their terminals: by calls with a token, hooks, and events.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use wheelhouse::api::{Explanation, Fault, FromHub, PROTOCOL, Request, Response};
use wheelhouse::model::Token;
use wheelhouse::protocol::{ReportKind, Status};

use super::support::clock::wait_for;
use super::support::process::{self, environment};
use super::support::visitor::Visitor;
use super::support::world::{PROGRAM, World, files, run};

const STANDIN: &str = include_str!("support/standin.py");
/// Does what is typed into it.
const SHELL: &[&str] =
    &["sh", "-c", "stty -echo; while read line; do eval \"$line\"; done", "ROOT"];
const DONE: &str = "STATUS: DONE — built 6 endpoints";

/// Returns a world with an agent `one` that plays a cli, with more words in its command.
fn acted(cli: &str, words: &[&str], settings: &str) -> World {
    let world = World::new();
    fs::write(world.path("standin.py"), STANDIN).unwrap();
    let script = world.path("standin.py").to_str().unwrap().to_owned();
    let mut command = vec!["python3", &script, cli, "--"];
    command.extend(words);
    let command = serde_json::to_string(&command).unwrap();
    let team = format!("[[team.crew.agents]]\nname = \"one\"\ncli = \"{cli}\"\n");
    world.write_config(&format!("[cli.{cli}]\ncommand = {command}\n{settings}\n{team}"));
    world.trust();
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "up [");
    world
}

impl World {
    fn says(&self, said: &Value) {
        self.ok(&["agent", "keys", "one", "--text", &said.to_string(), "enter"]);
    }

    fn explain(&self) -> Explanation {
        serde_json::from_value(self.json(&["agent", "explain", "one"])).unwrap()
    }

    fn wait_for_state(&self, state: &str, source: &str) {
        wait_for(&format!("{state} by {source}"), || {
            let agent = self.agent("one");
            (agent.state.to_string(), agent.source.to_string()) == (state.into(), source.into())
        });
    }

    fn conversation(&self) -> Option<String> {
        self.seat("one")["member"]["conversation"].as_str().map(str::to_owned)
    }

    pub(crate) fn token(&self, agent: &str) -> Token {
        let pid = self.agent(agent).pid.unwrap();
        let mut token = None;
        wait_for("its token", || {
            let entries = environment(pid);
            token =
                entries.iter().find_map(|e| e.strip_prefix("WHEELHOUSE_TOKEN=").map(str::to_owned));
            token.is_some()
        });
        Token(token.unwrap())
    }
}

impl Visitor {
    fn try_ask(&mut self, request: Request) -> Result<Response, Fault> {
        let id = self.send(request);
        loop {
            if let FromHub::Answer { id: answered, outcome } = self.next().unwrap()
                && answered == id
            {
                return outcome;
            }
        }
    }

    pub(crate) fn greet(&mut self, token: &Token) -> Result<Response, Fault> {
        let (version, token) = ("test".to_owned(), Some(token.clone()));
        self.try_ask(Request::Hello { protocol: PROTOCOL, version, token })
    }
}

fn done(call: &str) -> Request {
    let kind = ReportKind::Status(Status::Done);
    Request::Report {
        call: call.to_owned(),
        kind,
        text: "built 6 endpoints".to_owned(),
        schema: None,
        tag: None,
    }
}

#[test]
fn an_agent_speaks_for_itself_alone_and_only_while_it_runs() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    let token = world.token("one");
    let mut agent = Visitor::connect(&world);
    assert!(matches!(agent.greet(&token), Ok(Response::Welcome { .. })));
    let Response::Status(status) = agent.ask(Request::Status) else { panic!() };
    let names: Vec<&str> = status.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["one"]);
    let none = BTreeMap::new;
    let (two, environment) = (|| "two".to_owned(), || wheelhouse::model::Environment(none()));
    let refused = [
        Request::Up { team: None, environment: environment() },
        Request::Stop { agents: vec![two()], grace_ms: None },
        Request::Restart { agents: vec![two()], environment: environment(), grace_ms: None },
        Request::Resume {
            agents: vec![two()],
            environment: environment(),
            grace_ms: None,
            brief: false,
        },
        Request::Forget { agents: vec![two()], abandon: false },
        Request::Down { force: true },
        Request::Read { agent: two(), lines: None, scrollback: false },
        Request::Keys { agent: two(), keys: Vec::new() },
        Request::Subscribe,
    ];
    for request in refused {
        let fault = agent.try_ask(request.clone()).unwrap_err();
        assert!(fault.message.starts_with("A worker may not "), "{request:?}: {fault}");
    }
    assert!(matches!(agent.try_ask(done("a")), Ok(Response::Report(_))));

    // Whoever has no token is no agent, and a wrong one is nobody's.
    let fault = Visitor::greeted(&world).try_ask(done("b")).unwrap_err();
    assert_eq!(fault.message, "Nobody may report without a token");
    for wrong in ["", "x", &token.0[1..], &"0".repeat(64)] {
        let mut stranger = Visitor::connect(&world);
        let fault = stranger.greet(&Token(wrong.to_owned())).unwrap_err();
        assert_eq!(fault.message, "The token belongs to no running agent");
        assert!(stranger.try_ask(Request::Status).is_err(), "it was not let in");
    }

    // It outlives the hub, and not the run.
    world.kill_hub();
    let mut agent = Visitor::connect(&world);
    assert!(agent.greet(&token).is_ok());
    world.ok(&["agent", "restart", "one"]);
    let is_dead = |agent: &mut Visitor| {
        for request in [done("c"), Request::Me, Request::Status] {
            let fault = agent.try_ask(request.clone()).unwrap_err();
            assert_eq!(fault.message, "The token belongs to no running agent", "{request:?}");
        }
    };
    is_dead(&mut agent);
    assert!(Visitor::connect(&world).greet(&token).is_err());
    let token = world.token("one");
    let mut agent = Visitor::connect(&world);
    assert!(agent.greet(&token).is_ok());
    world.ok(&["agent", "stop", "one"]);
    is_dead(&mut agent);
    assert!(Visitor::connect(&world).greet(&token).is_err(), "nor does it outlive the end");
}

#[test]
fn no_agent_is_a_person_to_another_project_but_to_one_whose_hub_it_started() {
    let (world, other) = (World::with_crew(&[("one", SHELL)]), World::with_crew(&[("two", SHELL)]));
    world.ok(&["up", "crew"]);
    other.ok(&["up", "crew"]);
    let says = |before: &str, command: &Command| {
        let out = world.path("out");
        let _ = fs::remove_file(&out);
        let out = out.to_str().unwrap();
        let places = command.get_envs().filter(|(name, _)| name.as_bytes().starts_with(b"XDG_"));
        let places =
            places.map(|(name, value)| format!("{}={}", name.display(), value.unwrap().display()));
        let words = command.get_args().map(|word| word.display().to_string());
        let program = format!("'{PROGRAM}'");
        let words = places.chain([program]).chain(words).collect::<Vec<_>>().join(" ");
        let line = format!("env {before} {words} > {out}.new 2>&1; mv {out}.new {out}");
        world.ok(&["agent", "keys", "one", "--text", &line, "enter"]);
        wait_for("an answer", || fs::exists(out).unwrap());
        fs::read_to_string(out).unwrap()
    };
    let presses = other.command(&["agent", "keys", "two", "--text", "x", "enter"]);
    for before in ["", "-u WHEELHOUSE_TOKEN"] {
        let said = says(before, &presses);
        assert!(said.contains("This runs inside agent `one` of session"), "{said}");
    }
    // What it started itself is its own.
    let own = World::new();
    let said = says("-u WHEELHOUSE_TOKEN -u WHEELHOUSE_RUN", &own.command(&["status", "--json"]));
    assert!(said.contains("\"agents\": []"), "{said}");
}

#[test]
fn a_call_whose_answer_was_lost_is_made_again_and_counts_once() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    let token = world.token("one");
    for _ in 0..3 {
        let mut agent = Visitor::connect(&world);
        agent.greet(&token).unwrap();
        let Response::Report(reception) = agent.ask(done("same")) else { panic!() };
        assert_eq!((reception.is_new, reception.reports), (true, 1));
        world.kill_hub();
    }
    assert_eq!(world.agent("one").reports, 1);
}

#[test]
fn an_agent_reports_by_a_command_and_is_told_what_became_of_it() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    let types = |text: &str| world.ok(&["agent", "keys", "one", "--text", text, "enter"]);
    types("\"$WHEELHOUSE_BIN\" report progress 1/2 'half of it'");
    world.wait_for_text("one", "accepted: PROGRESS: [1/2] — half of it");
    types(
        "echo x >out.zip; \"$WHEELHOUSE_BIN\" report build fail; \"$WHEELHOUSE_BIN\" report artifact out.zip zip --json",
    );
    world.wait_for_text("one", r#""outcome":"accepted""#);
    types("echo 'GET /users' | \"$WHEELHOUSE_BIN\" report contract 'users v1'");
    world.wait_for_text("one", "accepted: CONTRACT: users v1");
    // In one line: keys that come once it is done would begin another turn.
    types(
        "\"$WHEELHOUSE_BIN\" report done 'six endpoints' --evidence '12 tests pass'; echo 'STATUS: DONE — six endpoints + 12 tests pass'",
    );
    world.wait_for_state("done", "report");
    let agent = world.agent("one");
    assert_eq!((agent.reports, agent.progress.as_deref()), (5, Some("1/2")));
    types("\"$WHEELHOUSE_BIN\" report need ' '");
    world.wait_for_text("one", "says nothing without a text");

    let said = world.run(&["report", "done", "x"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("Only agents can report"), "{}", said.err);
    assert!(said.err.contains("hint: "), "{}", said.err);
}

#[test]
fn a_report_waits_for_a_hub_that_is_coming_back() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    let hub = world.status().hub.pid;
    let text = format!("kill -9 {hub}; \"$WHEELHOUSE_BIN\" report blocked 'a key'");
    // The hub may be gone before it says that the keys were pressed.
    world.run(&["agent", "keys", "one", "--text", &text, "enter"]);
    world.wait_for_text("one", "accepted: STATUS: BLOCKED — a key");
    world.wait_for_state("blocked", "report");
}

#[test]
fn claude_tells_by_its_hooks() {
    let world = acted("claude", &[], "");
    let hook = |name: &str| json!({"hook_event_name": name, "session_id": "s-1"});
    world.says(&hook("SessionStart"));
    wait_for("its conversation", || world.conversation().as_deref() == Some("s-1"));
    world.says(
        &json!({"hook_event_name": "UserPromptSubmit", "prompt": "Go.", "session_id": "s-2"}),
    );
    world.wait_for_state("working", "hook");
    assert_eq!(world.explain().rule, "claude.UserPromptSubmit");
    world.says(&hook("PermissionRequest"));
    world.wait_for_state("waiting", "hook");
    let message = format!("All is built.\n\n{DONE}");
    let stop =
        json!({"hook_event_name": "Stop", "session_id": "s-2", "last_assistant_message": message});
    world.says(&stop);
    world.says(&stop);
    world.wait_for_state("done", "hook");
    let agent = world.agent("one");
    assert_eq!((agent.reports, agent.note.as_deref()), (1, Some(DONE)));
    world.says(&json!({"hook_event_name": "StopFailure", "error": "x"}));
    wait_for("the last hook", || world.read("one").matches("hook 0 ''").count() == 6);
    wait_for("what is kept for later", || world.conversation().as_deref() == Some("s-2"));
    world.kill_hub();
    assert_eq!((world.agent("one").reports, world.conversation().as_deref()), (1, Some("s-2")));
}

#[test]
fn codex_hands_over_its_last_message_and_its_helper_is_passed_over() {
    let world = acted("codex", &[], "");
    let turn = |thread: &str, message: &str| json!({"type": "agent-turn-complete", "thread-id": thread, "input-messages": ["x"], "last-assistant-message": message});
    world.says(&turn("t-helper", r#"{"title": "Demo"}"#));
    world.says(&turn("t-main", DONE));
    world.wait_for_state("done", "hook");
    wait_for("its conversation on record", || world.conversation().as_deref() == Some("t-main"));
}

#[test]
fn gemini_finds_its_hooks_in_a_file_of_the_run() {
    if !rustix::process::geteuid().is_root() {
        // The cli takes such a file from root alone, so nobody else is given one.
        let world = acted("gemini", &[], "");
        assert_eq!(world.explain().no_hooks.as_deref(), Some("its cli takes them from root alone"));
        return;
    }
    let world = acted("gemini", &[], "");
    world.says(&json!({"hook_event_name": "BeforeAgent", "prompt": "Go.", "session_id": "g-1"}));
    world.wait_for_state("working", "hook");
    world.says(&json!({"hook_event_name": "AfterAgent", "session_id": "g-1"}));
    world.wait_for_state("idle", "hook");
    let file = world.paths().agent_hooks(&"one".parse().unwrap(), "json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    world.ok(&["agent", "stop", "one"]);
    world.ok(&["agent", "remove", "one"]);
    wait_for("an end of the file", || !file.exists());
}

#[test]
fn opencode_is_heard_by_its_events_before_and_after_a_crash_of_the_hub() {
    let world = acted("opencode", &[], "");
    world.wait_for_text("one", "connected");
    let status = |status: &str| json!({"type": "session.status", "properties": {"sessionID": "ses_1", "status": {"type": status}}});
    world.says(&status("busy"));
    world.wait_for_state("working", "signal");
    assert_eq!(world.explain().rule, "opencode.event");
    world.says(
        &json!({"type": "permission.asked", "properties": {"id": "p", "sessionID": "ses_1"}}),
    );
    world.wait_for_state("waiting", "signal");
    world.kill_hub();
    wait_for("the next hub at the port", || world.read("one").matches("connected").count() == 2);
    world.says(&status("busy"));
    world.wait_for_state("working", "signal");
    world.says(&status("idle"));
    world.wait_for_state("idle", "signal");
    wait_for("its conversation", || world.conversation().as_deref() == Some("ses_1"));
}

#[test]
fn what_a_person_put_into_the_command_or_the_settings_goes_first() {
    let world = acted("claude", &["--settings", "mine.json"], "");
    let why = world.explain().no_hooks;
    assert_eq!(why.as_deref(), Some("the command has a `--settings` of its own"));
    assert!(world.read("one").contains(r#"up ["--settings", "mine.json""#));
    assert!(world.ok(&["agent", "explain", "one"]).contains("no hooks: the command has"));

    let world = acted("claude", &[], "[cli.claude.hooks]\nenabled = false\n");
    assert_eq!(world.explain().no_hooks.as_deref(), Some("they are turned off in the settings"));
    assert!(world.read("one").contains(r#"up ["--session-id""#));
}

#[test]
fn a_hook_never_speaks_to_its_cli_and_never_fails() {
    let mut world = World::new();
    let hook = |world: &World, words: &[&str]| {
        let mut command = world.command(&[&["hook", "claude"], words].concat());
        command.stdin(Stdio::null());
        let said = run(command).expect("it ends by itself");
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""));
    };
    hook(&world, &[]);
    world.set_variable("WHEELHOUSE_TOKEN", "x");
    world.set_variable("WHEELHOUSE_SOCKET", world.path("nobody.sock").to_str().unwrap());
    for said in ["", "nonsense", "{}", "[1]"] {
        hook(&world, &[said]);
    }
    // A hub that takes the call and never answers.
    let socket = world.path("deaf.sock");
    let _deaf = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    world.set_variable("WHEELHOUSE_SOCKET", socket.to_str().unwrap());
    hook(&world, &["{}"]);
}

#[test]
fn a_token_stands_nowhere_but_in_the_agents_environment() {
    let world = World::new();
    fs::create_dir(world.path("config/wheelhouse")).unwrap();
    fs::write(world.path("config/wheelhouse/config.toml"), "[log]\nlevel = \"trace\"\n").unwrap();
    world.write_config(&world.crew(&[("one", SHELL)]));
    world.trust();
    world.ok(&["up", "crew"]);
    let mut tokens = vec![world.token("one").0];
    let types = |text: &str| world.ok(&["agent", "keys", "one", "--text", text, "enter"]);
    types("\"$WHEELHOUSE_BIN\" report progress 1/2 x; \"$WHEELHOUSE_BIN\" hook shell '{\"a\":1}'");
    world.wait_for_text("one", "accepted: PROGRESS");
    let mut stranger = Visitor::connect(&world);
    assert!(stranger.greet(&Token("0123456789abcdef-wrong".into())).is_err());
    tokens.push("0123456789abcdef-wrong".into());
    world.kill_hub();
    world.ok(&["agent", "restart", "one"]);
    tokens.push(world.token("one").0);
    assert_ne!(tokens[0], tokens[2], "each run has its own");
    for part in ["state", "run", "config", "home", "project"] {
        for file in files(&world.path(part)) {
            let content = fs::read(&file).unwrap_or_default();
            let content = String::from_utf8_lossy(&content);
            for token in &tokens {
                assert!(!content.contains(token.as_str()), "{}", file.display());
            }
        }
    }
    for id in world.alive() {
        let words = process::words(id.pid);
        assert!(!words.iter().any(|word| tokens.iter().any(|token| word.contains(token.as_str()))));
    }
}
