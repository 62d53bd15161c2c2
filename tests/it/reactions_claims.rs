//! What the hub does with a DONE, though it is killed in the middle of it.

use std::fs;

use super::support::clock::wait_for;
use super::support::rows::{HOLD, script};
use super::support::world::World;

const LEAD: &str = "role = \"lead\"";
const DONE: &str = "status done \"3 tests pass\"";

/// Fails or passes when the test says so, and counts how often it began; outside of the project, whose
/// files must not change while they are checked.
const GATE: &str =
    "echo run >> ../gates; until test -s ../verdict; do sleep 0.02; done; . ../verdict";

fn gates(world: &World) -> usize {
    fs::read_to_string(world.path("gates")).unwrap_or_default().lines().count()
}

#[test]
fn weak_evidence_is_sent_back_once() {
    let then = ("without evidence", "weak", &[DONE][..]);
    let one = script("one", &["status done \"looks good\"", HOLD], &[then]);
    let world = World::with_players("", &[("one", "", one)]);
    world.add(&[]);
    world.wait_for_entry("dispatch.queued", "one", "without evidence");
    world.kill_hub();
    world.frame("one", &["working", "queued"]);
    world.tasks(&[&["t1", "running", "one", "work · sent back: no evidence"]]);
    world.go();
    let task = world.wait_for_task("t1", "done");
    assert_eq!(task["attempts"].as_array().unwrap().len(), 1, "{task}");
    world.wait_until_heard("one", &["task", "weak"]);
    assert_eq!(world.times("dispatch.queued", "one", "without evidence"), 1);
    world.task_in_full("t1", &[&["✓ done"], &["claims: 3 tests pass"]]);
    world.waits(&[&["one", "finished: work: 3 tests pass"]]);
    world.assert_settled();
}

#[test]
fn a_claim_is_refused_once_while_the_build_fails() {
    let then = ("Your last build failed", "build", &["build pass", DONE][..]);
    let one = script("one", &["build fail \"E0308\"", DONE, HOLD], &[then]);
    let world = World::with_players("", &[("one", "", one)]);
    world.add(&["--gate", "echo run >> ../gates"]);
    world.wait_for_entry("dispatch.queued", "one", "Your last build failed");
    assert_eq!(gates(&world), 0, "a claim that cannot be true is not checked");
    world.kill_hub();
    world.frame("one", &["working", "queued"]);
    world.tasks(&[&["t1", "running", "one", "work · sent back: its build fails"]]);
    world.go();
    world.wait_for_task("t1", "done");
    world.wait_until_heard("one", &["task", "build"]);
    assert_eq!((gates(&world), world.times("gate.passed", "", "")), (1, 1));
    world.task_in_full("t1", &[&["✓ done"], &["✓ echo run"], &["claims: 3 tests pass"]]);
    world.assert_settled();
}

#[test]
fn gates_that_were_cut_off_run_again_and_whoever_waits_is_told_once() {
    let one = script("one", &[DONE], &[("do the rest", "next", &[DONE])]);
    let boss = script("boss", &[], &[("Task t1 (work)", "t1", &[]), ("Task t2 (work)", "t2", &[])]);
    let world = World::with_players("", &[("boss", LEAD, boss), ("one", "", one)]);
    world.add(&["--gate", GATE]);
    let rest = ["task", "add", "--title", "work", "--prompt", "do the rest", "--needs", "t1"];
    world.ok(&rest);
    wait_for("the gate", || gates(&world) == 1);
    assert_eq!(world.task("t2")["state"], "pending");
    world.kill_hub();
    wait_for("the gate once more", || gates(&world) == 2);
    assert_eq!(world.task("t1")["state"], "claimed", "nothing is believed unchecked");
    world.tasks(&[&["t1", "claimed", "one"], &["t2", "pending", "needs t1"]]);
    world.task_in_full("t1", &[&["claimed"], &["· echo run"], &["claims: 3 tests pass"]]);
    fs::write(world.path("verdict"), "exit 0\n").unwrap();
    world.wait_for_task("t2", "done");
    world.wait_until_heard("boss", &["t1", "t2"]);
    world.wait_until_heard("one", &["task", "next"]);
    assert_eq!(world.times("gate.passed", "", ""), 1);
    assert_eq!(world.items("finished").len(), 2);
    world.tasks(&[&["t1", "done", "one"], &["t2", "done", "one"]]);
    world.waits(&[&["one", "finished: work: 3 tests pass"][..]; 2]);
    world.assert_settled();
}

#[test]
fn the_output_of_a_gate_that_fails_is_the_next_prompt_once() {
    let steps = [HOLD, "run echo exit 0 > ../verdict", DONE];
    let then = ("| 2 of 9 tests fail", "gate", &steps[..]);
    let one = script("one", &[DONE], &[then]);
    let world = World::with_players("", &[("one", "", one)]);
    world.add(&["--gate", GATE]);
    wait_for("the gate", || gates(&world) == 1);
    world.kill_hub();
    fs::write(world.path("verdict"), "echo 2 of 9 tests fail; exit 1\n").unwrap();
    world.wait_until_heard("one", &["task", "gate"]);
    world.frame("one", &["working", "t1 work"]);
    world.task_in_full("t1", &[&["● running"], &["! sent back: `echo run"], &["not pass"]]);
    world.go();
    let task = world.wait_for_task("t1", "done");
    assert_eq!(task["attempts"][0]["refusals"], 1, "{task}");
    world.wait_until_heard("one", &["task", "gate"]);
    assert_eq!((world.times("gate.failed", "", ""), world.times("gate.passed", "", "")), (1, 1));
    world.task_in_full("t1", &[&["✓ done"], &["✓ echo run"]]);
    world.assert_settled();
}
