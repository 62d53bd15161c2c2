//! What a person and a script read from the command line.

use std::io::Read;
use std::process::Stdio;

use regex::Regex;
use serde_json::Value;

use super::support::clock::wait_for;
use super::support::world::World;

const ECHO: &[&str] =
    &["sh", "-c", "echo ready; while read line; do echo \"<$line>\"; done", "ROOT"];

#[test]
fn a_fresh_project_is_told_what_to_type() {
    let world = World::new();
    insta::assert_snapshot!(shown(&world, &[]), @r#"
    No agents run in /project

    TEAMS TO START  AGENTS
    wheelhouse up shell  one (shell), two (shell)

    Not now: feature, fleet, pair, review, solo, squad, swarm
      No agent is installed: none of claude, codex, gemini, opencode, aider, copilot, qwen, kilo, pi and continue is on the PATH

    Watch a scripted team with `wheelhouse demo`
    Write teams of your own with `wheelhouse config init`
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["status"]), @r#"
    SESSION  /project  hub PID

    No agents yet. Start a team with `wheelhouse up TEAM`
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["down"]), @r#"
    Ended the hub; no agent was running
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["status"]), @r#"
    SESSION  /project  no hub

    No agents yet. Start a team with `wheelhouse up TEAM`
    note: No hub runs for /project
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["down"]), @r#"
    Nothing runs
    exit: 0
    "#);
}

#[test]
fn a_team_is_started_watched_and_typed_to() {
    let world = World::with_crew(&[("back", ECHO), ("front", ECHO)]);
    insta::assert_snapshot!(shown(&world, &["up"]), @r#"
    Started back, front
      in the project itself: back, front
    exit: 0
    "#);
    world.wait_for_text("back", "ready");
    world.wait_for_text("front", "ready");
    insta::assert_snapshot!(shown(&world, &["up", "crew"]), @r#"
    Unchanged: back, front
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["status"]), @r#"
    SESSION  /project  hub PID

    AGENT  CLI  ROLE  STATE  SINCE  PID  WORKSPACE  NOTE
    back  back  worker  STATE  TIME  PID  shared
    front  front  worker  STATE  TIME  PID  shared
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "list"]), @r#"
    AGENT  CLI  ROLE  STATE  SINCE  PID  WORKSPACE  NOTE
    back  back  worker  STATE  TIME  PID  shared
    front  front  worker  STATE  TIME  PID  shared
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &[]), @r#"
    AGENT  CLI  ROLE  STATE  SINCE  PID  WORKSPACE  NOTE
    back  back  worker  STATE  TIME  PID  shared
    front  front  worker  STATE  TIME  PID  shared

    Read one with `wheelhouse agent read NAME`
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "keys", "back", "--text", "hi", "enter"]), @r#"
    exit: 0
    "#);
    world.wait_for_text("back", "<hi>");
    insta::assert_snapshot!(shown(&world, &["agent", "read", "back"]), @r#"
    ready
    hi
    <hi>
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "read", "back", "--lines", "1"]), @r#"
    <hi>
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "tree", "back"]), @r#"
    PID  PARENT  CPU  MEMORY  PROGRAM
    PID  PARENT  CPU  MEMORY  sh
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["doctor"]), @r#"
    ok  project  /project is session SESSION
    ok  settings  /project/wheelhouse.toml is trusted
    ok  programs  every cli that a team uses is installed
    ok  casts  N recordings take N KiB
    ok  record  whole, N decisions, N KiB
    ok  hub  runs as PID, version 0.1.0
    exit: 0
    "#);
}

#[test]
fn agents_end_when_asked_and_not_before() {
    let world = World::with_crew(&[("back", ECHO), ("front", ECHO)]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("front", "ready");
    insta::assert_snapshot!(shown(&world, &["down"]), @r#"
    error: 2 agents may still be working: back, front
    hint: End everything all the same with `wheelhouse down --force`
    exit: 1
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "remove", "back"]), @r#"
    error: Agent `back` runs
    hint: Stop it first with `wheelhouse agent stop back`
    exit: 1
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "stop", "back"]), @r#"
    Stopped back
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "stop", "back"]), @r#"
    Unchanged: back
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "list"]), @r#"
    AGENT  CLI  ROLE  STATE  SINCE  PID  WORKSPACE  NOTE
    back  back  worker  exited  TIME  stopped
    front  front  worker  STATE  TIME  PID  shared
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "start", "back"]), @r#"
    Started back
      in the project itself: back
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "restart", "back"]), @r#"
    Started back
      in the project itself: back
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["down", "--force"]), @r#"
    Stopped back, front
    exit: 0
    "#);
    insta::assert_snapshot!(shown(&world, &["down", "--force"]), @r#"
    Nothing runs
    exit: 0
    "#);
}

#[test]
fn errors_name_the_cause_and_what_to_type() {
    let world = World::with_crew(&[("back", ECHO), ("gone", &["no-such-program-anywhere"])]);
    insta::assert_snapshot!(shown(&world, &["up", "creww"]), @r#"
    error: Unknown team `creww`
    hint: Use one of `crew`, `fleet`, `review`, `shell`, `pair`, `solo`, `squad`, `swarm`, `feature`
    exit: 1
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "start", "nobody"]), @r#"
    error: No team has an agent `nobody`
    hint: List the teams with `wheelhouse config show`
    exit: 1
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "read", "back"]), @r#"
    error: There is no agent `back`
    hint: Start a team with `wheelhouse up TEAM`
    exit: 1
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "start", "gone"]), @r#"
    error: Agent `gone`: There is no program `no-such-program-anywhere`
    hint: Look closer with `wheelhouse doctor`
    exit: 1
    "#);
    world.ok(&["agent", "start", "back"]);
    world.wait_for_text("back", "ready");
    insta::assert_snapshot!(shown(&world, &["agent", "read", "bakc"]), @r#"
    error: There is no agent `bakc`
    hint: Known agents: back, gone
    exit: 1
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "keys", "gone", "enter"]), @r#"
    error: Agent `gone` does not run
    hint: Start it with `wheelhouse agent start gone`
    exit: 1
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "keys", "back", "entr"]), @r#"
    error: `entr` is not a key
    hint: Keys are `enter`, `esc`, `tab`, `ctrl-c`, `up`, `f1`, `shift-enter`, `x`; text goes in with `--text STRING`
    exit: 1
    "#);
    insta::assert_snapshot!(shown(&world, &["agent", "start", "Not A Name"]), @r#"
    error: `Not A Name` is not a name: use a lower-case letter, then up to 31 of `a-z`, `0-9`, `_` and `-`
    exit: 1
    "#);
}

#[test]
fn a_list_tells_how_each_agent_ended() {
    let world = World::with_crew(&[
        ("back", ECHO),
        ("gone", &["no-such-program-anywhere"]),
        ("short", &["sh", "-c", "exit 7", "ROOT"]),
    ]);
    world.run(&["up", "crew"]);
    world.wait_for_text("back", "ready");
    wait_for("its end", || world.agent("short").ending.is_some());
    assert_eq!(world.agent("short").ending.as_deref(), Some("exit code 7"));
    insta::assert_snapshot!(shown(&world, &["agent", "list"]), @r#"
    AGENT  CLI  ROLE  STATE  SINCE  PID  WORKSPACE  NOTE
    back  back  worker  STATE  TIME  PID  shared
    gone  gone  worker  exited  TIME  failed to start: There is no program `no-such-program-anywhere`
    short  short  worker  exited  TIME  exit code 7
    exit: 0
    "#);
}

#[test]
fn what_cannot_be_understood_is_named() {
    let world = World::new();
    insta::assert_snapshot!(shown(&world, &["agnt"]), @r#"
    error: unrecognized subcommand 'agnt'

      tip: some similar subcommands exist: 'man', 'agent'

    Usage: wheelhouse [OPTIONS] [COMMAND]

    For more information, try '--help'.
    exit: 2
    "#);
    world.write_config("[pane]\nscrolback = 1\n");
    insta::assert_snapshot!(shown(&world, &["up", "crew"]), @r#"
    error: The settings cannot be used
    error: /project/wheelhouse.toml:2:1: Unknown key `scrolback` in `[pane]`
    hint: Did you mean `scrollback`?
    hint: Correct them, then try again; `wheelhouse config check` says if they are right
    exit: 1
    "#);
}

#[test]
fn the_status_for_scripts_has_the_fixed_form() {
    let world = World::with_crew(&[("back", ECHO)]);
    let started = world.json(&["up", "crew"]);
    assert_eq!(started["started"], serde_json::json!(["back"]));
    let status = world.json(&["status"]);
    for (key, is_right) in [
        ("/hub/pid", Value::is_u64 as fn(&Value) -> bool),
        ("/hub/version", Value::is_string),
        ("/hub/session", Value::is_string),
        ("/agents/0/name", |name| name == "back"),
        ("/agents/0/cli", |cli| cli == "back"),
        ("/agents/0/role", |role| role == "worker"),
        ("/agents/0/state", Value::is_string),
        ("/agents/0/source", Value::is_string),
        ("/agents/0/stuck", |stuck| stuck == false),
        ("/agents/0/pid", Value::is_u64),
        ("/agents/0/keeper_pid", Value::is_u64),
        ("/agents/0/task", Value::is_null),
        ("/tasks", Value::is_array),
        ("/attention", Value::is_array),
    ] {
        let found = status.pointer(key);
        assert!(found.is_some_and(is_right), "{key}: {found:?}");
    }
    let since = status["agents"][0]["since"].as_str().unwrap();
    assert!(Regex::new(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$").unwrap().is_match(since));
    world.wait_for_text("back", "ready");
    let read = world.json(&["agent", "read", "back"]);
    assert_eq!((&read["agent"], &read["lines"][0]), (&"back".into(), &"ready".into()));
    let tree = world.json(&["agent", "tree", "back"]);
    assert_eq!(tree[0]["id"]["pid"], status["agents"][0]["pid"]);
    assert!(world.json(&["doctor"]).as_array().unwrap().len() > 3);
    assert_eq!(world.json(&["agent", "stop", "back"])["stopped"], serde_json::json!(["back"]));
    assert_eq!(world.json(&["agent", "stop", "back"])["unchanged"], serde_json::json!(["back"]));
    assert_eq!(world.json(&["agent", "list"])[0]["ending"], "stopped");
    world.json(&["down", "--force"]);
    assert_eq!(world.json(&["down"])["stopped"], serde_json::json!([]));
}

#[test]
fn history_is_read_with_scrollback_and_cut_to_the_last_lines() {
    let world = World::with_crew(&[("one", &["sh", "-c", "seq 1 200; read x", "ROOT"])]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "200");
    let all = world.ok(&["agent", "read", "one", "--scrollback"]);
    let expected: Vec<String> = (1..=200).map(|number| number.to_string()).collect();
    assert_eq!(all.lines().collect::<Vec<_>>(), expected);
    let last = world.ok(&["agent", "read", "one", "--scrollback", "--lines", "50"]);
    assert_eq!(last.lines().next(), Some("151"));
    assert_eq!(world.ok(&["agent", "read", "one", "--scrollback", "--format", "ansi"]), all);
}

#[test]
fn the_same_text_is_read_with_its_colours_or_without() {
    let script = r"printf 'plain \033[1;31mred\033[m\n'; seq 1 3000; read x";
    let world = World::with_crew(&[("one", &["sh", "-c", script, "ROOT"])]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "3000");
    let read = |format| world.ok(&["agent", "read", "one", "--scrollback", "--format", format]);
    let (text, ansi) = (read("text"), read("ansi"));
    assert_eq!(text.lines().count(), 3001, "more than one page");
    assert_eq!(text.lines().next(), Some("plain red"));
    assert_eq!(ansi.lines().next(), Some("plain \x1b[0;1;31mred\x1b[m"));
    assert_eq!(ansi.lines().skip(1).collect::<Vec<_>>(), text.lines().skip(1).collect::<Vec<_>>());
}

#[test]
fn a_pattern_is_found_in_panes_and_in_what_was_recorded_of_earlier_runs() {
    let script = "echo begin; seq 1 60; echo Needle here; read x";
    let world = World::with_crew(&[("one", &["sh", "-c", script, "ROOT"])]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "Needle");
    assert_eq!(world.ok(&["search", "needle"]), "one:61: Needle here\n");
    assert_eq!(world.ok(&["search", "^4[01]$"]), "one:40: 40\none:41: 41\n");
    assert_eq!(world.ok(&["search", "NEEDLE"]), "", "capitals ask for capitals");
    assert_eq!(world.ok(&["search", "needle", "--agent", "other"]), "");
    let found: Value = serde_json::from_str(&world.ok(&["search", "needle", "--json"])).unwrap();
    assert_eq!(found["lines"][0]["line"], 61);
    let refused = world.run(&["search", "(needle"]);
    assert!(refused.err.contains("`(needle` is no regular expression"), "{}", refused.err);
    world.ok(&["down", "--force"]);
    let found = world.ok(&["search", "needle"]);
    assert!(found.starts_with("one:20") && found.ends_with("Z: Needle here\n"), "{found}");
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let world = World::with_crew(&[("one", &["sh", "-c", "seq 1 99999; read x", "ROOT"])]);
    world.ok(&["up", "crew"]);
    for words in [&["status"][..], &["agent", "read", "one", "--scrollback"], &["doctor", "--json"]]
    {
        let mut command = world.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        assert_eq!((told.as_str(), child.wait().unwrap().code()), ("", Some(0)), "{words:?}");
    }
}

#[test]
fn shells_can_complete_our_commands() {
    let world = World::new();
    let script = world.ok(&["completions", "bash"]);
    assert!(script.contains("complete -F _wheelhouse"), "{script}");
    assert!(world.alive().is_empty(), "no hub is needed for that");
}

/// Returns what a command printed and its exit code, without what differs from run to run.
fn shown(world: &World, words: &[&str]) -> String {
    let mut text = world.plain(&world.run(words).text());
    for (pattern, instead) in [
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME"),
        (r"hub \d+", "hub PID"),
        (r"runs as \d+", "runs as PID"),
        (r"\d+ recordings take \d+ KiB", "N recordings take N KiB"),
        (r"\d+ decisions, \d+ KiB", "N decisions, N KiB"),
        (r"(?m)^\d+ +\d+ +\d+\.\d+ s +\d+ KiB", "PID  PARENT  CPU  MEMORY"),
        (r"(TIME +)\d+", "${1}PID"),
        // What a program means by what it prints is told elsewhere.
        (r"worker( +)(starting|unknown|working|idle)( +)TIME", "worker${1}STATE${3}TIME"),
        // The width of a column is that of the longest number in it.
        (r"(\S) {2,}", "$1  "),
        // What the machine is like is its own affair.
        (r"(?m)^\S+ +(terminals|files|disk|login|limits|sandbox) .*\n( +→.*\n)?", ""),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, instead).into_owned();
    }
    text
}
