//! Agents that already tell other tools what they do are understood without a setting.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};
use wheelhouse::api::Explanation;

use super::support::clock::{PATIENCE, wait_for};
use super::support::process::environment;
use super::support::world::World;

/// Does what is typed into it.
const SHELL: &[&str] =
    &["sh", "-c", "stty -echo; while read -r line; do eval \"$line\"; done", "ROOT"];

/// A hook as it is installed for another tool: it looks for that tool's variables, says its word over
/// the socket that they name, and is silent whatever happens.
const HOOK: &str = r#"
import json, os, socket, sys, time
if os.environ.get("HERDR_ENV") != "1":
    sys.exit(0)
path, pane = os.environ.get("HERDR_SOCKET_PATH"), os.environ.get("HERDR_PANE_ID")
if not path or not pane:
    sys.exit(0)
seq = time.time_ns()
params = {"pane_id": pane, "source": "custom:hook", "agent": "robo", "state": sys.argv[1], "seq": seq}
if len(sys.argv) > 2:
    params["message"] = sys.argv[2]
call = {"id": "custom:hook:%d" % seq, "method": "pane.report_agent", "params": params}
try:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(20)
        client.connect(path)
        client.sendall((json.dumps(call) + "\n").encode())
        client.recv(4096)
except OSError:
    pass
"#;

fn world(settings: &str) -> World {
    let world = World::new();
    fs::write(world.path("hook.py"), HOOK).unwrap();
    world.write_config(&(world.crew(&[("one", SHELL), ("two", SHELL)]) + settings));
    world.trust();
    world.ok(&["up", "crew"]);
    world
}

impl World {
    fn types(&self, agent: &str, line: &str) {
        self.ok(&["agent", "keys", agent, "--text", line, "enter"]);
    }

    fn hook(&self, agent: &str, words: &str) {
        let script = self.path("hook.py");
        self.types(agent, &format!("python3 {} {words}", script.display()));
    }

    fn explained(&self, agent: &str) -> Explanation {
        serde_json::from_value(self.json(&["agent", "explain", agent])).unwrap()
    }

    fn wait_for_rule(&self, agent: &str, state: &str, source: &str, rule: &str) -> Explanation {
        let mut last = None;
        wait_for(&format!("{agent} {state} by {source} {rule}"), || {
            let told = self.explained(agent);
            let is = told.state.to_string() == state
                && told.source.to_string() == source
                && told.rule == rule;
            last = Some(told);
            is
        });
        last.unwrap()
    }

    fn variable(&self, agent: &str, name: &str) -> Option<String> {
        let pid = self.agent(agent).pid.unwrap();
        let prefix = format!("{name}=");
        let mut entries = Vec::new();
        wait_for("its environment", || {
            entries = environment(pid);
            entries.iter().any(|entry| entry.starts_with("WHEELHOUSE_TOKEN="))
        });
        entries.iter().find_map(|entry| entry.strip_prefix(&prefix).map(str::to_owned))
    }

    /// Says a line to the hub's socket, and returns what comes back.
    fn call(&self, line: &str) -> Value {
        let mut stream = UnixStream::connect(self.paths().hub_socket()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
    }
}

#[test]
fn a_hook_made_for_another_multiplexer_works_unchanged() {
    let world = world("");
    world.hook("one", "working");
    world.wait_for_rule("one", "working", "hook", "reporter.robo");
    world.hook("one", "blocked 'May I run ls?'");
    let told = world.wait_for_rule("one", "waiting", "hook", "reporter.robo");
    assert_eq!(told.line, "May I run ls?");
    assert!(told.testimonies.iter().any(|one| one.rule == "reporter.robo"), "{told:?}");
    assert_eq!(world.agent("one").state.to_string(), "waiting", "others see it too");
    world.hook("one", "idle");
    world.wait_for_rule("one", "idle", "hook", "reporter.robo");
    assert_ne!(world.explained("two").rule, "reporter.robo", "it spoke for itself alone");
}

#[test]
fn a_reporter_speaks_only_for_the_pane_whose_name_it_was_given() {
    let world = world("");
    let pane = world.variable("one", "HERDR_PANE_ID").unwrap();
    let other = world.variable("two", "HERDR_PANE_ID").unwrap();
    assert_ne!(pane, other);
    let report = |pane: &str| {
        let params = json!({"pane_id": pane, "source": "s", "agent": "robo", "state": "working"});
        json!({"id": "7", "method": "pane.report_agent", "params": params}).to_string()
    };
    assert_eq!(world.call(&report(&pane)), json!({"id": "7", "result": {"type": "ok"}}));
    world.wait_for_rule("one", "working", "hook", "reporter.robo");
    for unknown in ["one", "two", "w1:p1", "", &pane[..30], &"x".repeat(1000)] {
        assert_eq!(world.call(&report(unknown))["error"]["code"], "pane_not_found", "{unknown}");
    }
    assert_ne!(world.explained("two").rule, "reporter.robo");
    // Its power is that of a report, and it ends with the run.
    for method in ["pane.send_input", "pane.read", "server.stop", "agent.start"] {
        let call = json!({"id": 1, "method": method, "params": {"pane_id": pane, "text": "x"}});
        assert_eq!(world.call(&call.to_string())["error"]["code"], "unsupported", "{method}");
    }
    world.ok(&["agent", "restart", "one"]);
    assert_eq!(
        world.call(&report(&pane))["error"]["code"],
        "pane_not_found",
        "of a run that is over"
    );
    let last = world.variable("one", "HERDR_PANE_ID").unwrap();
    assert_eq!(world.call(&report(&last))["result"]["type"], "ok");
    world.ok(&["agent", "stop", "one"]);
    assert_eq!(world.call(&report(&last))["error"]["code"], "pane_not_found", "of an ended one");
    let record = fs::read(world.paths().record()).unwrap();
    let wal = fs::read(world.paths().record().with_extension("db-wal")).unwrap_or_default();
    let is_in = |bytes: &[u8]| bytes.windows(pane.len()).any(|part| part == pane.as_bytes());
    assert!(!is_in(&record) && !is_in(&wal), "only its hash is kept");
}

#[test]
fn a_reporter_outlives_the_hub_it_spoke_to() {
    let world = world("");
    let pane = world.variable("one", "HERDR_PANE_ID").unwrap();
    let hub = world.status().hub.pid;
    super::support::process::kill(hub, rustix::process::Signal::KILL);
    world.wait_for_status("another hub", |status| status.hub.pid != hub);
    let params = json!({"pane_id": pane, "source": "s", "agent": "robo", "state": "blocked"});
    let call = json!({"id": "7", "method": "pane.report_agent", "params": params}).to_string();
    wait_for("the agent to be known again", || world.call(&call)["result"]["type"] == "ok");
    world.wait_for_rule("one", "waiting", "hook", "reporter.robo");
}

#[test]
fn what_a_reporter_last_said_outlives_the_hub_that_heard_it() {
    let world = world("");
    world.hook("one", "blocked 'May I run ls?'");
    world.wait_for_rule("one", "waiting", "hook", "reporter.robo");
    // This one goes on printing, so that it may have said more while nobody heard it.
    world.types("two", "(while :; do echo tick; sleep 0.01; done) &");
    world.hook("two", "blocked");
    world.wait_for_rule("two", "waiting", "hook", "reporter.robo");
    let hub = world.status().hub.pid;
    super::support::process::kill(hub, rustix::process::Signal::KILL);
    world.wait_for_status("another hub", |status| status.hub.pid != hub);
    let told = world.wait_for_rule("one", "waiting", "hook", "reporter.robo");
    assert_eq!(told.line, "May I run ls?");
    assert_eq!(world.agent("one").state.to_string(), "waiting", "others see it too");
    wait_for("the word of the screen", || {
        let told = world.explained("two");
        told.state.to_string() == "working" && told.rule != "reporter.robo"
    });
    // What comes late is known as such, whoever heard what came before it.
    let pane = world.variable("one", "HERDR_PANE_ID").unwrap();
    let params = json!({"pane_id": pane, "source": "custom:hook", "agent": "robo", "state": "idle", "seq": 1});
    let call = json!({"id": "7", "method": "pane.report_agent", "params": params}).to_string();
    assert_eq!(world.call(&call)["result"]["type"], "ok");
    assert_eq!(world.explained("one").state.to_string(), "waiting");
    world.hook("one", "idle");
    world.wait_for_rule("one", "idle", "hook", "reporter.robo");
}

#[test]
fn nonsense_in_lines_is_answered_and_costs_nothing() {
    let world = world("");
    let hub = world.status().hub.pid;
    for line in [
        "{}",
        "{\"id\":1}",
        "{\"method\":1}",
        "{\"id\":1,\"method\":\"x\",\"params\":7}",
        "{ nonsense",
    ] {
        assert!(world.call(line)["error"]["code"].is_string(), "{line}");
    }
    let mut stream = UnixStream::connect(world.paths().hub_socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&vec![b'{'; 64 * 1024 + 1]).unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    assert!(answer.contains("A line has at most 65536 bytes"), "{answer}");
    // A line without an end is no call.
    let mut stream = UnixStream::connect(world.paths().hub_socket()).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let _ = stream.write_all(&vec![b'{'; 1 << 20]);
    let mut end = Vec::new();
    // It may be cut off while it still writes.
    let _ = std::io::Read::read_to_end(&mut stream, &mut end);
    assert_eq!(world.status().hub.pid, hub);
}

#[test]
fn reporters_can_be_turned_off() {
    let world = world("\n[reporters]\nenabled = false\n");
    for name in ["HERDR_ENV", "HERDR_SOCKET_PATH", "HERDR_PANE_ID"] {
        assert_eq!(world.variable("one", name), None, "{name}");
    }
    world.types("one", r"printf '\033]777;notify;Robo;Approval requested\033\\'; echo said");
    world.wait_for_text("one", "said");
    let told = world.explained("one");
    assert!(told.testimonies.iter().all(|one| one.rule != "osc.notification"), "{told:?}");
}

#[test]
fn what_a_program_tells_its_terminal_is_understood() {
    let world = world("");
    // Progress, as build tools and agents show it: under way, paused, and at its end.
    world.types("one", r"printf '\033]9;4;3\033\\'");
    world.wait_for_rule("one", "working", "signal", "osc9.progress");
    world.types("one", r"printf '\033]9;4;1;50\007'");
    world.wait_for_rule("one", "working", "signal", "osc9.progress");
    world.types("one", r"printf '\033]9;4;4;50\033\\'");
    world.wait_for_rule("one", "waiting", "signal", "osc9.progress");
    world.types("one", r"printf '\033]9;4;3\033\\\033]9;4;0\033\\'");
    world.wait_for_rule("one", "idle", "signal", "osc9.progress");
    world.types("one", r"printf '\033]9;4;2;90\033\\'");
    world.wait_for_rule("one", "error", "signal", "osc9.progress");
    // Notifications, in each of the forms in which programs send them.
    let forms = [
        r"printf '\033]777;notify;Robo;Approval requested: rm x\033\\'",
        r"printf '\033]9;Robo needs your permission\007'",
        r"printf '\033]99;i=1:d=0;Robo wants to run a command\033\\'",
    ];
    for form in forms {
        world.types("two", form);
        let told = world.wait_for_rule("two", "waiting", "signal", "osc.notification");
        assert!(told.line.contains("Robo") || told.line.contains("Approval"), "{told:?}");
        world.types("two", r"printf '\033]9;Turn complete\033\\'");
        world.wait_for_rule("two", "idle", "signal", "osc.notification");
    }
}
