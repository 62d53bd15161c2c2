//! The record as a story, through the real program: what came of a run, any of its moments, and
//! what to do after everything was killed.

use std::fmt::Write as _;
use std::fs;

use portable_pty::CommandBuilder;
use serde_json::Value;
use wheelhouse::model::is_deceptive;

use super::support::clock::wait_for;
use super::support::world::{PROGRAM, World};
use super::terminal::Terminal;

/// Works on what says so until the end of time; does the rest in a moment.
const SCRIPT: &str = r#"speed 4
on prompt containing "for ever"
  think 80000s "Thinking"
on prompt
  say "I \e[31mwrite\e[0m it."
  think 4s "Writing"
  run echo it > out.txt
  progress 1/1 "written"
  status done "wrote out.txt, 3 tests pass"
"#;

/// Returns a world with a team `crew` of these scripted agents, who are ready for work.
fn crew(names: &[&str]) -> World {
    let world = World::new();
    fs::write(world.path("worker.sim"), SCRIPT).unwrap();
    let script = world.path("worker.sim").to_str().unwrap().to_owned();
    let mut config = "[stop]\ngrace_seconds = 1\n".to_owned();
    for name in names {
        let argv = serde_json::to_string(&[PROGRAM, "sim", &script]).unwrap();
        write!(
            config,
            "[cli.{name}]\nlike = \"sim\"\ncommand = {argv}\n\
             [[team.crew.agents]]\nname = \"{name}\"\ncli = \"{name}\"\n"
        )
        .unwrap();
    }
    world.write_config(&config);
    world.trust();
    world.ok(&["up", "crew"]);
    for name in names {
        world.ok(&["wait", "--agent", name, "--for", "idle", "--timeout", "30"]);
    }
    world
}

fn add(world: &World, title: &str, prompt: &str, more: &[&str]) {
    world.ok(&[&["task", "add", "--title", title, "--prompt", prompt], more].concat());
}

fn terminal(world: &World, words: &[&str]) -> Terminal {
    let program = world.command(words);
    let mut command = CommandBuilder::new(program.get_program());
    command.args(program.get_args());
    command.env_clear();
    for (name, value) in program.get_envs() {
        command.env(name, value.unwrap());
    }
    command.cwd(&world.root);
    Terminal::run(command, 120, 30)
}

#[test]
fn a_run_is_told_in_every_form_with_a_hub_and_without() {
    let world = crew(&["one"]);
    add(&world, "Write it", "Write out.txt", &["--gate", "file:out.txt"]);
    world.ok(&["wait", "--task", "t1", "--for", "done", "--timeout", "60"]);
    world.ok(&["dispatch", "one", "Thank you", "--wait", "--timeout", "30"]);
    let open = world.json(&["history", "s1"]);
    assert_eq!((&open["run"]["end"], &open["tasks"][0]["state"]), (&"open".into(), &"done".into()));

    world.ok(&["down", "--force"]);
    let story = world.json(&["history", "s1"]);
    assert_eq!(story["run"]["end"], "ended");
    let attempt = &story["tasks"][0]["attempts"][0];
    assert_eq!((&attempt["agent"], &attempt["outcome"]), (&"one".into(), &"done".into()));
    assert_eq!(attempt["claims"][0]["gates"][0]["passed"], true, "{attempt}");
    assert_eq!(story["agents"][0]["starts"], 1);
    let by_hand: Vec<&str> = story["by_hand"]
        .as_array()
        .unwrap()
        .iter()
        .map(|deed| deed["kind"].as_str().unwrap())
        .collect();
    assert_eq!(by_hand, ["person.prompt"]);

    let text = world.ok(&["history", "s1"]);
    for words in ["1 task: 1 done", "attempt 1 by one", "gate passed: file:out.txt", "Thank you"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let markdown = world.ok(&["history", "s1", "--format", "md"]);
    assert!(markdown.starts_with("# Run s1\n"), "{markdown}");
    let page = world.ok(&["history", "all", "--format", "html"]);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
    for told in [text, markdown, page] {
        assert!(!told.chars().any(|c| c != '\n' && is_deceptive(c)), "{told:?}");
    }
    let list = world.json(&["history"]);
    let ids: Vec<&str> =
        list["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["s1", "all"]);
    assert!(world.players("hub").is_empty(), "nobody was started to tell it");

    let unknown = world.run(&["history", "s9"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.err.contains("hint: List the runs with `wheelhouse history`"), "{unknown:?}");
}

#[test]
fn events_are_filtered_by_task_run_and_time() {
    let world = crew(&["one"]);
    add(&world, "Write it", "Write out.txt", &[]);
    world.ok(&["wait", "--task", "t1", "--for", "done", "--timeout", "60"]);
    world.ok(&["down", "--force"]);
    world.ok(&["up", "crew"]);
    world.ok(&["down", "--force"]);
    let told = |words: &[&str]| -> Vec<Value> {
        let text = world.ok(&[&["events", "--json"], words].concat());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = told(&[]);
    let own = told(&["--task", "t1"]);
    assert!(!own.is_empty() && own.iter().all(|event| event["task"] == "t1"), "{own:?}");
    let (first, second) = (told(&["--run", "s1"]), told(&["--run", "s2"]));
    assert_eq!(first[0]["id"], 1);
    assert_eq!(second[0]["id"], first.len() + 1, "one follows the other");
    assert_eq!(first.len() + second.len(), all.len());
    let at = second[0]["at"].as_str().unwrap();
    assert_eq!(told(&["--since", at]).len() + told(&["--until", at]).len() - all.len(), {
        all.iter().filter(|event| event["at"] == at).count()
    });
    assert_eq!(told(&["--since", "0s"]).len(), 0);
    let wrong = world.run(&["events", "--since", "later"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("how long ago, such as `10m`"), "{wrong:?}");
}

#[test]
fn any_moment_is_shown_again_with_the_screens_of_then() {
    let world = crew(&["one"]);
    world.ok(&["dispatch", "one", "The first thing", "--wait", "--timeout", "30"]);
    world.wait_for_text("one", "wrote out.txt");
    // Its next prompt is on record only after this one is seen on the screen.
    world.ok(&["wait", "--agent", "one", "--for", "idle,done", "--timeout", "30"]);
    add(&world, "Later", "Write it again", &[]);
    world.ok(&["wait", "--task", "t1", "--for", "done", "--timeout", "60"]);
    world.ok(&["down", "--force"]);

    let beginning = world.json(&["replay", "s1", "--at", "1"]);
    assert_eq!((&beginning["seq"], &beginning["tasks"]), (&1.into(), &Value::Array(Vec::new())));
    assert_eq!(beginning["agents"][0]["state"], "starting");
    let events = world.ok(&["events", "--json", "--kind", "task.added"]);
    let added: Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    let seq = added["id"].to_string();
    let then = world.json(&["replay", "s1", "--at", &seq]);
    assert_eq!(then["tasks"][0]["title"], "Later");
    let screen = then["agents"][0]["screen"].to_string();
    assert!(screen.contains("The first thing") && !screen.contains("Write it again"), "{screen}");

    let end = world.ok(&["replay", "s1"]);
    assert!(end.contains("t1 Later (done by one)") && end.contains("one: exited"), "{end}");
    let by_time = world.json(&["replay", "s1", "--at", added["at"].as_str().unwrap()]);
    assert_eq!(by_time["tasks"][0]["title"], "Later");
    for cast in fs::read_dir(world.paths().state_dir.join("casts")).unwrap() {
        fs::remove_file(cast.unwrap().path()).unwrap();
    }
    let without = world.ok(&["replay", "s1", "--at", "-1s"]);
    assert!(without.contains("it has no recording"), "{without}");
    let wrong = world.run(&["replay", "s1", "--at", "noon"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.err.contains("`+5m` after"), "{wrong:?}");
}

#[test]
fn a_run_is_played_in_a_terminal() {
    let world = crew(&["one"]);
    world.ok(&["dispatch", "one", "The first thing", "--wait", "--timeout", "30"]);
    world.wait_for_text("one", "wrote out.txt");
    world.ok(&["down", "--force"]);
    let mut player = terminal(&world, &["replay", "s1"]);
    player.wait_for("Replay s1");
    player.wait_for("entry 1 of");
    player.press(b"\x1b[C");
    player.wait_for("entry 2 of");
    player.press(b"\x1b[F");
    player.wait_for("The first thing");
    player.wait_for("exited");
    player.press(b"\x1b[H ");
    player.wait_for("\u{25b6}");
    player.press(b"q");
    wait_for("the terminal is given back", || {
        player.catch_up();
        !player.screen().alternate_screen()
    });
}

#[test]
fn after_everything_was_killed_the_status_says_what_was_cut_off_and_what_to_type() {
    let world = crew(&["one", "two"]);
    add(&world, "Endless", "Work for ever", &["--agent", "one"]);
    wait_for("the agent works", || world.agent("one").state.to_string() == "working");
    world.kill_everything();

    let text = world.ok(&["status"]);
    for words in [
        "Lost while they ran: one, two",
        "t1 Endless (",
        "last tried by one",
        "Start them with a new conversation with `wheelhouse agent start one two`",
        "See what happened with `wheelhouse history`",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(world.ok(&[]).contains("Lost while they ran: one, two"), "the overview tells it, too");
    let status = world.json(&["status"]);
    assert_eq!(status["interrupted"]["tasks"][0], "t1");
    let list = world.json(&["history"]);
    assert_eq!(list["runs"][0]["end"], "interrupted");
    let story = world.json(&["history", "s1"]);
    assert_eq!(story["tasks"][0]["attempts"][0]["outcome"], "interrupted");

    let mut dashboard = terminal(&world, &["attach"]);
    dashboard.wait_for("Lost: one, two (t1). Press R to resume");
    dashboard.press(b"R");
    wait_for("the task is taken up again", || {
        let status = world.status();
        status.interrupted.is_empty() && status.tasks[0].attempt == 2
    });
    dashboard.press(b"q");
    dashboard.wait_for("Detached. Agents keep running");
    dashboard.assert_restored();
}
