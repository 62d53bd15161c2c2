//! The journal as a story that anybody can read, with a hub or without.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use super::support::process;
use super::support::world::World;

const SHELL: &[&str] = &["sh", "-c", "echo up; while read line; do echo \"<$line>\"; done", "ROOT"];

fn told(world: &World, words: &[&str]) -> Vec<Value> {
    let text = world.ok(&[&["events", "--json"], words].concat());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["kind"].as_str().unwrap()).collect()
}

#[test]
fn the_story_of_a_run_is_told_in_order_and_without_a_hub() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    let said = world.run(&["events"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("hint: `wheelhouse up` makes one"), "{}", said.err);

    world.ok(&["up", "crew"]);
    world.ok(&["agent", "stop", "one"]);
    world.ok(&["down", "--force"]);
    let story = told(&world, &[]);
    let ids: Vec<u64> = story.iter().map(|event| event["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>());
    let own = told(&world, &["--agent", "one"]);
    let steps: Vec<&str> = kinds(&own).into_iter().filter(|kind| *kind != "agent.state").collect();
    let expected = [
        "agent.starting",
        "agent.seen",
        "agent.stopping",
        "person.stop",
        "agent.left",
        "agent.ended",
    ];
    assert_eq!(steps, expected);
    assert_eq!(kinds(&told(&world, &["--kind", "hub."])), ["hub.going_down", "hub.down"]);
    let third_last = (ids.len() - 2).to_string();
    assert_eq!(told(&world, &["--after", &third_last]).len(), 2);
    assert!(world.players("hub").is_empty(), "nobody was started to tell it");

    let text = world.ok(&["events", "--kind", "agent.starting"]);
    let line = text.lines().next().unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(
        (words[0], &words[3..]),
        ("1", &["one", "agent.starting", "run", "1"][..]),
        "{line}"
    );
}

#[test]
fn the_story_is_followed_while_it_happens() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    let mut follower = world
        .command(&["events", "--follow", "--json", "--kind", "agent.s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut wait_for_kind = |wanted: &str| {
        let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
        while next()["kind"] != wanted {}
    };
    wait_for_kind("agent.seen");
    world.ok(&["agent", "stop", "one"]);
    wait_for_kind("agent.stopping");
    // It goes on beyond the end of one hub and the beginning of another.
    world.ok(&["down", "--force"]);
    world.ok(&["up", "crew"]);
    wait_for_kind("agent.starting");
    process::kill(follower.id(), Signal::TERM);
    follower.wait().unwrap();
}

#[test]
fn nothing_in_the_story_moves_the_cursor() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "up");
    let hostile = "a\u{9b}2Jb\u{202e}c\x1b]0;x\x07d\ne";
    let _ = world.run(&["dispatch", "one", hostile, "--anyway"]);
    for words in [&["events"][..], &["events", "--json"]] {
        let text = world.ok(words);
        assert!(text.contains("dispatch."), "{text}");
        let is_plain = |c: char| c == '\n' || (!c.is_control() && c != '\u{202e}');
        assert!(text.chars().all(is_plain), "{text:?}");
    }
}

/// A script that follows the feed misses nothing and hears nothing twice, whatever dies meanwhile.
#[test]
fn the_feed_goes_on_without_a_gap_over_the_death_of_hubs() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    let mut follower = world
        .command(&["events", "--follow", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        let hub = world.status().hub.pid;
        process::kill(hub, Signal::KILL);
        world.wait_for_status("another hub", |status| status.hub.pid != hub);
        world.ok(&["agent", "restart", "one"]);
    }
    world.ok(&["down", "--force"]);
    let mut heard = Vec::new();
    while heard.last().is_none_or(|last: &Value| last["kind"] != "hub.down") {
        heard.push(serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap());
    }
    process::kill(follower.id(), Signal::TERM);
    follower.wait().unwrap();
    let numbers: Vec<u64> = heard.iter().map(|event| event["id"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "no gap, no repetition");
    let batches: Vec<u64> = heard.iter().map(|event| event["batch"].as_u64().unwrap()).collect();
    assert!(batches.is_sorted(), "{batches:?}");
    assert_eq!(told(&world, &[]), heard, "those who come later are told the same");
    // Wherever someone stopped, they go on with the next.
    for after in [0, 1, numbers.len() / 2, numbers.len() - 1, numbers.len(), numbers.len() + 9] {
        let rest = told(&world, &["--after", &after.to_string()]);
        assert_eq!(rest, heard[after.min(heard.len())..], "after {after}");
    }
}
