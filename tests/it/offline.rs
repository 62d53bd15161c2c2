//! Commands that only read start no hub: they say that none runs, and what is on record.

use super::support::clock::wait_for;
use super::support::world::World;
use super::support::yard::Yard;

/// Every command that only reads, with words that name something.
const READERS: &[&[&str]] = &[
    &["status"],
    &["status", "--json"],
    &["doctor"],
    &["agent", "list"],
    &["agent", "read", "one"],
    &["agent", "explain", "one"],
    &["agent", "tree", "one"],
    &["task", "list"],
    &["task", "list", "--all"],
    &["task", "board"],
    &["task", "show", "t1"],
    &["attention"],
    &["lock", "list"],
    &["run", "--list"],
    &["events"],
    &["history"],
    &["whoami"],
    &["template", "list"],
    &["config", "show"],
    &["workspace", "list"],
    &["workspace", "diff", "one"],
    &["workspace", "rescue"],
    &["agent", "diff", "one"],
    &["all"],
];

fn assert_no_hub(world: &World, command: &[&str]) {
    assert_eq!(world.players("hub"), [0; 0], "{command:?} started a hub");
}

#[test]
fn nothing_that_only_reads_starts_a_hub() {
    let world = World::with_crew(&[("one", &["cat"])]);
    for command in READERS {
        world.run(command);
        assert_no_hub(&world, command);
    }
    let said = world.run(&["agent", "read", "one"]);
    assert!(said.code != Some(0), "{}", said.text());
    assert!(
        said.text().contains("No hub runs") && said.text().contains("hint: "),
        "{}",
        said.text()
    );
}

#[test]
fn what_is_on_record_is_told_without_a_hub() {
    let world = World::with_crew(&[("one", &["cat"]), ("two", &["cat"])]);
    world.ok(&["up", "crew"]);
    let task = ["task", "add", "--title", "Sweep", "--prompt", "Sweep it.", "--agent", "one"];
    world.ok(&task);
    world.ok(&["down", "--force"]);
    wait_for("the hub is gone", || world.players("hub").is_empty());

    let status = world.json(&["status"]);
    assert!(status["hub"].is_null(), "{status}");
    for agent in status["agents"].as_array().unwrap() {
        assert_eq!(agent["state"], "exited", "{status}");
    }
    assert_eq!(status["agents"].as_array().unwrap().len(), 2, "{status}");
    assert_eq!(status["tasks"][0]["title"], "Sweep", "{status}");
    let said = world.run(&["status"]);
    assert!(said.text().contains("note: No hub runs for"), "{}", said.text());
    assert!(said.text().contains("no hub") && said.text().contains("Sweep"), "{}", said.text());
    assert_eq!(world.json(&["task", "show", "t1"])["title"], "Sweep");
    for command in READERS {
        world.run(command);
        assert_no_hub(&world, command);
    }
}

#[test]
fn a_workspace_with_work_in_it_is_listed_and_compared_without_a_hub() {
    let script = "on prompt\n  run $PROMPT\n  status done \"ran it, 1 command passed\"\n";
    let yard = Yard::new(&[("a.txt", "one\n")], &[("one", script)], "");
    yard.up(&["one"]);
    yard.say("one", "echo two > a.txt");
    yard.world.ok(&["down"]);
    wait_for("the hub is gone", || yard.world.players("hub").is_empty());

    let listed = yard.list();
    assert_eq!((listed.len(), &listed[0]["agent"]), (1, &"one".into()), "{listed:?}");
    for diff in [["workspace", "diff", "one"], ["agent", "diff", "one"]] {
        let said = yard.world.ok(&diff);
        assert!(said.contains("-one\n+two\n"), "{said}");
        let said = yard.world.run(&[diff[0], diff[1], "nobody"]);
        assert!(said.code == Some(1) && said.err.contains("Known agents: one"), "{said:?}");
    }
    assert_eq!(yard.world.json(&["workspace", "rescue"]), serde_json::json!([]));
    assert_no_hub(&yard.world, &["workspace"]);
}

/// A hub that was killed comes back: its keepers call for it, and whoever asks meanwhile waits.
#[test]
fn a_hub_that_is_called_back_is_waited_for() {
    let world = World::with_crew(&[("one", &["cat"])]);
    world.ok(&["up", "crew"]);
    let hub = world.running_status().unwrap().hub.pid;
    super::support::process::kill(hub, rustix::process::Signal::KILL);
    let status = world.status();
    assert_ne!(status.hub.pid, hub);
    assert_ne!(status.agents[0].pid, None, "{status:?}");
}
