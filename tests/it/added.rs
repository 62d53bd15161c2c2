//! Agents that join a team while it runs, by command and from the dashboard.

use std::fs;

use rustix::process::Signal;
use wheelhouse::model::AgentState;

use super::support::clock::wait_for;
use super::support::process;
use super::support::world::{World, files};
use super::terminal::Terminal;

const WAITER: &[&str] = &["sh", "-c", "read x", "ROOT"];

fn names(world: &World) -> Vec<String> {
    world.status().agents.into_iter().map(|agent| agent.name).collect()
}

#[test]
fn an_agent_that_was_added_is_one_of_the_team() {
    let world = World::with_crew(&[("zed", WAITER), ("two", WAITER)]);
    world.ok(&["up", "crew"]);
    let directory = world.path("elsewhere");
    fs::create_dir(&directory).unwrap();
    let mut add = vec!["agent", "add", "extra", "--role", "verifier", "--env", "KEY=hunter2"];
    add.extend(["--cwd", directory.to_str().unwrap(), "--json", "--"]);
    add.extend(["sh", "-c", "echo \"$KEY in $PWD\"; read x", world.mark()]);
    let done: serde_json::Value = serde_json::from_str(&world.ok(&add)).unwrap();
    assert_eq!(done["started"], serde_json::json!(["extra"]));
    assert_eq!(names(&world), ["zed", "two", "extra"], "it comes last");
    let extra = world.agent("extra");
    assert_eq!((extra.team.as_str(), extra.role.to_string()), ("crew", "verifier".to_owned()));
    let words = format!("hunter2 in {}", directory.display());
    world.wait_for_text("extra", &words);

    world.ok(&["agent", "restart", "extra"]);
    world.wait_for_text("extra", &words);
    assert_eq!(world.agent("extra").run, 2);
    world.ok(&["agent", "stop", "extra"]);
    assert_eq!(world.ok(&["up", "crew"]).lines().next(), Some("Started extra"));
    world.wait_for_text("extra", &words);
    world.ok(&["agent", "stop", "extra"]);
    world.ok(&["agent", "remove", "extra"]);
    assert_eq!(names(&world), ["zed", "two"]);
    assert!(world.ok(&["up", "crew"]).contains("Unchanged: zed, two"));
}

#[test]
fn what_was_added_outlives_the_hub_and_its_secrets_do_not() {
    let mut world = World::with_crew(&[("one", WAITER)]);
    world.ok(&["up", "crew"]);
    let script = "echo \"value: $KEY\"; read x";
    let add = ["agent", "add", "extra", "--env", "KEY=hunter2", "--", "sh", "-c", script];
    world.ok(&[&add[..], &[world.mark()]].concat());
    world.wait_for_text("extra", "value: hunter2");
    let pid = world.agent("extra").pid;
    process::kill(world.status().hub.pid, Signal::KILL);
    let back = world.wait_for_status("the agent is adopted", |status| {
        status.agents.iter().any(|agent| agent.name == "extra" && agent.pid == pid)
    });
    assert_eq!(back.agents.len(), 2);
    for file in files(&world.root) {
        // Its own screen shows what the agent itself printed.
        let is_screen = file.extension().is_some_and(|extension| extension == "screen");
        let bytes = fs::read(&file).unwrap_or_default();
        let leaks = bytes.windows(7).any(|window| window == b"hunter2");
        assert!(is_screen || !leaks, "{}", file.display());
    }

    let refused = world.run(&["agent", "restart", "extra"]);
    insta::assert_snapshot!(refused.text(), @"
    error: The value of `KEY` for agent `extra` is lost
    hint: Values are never saved. Set it again: `KEY=… wheelhouse agent start extra`, or remove the agent
    exit: 1
    ");
    assert_eq!(world.agent("extra").pid, pid, "and it was left alone");
    world.set_variable("KEY", "hunter3");
    world.ok(&["agent", "restart", "extra"]);
    world.wait_for_text("extra", "value: hunter3");
}

#[test]
fn what_cannot_be_added_says_why_and_what_to_type() {
    let world = World::with_crew(&[("one", WAITER)]);
    let refused = |arguments: &[&str]| {
        let said = world.run(arguments);
        assert_ne!(said.code, Some(0), "{arguments:?}");
        said.err
    };
    let add = |more: &[&str]| refused(&[&["agent", "add"], more].concat());
    assert!(add(&["extra", "--cli", "shell"]).contains("No team is running"));
    world.ok(&["up", "crew"]);
    assert!(add(&["extra"]).contains("--cli"), "neither a cli nor a command");
    assert!(add(&["one", "--cli", "shell"]).contains("There is already an agent `one`"));
    assert!(add(&["Big", "--cli", "shell"]).contains("`Big` is not a name"));
    assert!(add(&["extra", "--cli", "shel"]).contains("Unknown cli `shel`"));
    assert!(add(&["extra", "--cli", "shell", "--team", "nobody"]).contains("Unknown team"));
    let secret = add(&["extra", "--cli", "shell", "--env", "hunter2"]);
    assert!(secret.contains("--env KEY=VALUE") && !secret.contains("hunter2"), "{secret}");
    assert!(
        add(&["x", "--cli", "shell", "--env", "WHEELHOUSE_RUN=1"]).contains("wheelhouse itself")
    );
    assert!(add(&["x", "--", "no-such-program"]).contains("There is no program"));
    assert_eq!(world.agent("x").state, AgentState::Exited, "as any other that fails to start");

    let mut config = world.crew(&[("one", WAITER)]);
    config.push_str("[cli.planted]\ncommand = ['sh', '-c', 'touch ROOT/owned']\n");
    world.write_config(&config.replace("ROOT", world.mark()));
    let untrusted = add(&["extra", "--cli", "planted"]);
    assert!(untrusted.contains("not trusted") && untrusted.contains("config trust"), "{untrusted}");
    world.trust();
    world.ok(&["agent", "add", "extra", "--cli", "planted"]);
    wait_for("the trusted command runs", || world.path("owned").exists());
}

#[test]
fn the_dashboard_adds_stops_starts_and_removes_an_agent() {
    let world = World::with_crew(&[("one", WAITER)]);
    world.ok(&["up", "crew"]);
    let mut terminal = Terminal::attach(&world, 120, 40);
    terminal.wait_for("enter type");
    terminal.press(b"n");
    terminal.wait_for("Add an agent");
    terminal.wait_for("/bin/sh");
    // The project's own cli comes before the shell.
    terminal.press(b"\x15helper");
    terminal.wait_for("Name  helper");
    terminal.press(b"\t\t\t\t\tmemory=4");
    terminal.wait_for("memory=4");
    terminal.press(b"\r");
    terminal.wait_for("is no limit");
    terminal.press(b"\x15processes=900 memory=2G\r");
    // Its frame is that of the selected one, and so the form is closed.
    terminal.wait_for("┏ 2 ");
    assert_eq!(world.agent("helper").cli, "one");
    let limits =
        world.seat("helper")["member"]["added"]["posting"]["confinement"]["limits"].clone();
    assert_eq!(
        (&limits["processes"], &limits["memory_bytes"]),
        (&900.into(), &(2_u64 << 30).into())
    );
    terminal.press(b"x");
    terminal.wait_for("Stop helper?");
    terminal.press(b"\r");
    terminal.wait_for("exited");
    terminal.press(b"s");
    wait_for("it runs again", || world.agent("helper").run == 2);
    terminal.wait_for("enter type");
    terminal.press(b"x");
    terminal.wait_for("Stop helper?");
    terminal.press(b"\r");
    terminal.wait_for("exited");
    terminal.press(b"X");
    terminal.wait_for("Remove helper?");
    terminal.press(b"\r");
    wait_for("it is gone", || names(&world) == ["one"]);
    terminal.press(b"q");
    terminal.wait_for("Detached");
    terminal.assert_restored();
}
