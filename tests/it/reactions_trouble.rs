//! What the hub does about agents in trouble, though it is killed in the middle of it.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::support::clock::wait_for;
use super::support::rows::{HOLD, script};
use super::support::show::Show;
use super::support::world::World;

const DONE: &str = "status done \"3 tests pass\"";
const RUST: &str = "capabilities = [\"rust\"]";

#[test]
fn an_error_is_tried_again_with_its_fix_and_then_by_another() {
    let error = "status error \"the lock is stale; suggested fix: remove it first\"";
    let again = ("| the lock is stale", "again", &[error][..]);
    let one = script("one", &[error, HOLD], &[again]);
    let two = script("two", &[], &[("| the lock is stale", "again", &[DONE])]);
    let world = World::with_players("", &[("one", RUST, one), ("two", RUST, two)]);
    let terms = ["--requires", "rust", "--attempts", "2", "--on-failure", "reassign"];
    // The second is busy while the first tries.
    world.ok(&["agent", "stop", "two"]);
    world.add(&terms);
    world.wait_for_entry("report.status", "one", "the lock is stale");
    world.kill_hub();
    world.go();
    world.wait_until_heard("one", &["task", "again"]);
    world.wait_for_item("unfit");
    world.waits(&[&["one", "unfit: work: no running agent fits it"]]);
    world.frame("two", &["exited"]);
    world.press("2s", "2 ○ two");
    let task = world.wait_for_task("t1", "done");
    let agents: Vec<&Value> =
        task["attempts"].as_array().unwrap().iter().map(|one| &one["agent"]).collect();
    assert_eq!(agents, ["one", "one", "two"], "{task}");
    world.wait_until_heard("two", &["again"]);
    assert_eq!(world.heard("one"), ["task", "again"]);
    world.assert_settled();
}

#[test]
fn an_error_that_nobody_gets_over_is_degraded_as_the_task_says() {
    let error = "status error \"no disk; suggested fix: use another\"";
    let then = [
        ("do less: only the list", "less", &[HOLD, DONE][..]),
        ("Do without the result of t2", "without", &[DONE]),
        ("| no disk; suggested fix: use another", "again", &[error]),
        ("break it", "break", &[error, "await more 9000s"]),
        ("do it", "task", &[error]),
    ];
    let world = World::with_players("", &[("one", "", script("one", &[], &then))]);
    world.add(&["--attempts", "2", "--reduced", "only the list"]);
    world.wait_until_heard("one", &["task", "again", "less"]);
    world.kill_hub();
    world.tasks(&[&["t1", "running", "work · reduced to: only the list"]]);
    world.go();
    let task = world.wait_for_task("t1", "done");
    let tries = task["attempts"].as_array().unwrap().len();
    assert_eq!((&task["is_reduced"], tries), (&true.into(), 3));
    world.tasks(&[&["t1", "done", "work · reduced to: only the list"]]);
    assert_eq!(world.times("task.pending", "one", "reduced, because no disk"), 1);

    for (policy, end, tries) in [("skip", "done", 1), ("stop", "failed", 0)] {
        let terms = ["--prompt", "break it", "--attempts", "1", "--on-failure", policy];
        let fragile = world.json(&[&["task", "add", "--title", "work"], &terms[..]].concat());
        let fragile = fragile["id"].as_str().unwrap();
        let after = world.add(&["--needs", fragile]);
        world.wait_for_task(fragile, "failed");
        world.kill_hub();
        fs::write(world.project.join("more"), "go\n").unwrap();
        let task = world.wait_for_task(&after, end);
        assert_eq!(task["attempts"].as_array().unwrap().len(), tries, "{task}");
        let items = world.items("failed");
        assert_eq!(items.iter().filter(|item| item["task"] == fragile).count(), 1, "said plainly");
        world.tasks(&[&[fragile, "failed", "work · no disk"], &[&after, end]]);
    }
    world.wait_until_heard("one", &["task", "again", "less", "break", "without", "break"]);
    world.assert_settled();
}

#[test]
fn an_error_that_nobody_gets_over_waits_for_a_person_who_has_it_tried_again() {
    let error = "status error \"no disk; suggested fix: use another\"";
    let one = script("one", &[error, HOLD], &[("the old one is back", "advice", &[DONE])]);
    let world = World::with_players("", &[("one", "", one)]);
    world.add(&["--attempts", "1"]);
    world.wait_for_task("t1", "failed");
    world.kill_hub();
    world.tasks(&[&["t1", "failed", "one", "work · no disk"]]);
    world.waits(&[&["one", "● failed: work: no disk"]]);
    world.go();
    world.frame("one", &["error"]);
    world.press("a", "✗ failed");
    world.press("r", "Retry t1");
    world.press("the old one is back\r", "Attempt 2 · one");
    world.leave();
    world.wait_for_task("t1", "done");
    world.wait_until_heard("one", &["task", "advice"]);
    assert_eq!(world.times("attention.failed", "one", ""), 1);
    world.waits(&[&["one", "● finished: work: 3 tests pass"]]);
    world.assert_settled();
}

#[test]
fn the_same_build_failure_twice_holds_the_agent_until_a_person_has_another_idea() {
    let steps = [
        "build fail \"E0308 in line 7\"",
        "await more 9000s",
        "build fail \"E0308 in line 9\"",
        "think 80000s",
    ];
    let one = script("one", &steps, &[("another approach", "other way", &["build pass", DONE])]);
    let world = World::with_players("", &[("one", "", one)]);
    world.add(&[]);
    world.wait_for_entry("report.build", "one", "line 7");
    world.kill_hub();
    fs::write(world.project.join("more"), "go\n").unwrap();
    world.wait_for_item("loop");
    // It is held, and its agent still at work: that it is to stop must not be forgotten.
    world.kill_hub();
    wait_for("its turn to end", || world.agent("one").state.to_string() == "idle");
    let item = world.wait_for_item("loop");
    assert_eq!((&item["agent"], &item["task"]), (&"one".into(), &"t1".into()), "{item}");
    assert!(item["hint"].as_str().unwrap().contains("task retry t1 --advice"), "{item}");
    assert_eq!(world.times("attention.loop", "one", "E0308"), 1);
    assert!(world.agent("one").stuck);
    assert_eq!(world.task("t1")["state"], "blocked");
    world.shows("! 1 stuck");
    world.frame("one", &["idle · stuck!"]);
    world.waits(&[&["one", "● loop: work: ", "E0308"]]);
    world.press("a", "■ blocked");
    world.press("r", "Retry t1");
    world.press("cast it\r", "Attempt 2 · one");
    world.leave();
    let task = world.wait_for_task("t1", "done");
    assert_eq!(task["attempts"].as_array().unwrap().len(), 2, "{task}");
    world.wait_until_heard("one", &["task", "other way"]);
    assert!(!world.agent("one").stuck);
    world.assert_settled();
}

#[test]
fn who_stands_still_is_asked_once_and_then_a_person_is_told_once() {
    let one =
        script("one", &["hang 45s"], &[("You have not reported for a while", "nudge", &[DONE])]);
    let world = World::with_players("[stuck]\nafter_seconds = 1", &[("one", "", one)]);
    world.add(&[]);
    world.wait_for_entry("dispatch.queued", "one", "You have not reported for a while");
    assert!(world.agent("one").stuck);
    world.kill_hub();
    world.shows("! 1 stuck");
    world.frame("one", &["working · stuck!", "queued"]);
    let item = world.wait_for_item("stuck");
    assert_eq!((&item["agent"], &item["task"]), (&"one".into(), &"t1".into()), "{item}");
    world.kill_hub();
    assert_eq!(world.agent("one").run, 1, "nobody is ended on a guess");
    world.waits(&[&["one", "stuck: work: its agent does not report"]]);
    world.wait_for_task("t1", "done");
    world.wait_until_heard("one", &["task", "nudge"]);
    assert_eq!(world.times("attention.stuck", "one", ""), 1);
    assert_eq!(world.items("stuck"), [Value::Null; 0]);
    world.assert_settled();
}

/// Returns a team of which one changes a file of the other and then claims to be done; what it does
/// when it hears of it is said.
fn trespass(back: (&str, &str, &[&str])) -> Show {
    let web = script("web", &["run echo two > api/mod.rs", DONE, HOLD], &[back]);
    let owner = ("api", "owns = [\"api/**\"]", script("api", &[], &[]));
    let world = World::staged("[workspace]\ndefault = 'shared'", &[owner, ("web", "", web)]);
    fs::create_dir(world.project.join("api")).unwrap();
    fs::write(world.project.join("api/mod.rs"), "one\n").unwrap();
    for words in [&["init", "-q"][..], &["add", "api"], &["commit", "-q", "-m", "one"]] {
        git(&world, words);
    }
    world.ok(&["up", "crew"]);
    let world = Show::of(world);
    world.add(&["--agent", "web"]);
    world.wait_for_item("conflict");
    world.kill_hub();
    world.frame("web", &["conflict!"]);
    world.tasks(&[&["t1", "running", "web", "work · sent back: api/mod.rs"]]);
    world.waits(&[&["web", "● conflict: api/mod.rs", "which api owns"]]);
    assert!(!world.agent("api").conflict);
    world
}

#[test]
fn files_of_another_are_a_conflict_and_the_claim_does_not_verify() {
    let back = ["run git checkout -q api", DONE];
    let world = trespass(("files changed that other agents own", "back", &back));
    world.go();
    let task = world.wait_for_task("t1", "done");
    assert_eq!(task["attempts"][0]["refusals"], 1, "{task}");
    world.wait_until_heard("web", &["task", "back"]);
    assert_eq!(fs::read_to_string(world.project.join("api/mod.rs")).unwrap(), "one\n");
    assert_eq!(world.times("attention.conflict", "web", ""), 1);
    world.waits(&[&["web", "● finished: work: 3 tests pass"]]);
    world.assert_settled();
}

#[test]
fn files_of_another_stay_as_they_are_once_a_person_says_so() {
    let world = trespass(("files changed that other agents own", "back", &[DONE]));
    world.press("a", "Keep what web changed?");
    world.press("\r", "? help");
    world.waits(&[]);
    world.go();
    world.wait_for_task("t1", "done");
    world.wait_until_heard("web", &["task", "back"]);
    assert_eq!(fs::read_to_string(world.project.join("api/mod.rs")).unwrap(), "two\n");
    world.assert_settled();
}

#[test]
fn who_reaches_a_limit_waits_once_for_a_person_and_goes_on() {
    let one = script("one", &["limit \"5:00 PM\"", "stop"], &[("Try now", "on", &[DONE])]);
    let world = World::with_players("", &[("one", "", one)]);
    world.add(&[]);
    world.wait_for_item("limit");
    world.kill_hub();
    let item = world.wait_for_item("limit");
    assert!(item["text"].as_str().unwrap().contains("resets 5:00 PM"), "{item}");
    assert_eq!(world.agent("one").state.to_string(), "limited");
    assert_eq!(world.times("attention.limit", "one", ""), 1);
    assert_eq!(world.task("t1")["state"], "running");
    world.frame("one", &["limited"]);
    world.waits(&[&["one", "limit: it has reached a limit, which resets 5:00 PM"]]);
    world.press("a", "Attempt 1 · one");
    world.press("d", "is sent when its limit ends · ctrl-g sends it anyway");
    world.press("Try now\x07", "Sent to one");
    world.leave();
    world.wait_for_task("t1", "done");
    world.wait_until_heard("one", &["task", "on"]);
    world.assert_settled();
}

fn git(world: &World, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e@x"]).args(words);
    assert!(command.current_dir(&world.project).status().unwrap().success(), "{words:?}");
}
