//! What the record says is neither believed blindly nor ever thrown away.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use wheelhouse::model::ProcessId;

use super::support::clock::wait_for;
use super::support::process::{self, identify, is_alive};
use super::support::world::World;

const SHELL: &[&str] = &["sh", "-c", "echo up; while read line; do echo \"<$line>\"; done", "ROOT"];

#[test]
fn after_the_end_of_everything_nothing_is_shown_alive() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL), ("three", SHELL)]);
    for _ in 0..3 {
        world.ok(&["up", "crew"]);
        end_everything_at_once(&world);
        for agent in world.status().agents {
            assert_eq!(agent.state.to_string(), "exited", "{agent:?}");
            assert_eq!(agent.ending.as_deref(), Some("lost"), "{agent:?}");
            assert_eq!((agent.pid, agent.keeper_pid), (None, None), "{agent:?}");
        }
    }
}

#[test]
fn a_process_that_got_an_agents_number_is_not_taken_for_it() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    end_everything_at_once(&world);
    let mut stranger = Command::new("sleep")
        .arg("1000")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = identify(stranger.id()).unwrap();

    for started in [id.started, id.started + 1] {
        edit(&world, |record| {
            let foreign = json!({"pid": id.pid, "started": started});
            let seat = &mut record["agents"][0];
            seat["phase"] = json!("running");
            seat["state"] = json!("working");
            (seat["process"], seat["keeper"]) = (foreign.clone(), foreign);
        });
        let agent = world.agent("one");
        assert_eq!(agent.ending.as_deref(), Some("lost"), "{agent:?}");
        assert_eq!(agent.pid, None);
        assert!(is_alive(id), "a stranger was killed");
        world.ok(&["down", "--force"]);
    }
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn an_unreadable_record_is_kept_and_the_living_are_taken_up() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    let pids = live(&world);
    let half = fs::read(world.paths().registry()).unwrap();
    let half = &half[..half.len() / 2];
    for broken in [half, b"", b"\0\xff not a record", b"{\"version\":1}", b"[]"] {
        kill_hub_with(&world, Some(broken));
        wait_for("both agents", || world.running_status().is_some() && live(&world) == pids);
        let kept = unreadable(&world);
        assert!(kept.iter().any(|text| text == broken), "{kept:?}");
        assert!(world.ok(&["doctor"]).contains("a record could not be read and was kept"));
    }
    assert_obeys(&world, &pids);
}

#[test]
fn a_missing_record_loses_no_agent() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    let pids = live(&world);
    kill_hub_with(&world, None);
    wait_for("both agents", || world.running_status().is_some() && live(&world) == pids);
    assert_obeys(&world, &pids);
}

#[test]
fn a_record_of_a_newer_version_is_left_alone() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    let pids = live(&world);
    let old = fs::read(world.paths().registry()).unwrap();
    let newer = br#"{"version": 999, "agents": {"in": "another form"}}"#;
    kill_hub_with(&world, Some(newer));
    let said = world.run(&["status"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("was written by a newer version (form 999)"), "{}", said.err);
    assert!(said.err.contains("hint: "), "{}", said.err);
    assert_eq!(fs::read(world.paths().registry()).unwrap(), newer);
    assert!(pids.values().all(|id| is_alive(*id)), "agents live on");

    fs::write(world.paths().registry(), old).unwrap();
    world.status();
    wait_for("the agent", || live(&world) == pids);
    assert_obeys(&world, &pids);
}

#[test]
fn a_record_that_contradicts_itself_does_not_keep_the_hub_down() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    world.ok(&["agent", "stop", "two"]);
    world.ok(&["down", "--force"]);
    edit(&world, |record| {
        record["agents"][0]["phase"] = json!("running");
        record["agents"][0]["state"] = json!("exited");
        record["agents"][0]["process"] = Value::Null;
        record["agents"][1]["state"] = json!("working");
    });
    for agent in world.status().agents {
        assert_eq!(agent.state.to_string(), "exited", "{agent:?}");
    }
    world.ok(&["up", "crew"]);
    assert_eq!(live(&world).len(), 2);
}

/// Kills the hub in the instant in which its record has become something else.
fn kill_hub_with(world: &World, record: Option<&[u8]>) {
    let hub = world.status().hub.pid;
    process::kill(hub, Signal::STOP);
    match record {
        Some(bytes) => fs::write(world.paths().registry(), bytes).unwrap(),
        None => fs::remove_file(world.paths().registry()).unwrap(),
    }
    process::kill(hub, Signal::KILL);
    wait_for("the end of the hub", || identify(hub).is_none());
}

/// Stops all processes before the first is killed, so that none can act on another's end.
fn end_everything_at_once(world: &World) {
    for signal in [Signal::STOP, Signal::KILL] {
        world.alive().into_iter().for_each(|id| process::kill(id.pid, signal));
    }
    wait_for("the end of everything", || world.alive().is_empty());
}

fn edit(world: &World, change: impl FnOnce(&mut Value)) {
    let path = world.paths().registry();
    let mut record = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut record);
    fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
}

fn live(world: &World) -> BTreeMap<String, ProcessId> {
    let agents = world.running_status().map(|status| status.agents).unwrap_or_default();
    let pids = agents.into_iter().filter_map(|agent| Some((agent.name, identify(agent.pid?)?)));
    pids.collect()
}

fn unreadable(world: &World) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(world.paths().state_dir).unwrap().flatten();
    let kept = entries.filter(|e| e.file_name().to_str().unwrap().contains(".unreadable-"));
    kept.map(|entry| fs::read(entry.path()).unwrap()).collect()
}

/// Makes sure that agents which were taken up can be used and ended like any other.
fn assert_obeys(world: &World, pids: &BTreeMap<String, ProcessId>) {
    for (name, id) in pids {
        world.ok(&["agent", "keys", name, "--text", "still here", "enter"]);
        world.wait_for_text(name, "<still here>");
        assert_eq!(world.ok(&["agent", "stop", name]), format!("Stopped {name}\n"));
        assert!(!is_alive(*id), "{name}");
        assert_eq!(world.agent(name).ending.as_deref(), Some("stopped"));
    }
}
