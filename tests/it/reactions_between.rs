//! What agents need of each other reaches whom it should, though the hub is killed in the middle of it.

use std::fs;

use serde_json::Value;

use super::support::rows::{HOLD, Player, script};
use super::support::world::World;

const DONE: &str = "status done \"3 tests pass\"";
const BLOCKED: &str = "status blocked \"the key of the staging machine, keys/staging.pem\"";
const FREELY: &str = "[team.crew]\nspeaks = \"team\"";

/// Returns who blocks on a key, and what it does when it has got it.
fn asker(name: &'static str) -> Player<'static> {
    (name, "", script(name, &[BLOCKED, HOLD], &[("it is there", "key", &[DONE])]))
}

/// Lets one block, kills the hub while the need is on its way to another, and sees it go on.
fn assert_routed(to: &str, more: &str) {
    let told = [("| the key of the staging", "need", &["say \"Wait.\"", HOLD][..])];
    let told: Vec<_> = told.into_iter().chain([("Task t1", "ended", &[][..])]).collect();
    let giver = script(to, &["say \"Working.\"", HOLD], &told);
    let world = World::with_players(FREELY, &[asker("one"), (to, more, giver)]);
    // Whoever is asked is busy, so that what it is told waits.
    world.ok(&["dispatch", to, "Do your own work", "--wait"]);
    world.add(&["--agent", "one"]);
    world.wait_for_entry("dispatch.queued", to, "A need of agent one");
    world.kill_hub();
    assert_eq!(world.items("blocked"), [Value::Null; 0], "somebody was asked for it");
    world.tasks(&[&["t1", "blocked", "one", "the key of the staging machine"]]);
    world.frame(to, &["working", "queued"]);
    world.go();
    world.wait_until_heard(to, &["task", "need"]);
    assert_eq!(world.times("need", "one", &format!("n1 to {to}")), 1);
    world.frame("one", &["blocked", "the key of the staging machine"]);
    world.waits(&[]);
    world.ok(&["dispatch", "one", "it is there", "--anyway"]);
    world.wait_for_task("t1", "done");
    world.wait_until_heard("one", &["task", "key"]);
    assert_eq!(world.heard(to).iter().filter(|word| *word == "need").count(), 1);
    world.assert_settled();
}

#[test]
fn a_block_goes_once_to_whoever_owns_what_is_needed() {
    assert_routed("keys", "owns = [\"keys/**\"]");
}

#[test]
fn a_block_that_nobody_can_lift_goes_once_to_the_lead() {
    assert_routed("boss", "role = \"lead\"");
}

#[test]
fn a_block_goes_once_to_whoever_orchestrates_where_nobody_leads() {
    assert_routed("boss", "role = \"orchestrator\"");
}

#[test]
fn a_need_stays_until_it_is_met_whatever_else_its_agent_is_told() {
    let met = ("what you needed is ready", "met", &[DONE][..]);
    let one = script("one", &["status blocked \"keys/staging.pem, to get in\""], &[met]);
    let steps = ["await give 9000s", "artifact keys/staging.pem \"key\""];
    let told = [("| keys/staging.pem", "need", &steps[..]), ("Task t1", "ended", &[])];
    let keys = script("keys", &["say \"Working.\"", HOLD], &told);
    let owner = ("keys", "owns = [\"keys/**\"]", keys);
    let world = World::with_players(FREELY, &[("one", "", one), owner]);
    let need = |world: &World| world.rows()[&("need".to_owned(), "n1".to_owned())]["state"].clone();
    world.ok(&["dispatch", "keys", "Do your own work", "--wait"]);
    world.add(&["--agent", "one"]);
    world.wait_for_entry("need", "one", "n1 to keys");
    world.wait_for_task("t1", "blocked");
    // A person has something else to say, and it answers; that is not what it waits for.
    world.ok(&["dispatch", "one", "Keep it short", "--wait"]);
    world.wait_until_heard("one", &["task", "other"]);
    assert_eq!(
        (world.task("t1")["state"].clone(), need(&world)),
        ("blocked".into(), "sent".into())
    );
    world.kill_hub();
    assert_eq!(need(&world), "sent");
    world.tasks(&[&["t1", "blocked", "one", "keys/staging.pem"]]);
    world.frame("keys", &["queued"]);
    world.waits(&[]);
    world.go();
    world.wait_until_heard("keys", &["task", "need"]);
    fs::write(world.project.join("give"), "go\n").unwrap();
    world.wait_for_task("t1", "done");
    world.wait_until_heard("one", &["task", "other", "met"]);
    assert_eq!(world.times("need.met", "one", "n1 by keys"), 1);
    world.assert_settled();
}

#[test]
fn a_block_without_a_lead_waits_once_for_a_person() {
    let met = ("what you needed is ready", "met", &[DONE][..]);
    let one = script("one", &[BLOCKED, HOLD], &[met]);
    let world = World::with_players("", &[("one", "", one)]);
    world.add(&[]);
    world.wait_for_entry("report.status", "one", "BLOCKED");
    world.kill_hub();
    let item = world.wait_for_item("blocked");
    assert_eq!((&item["agent"], &item["task"]), (&"one".into(), &"t1".into()), "{item}");
    assert!(item["text"].as_str().unwrap().contains("keys/staging.pem"), "{item}");
    assert_eq!(world.times("attention.blocked", "one", ""), 1);
    world.tasks(&[&["t1", "blocked", "one", "the key of the staging machine"]]);
    world.waits(&[&["one", "● blocked: the key of the staging machine"]]);
    world.go();
    world.frame("one", &["blocked", "the key of the staging machine"]);
    world.press("a", "Is what one is waiting for ready?");
    world.press("\r", "? help");
    world.wait_for_task("t1", "done");
    world.waits(&[&["one", "finished: work: 3 tests pass"]]);
    world.wait_until_heard("one", &["task", "met"]);
    world.assert_settled();
}

#[test]
fn whoever_lost_its_context_is_told_once_where_it_stands() {
    let steps = [
        "progress 1/3 \"schema written; next: migrate\"",
        "build pass",
        "status blocked \"context compacted\"",
        HOLD,
    ];
    let one = script("one", &steps, &[("This is where you stand", "where", &[DONE])]);
    let world = World::with_players("", &[("one", "", one)]);
    world.add(&[]);
    world.wait_for_entry("report.status", "one", "context compacted");
    world.kill_hub();
    assert_eq!(world.items("blocked"), [Value::Null; 0], "it needs nobody else");
    world.frame("one", &["working", "queued"]);
    world.waits(&[]);
    world.go();
    world.wait_for_task("t1", "done");
    world.wait_until_heard("one", &["task", "where"]);
    let screen = world.ok(&["agent", "read", "one", "--scrollback"]);
    for part in ["| do it", "| 1/3 schema written", "| migrate", "last build passed"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    world.task_in_full("t1", &[&["✓ done"], &["✓ 1/3 schema written"]]);
    world.assert_settled();
}

#[test]
fn a_need_reaches_its_owner_once_and_is_told_as_met_once() {
    assert_met("api/users.rs", "", "artifact api/users.rs \"code\"");
}

#[test]
fn a_need_reaches_who_is_named_once_and_is_told_as_met_once() {
    assert_met("the-users", "from api", "say \"Here they are.\"");
}

/// Lets one need something of another, kills the hub while that is on its way, and sees it given.
fn assert_met(thing: &str, from: &str, given: &str) {
    let met = ("what you needed is ready", "met", &[DONE][..]);
    let need = format!("need {thing} {from} \"to show them\"");
    let web = script("web", &[&need, HOLD], &[met]);
    let (part, steps) = (format!("| {thing}"), [given, DONE]);
    let api = script("api", &["say \"Working.\"", HOLD], &[(&part, "need", &steps)]);
    let owns = "owns = [\"api/**\"]";
    let world = World::with_players(FREELY, &[("api", owns, api), ("web", "", web)]);
    world.add(&["--agent", "api"]);
    world.ok(&["wait", "--agent", "api", "--for", "working", "--timeout", "30"]);
    world.add(&["--agent", "web"]);
    world.wait_for_entry("dispatch.queued", "api", "A need of agent web");
    world.kill_hub();
    world.frame("api", &["working", "queued"]);
    world.waits(&[]);
    world.go();
    world.wait_for_task("t2", "done");
    world.wait_for_task("t1", "done");
    world.wait_until_heard("api", &["task", "need"]);
    world.wait_until_heard("web", &["task", "met"]);
    assert_eq!((world.times("need", "web", "to api"), world.times("need.met", "web", "")), (1, 1));
    world.tasks(&[&["t1", "done", "api"], &["t2", "done", "web"]]);
    world.assert_settled();
}

#[test]
fn each_version_of_a_contract_is_broadcast_once_with_what_it_breaks() {
    let published = |body: &str| format!("contract \"users\"\n{body}");
    let (old, new) = (published("    GET /users\n    GET /teams"), published("    GET /users"));
    let first = [old.as_str(), DONE];
    let api = script("api", &first, &[("Task t3", "change", &[&new, HOLD, DONE])]);
    let told = [
        ("No longer in it", "broken", &[DONE][..]),
        ("Version 1 of a contract", "task", &["say \"I build on it.\"", HOLD]),
    ];
    let world =
        World::with_players("", &[("api", "", api), ("web", "", script("web", &[], &told))]);
    world.add(&["--agent", "api"]);
    world.add(&["--agent", "web", "--needs", "t1"]);
    world.wait_until_heard("web", &["task"]);
    world.add(&["--agent", "api"]);
    world.wait_for_entry("contract", "api", "users version 2, 1 lines gone");
    world.kill_hub();
    world.frame("web", &["working", "queued"]);
    world.tasks(&[&["t1", "done", "api"], &["t2", "running", "web"], &["t3", "running", "api"]]);
    world.go();
    world.wait_for_task("t2", "done");
    world.wait_until_heard("web", &["task", "broken"]);
    let screen = world.ok(&["agent", "read", "web", "--scrollback"]);
    assert!(screen.contains("| GET /teams"), "{screen}");
    assert_eq!(world.times("contract", "api", ""), 2);
    assert_eq!(world.times("dispatch.queued", "web", "Version 2 of a contract"), 1);
    world.assert_settled();
}

#[test]
fn one_of_two_who_wait_for_each_other_is_asked_once_for_a_stand_in() {
    let needs = |other: &str| format!("status blocked \"the list from {other}\"");
    let (of_api, of_web) = (needs("api"), needs("web"));
    let stub = ["write list.txt\n    nobody yet", "artifact list.txt \"stub\"", DONE];
    let asked = [
        ("a temporary stand-in for what", "stub", &stub[..]),
        ("A need of agent web", "need", &["say \"I wait too.\""]),
    ];
    let api = script("api", &[&of_web, HOLD], &asked);
    let told = [
        ("has been asked for", "coming", &["await list.txt 9000s", DONE][..]),
        ("A need of agent api", "need", &["say \"I wait too.\""]),
    ];
    let web = script("web", &[&of_api, HOLD], &told);
    let world = World::with_players(FREELY, &[("api", "", api), ("web", "", web)]);
    world.add(&["--agent", "api"]);
    world.add(&["--agent", "web"]);
    world.wait_for_entry("deadlock", "", "api is asked for a stand-in");
    world.kill_hub();
    world.tasks(&[&["t1", "api"], &["t2", "web"]]);
    world.frame("api", &["queued"]);
    world.waits(&[]);
    world.go();
    world.wait_for_task("t1", "done");
    world.wait_for_task("t2", "done");
    for (agent, word) in [("api", "stub"), ("web", "coming")] {
        let heard = world.heard(agent);
        assert_eq!(heard.iter().filter(|one| *one == word).count(), 1, "{agent}: {heard:?}");
    }
    assert_eq!(world.times("deadlock", "", ""), 1);
    world.assert_settled();
}
