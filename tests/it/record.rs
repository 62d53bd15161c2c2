//! What the record says is neither believed blindly nor ever thrown away.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use wheelhouse::model::{Moment, ProcessId, RowChange};
use wheelhouse::store::{Batch, Store};

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
        edit(&world, "one", |seat| {
            let foreign = json!({"pid": id.pid, "started": started});
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
fn a_damaged_record_is_refused_and_kept_and_the_living_are_taken_up_without_it() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    let pids = live(&world);
    let path = world.paths().record();
    let half = fs::read(&path).unwrap();
    let half = &half[..half.len() / 2];
    for (broken, words) in [
        (half, "is damaged"),
        (b"", "is damaged: it is empty"),
        (b"\0\xff not a record", "is not a record of wheelhouse"),
    ] {
        kill_hub_after(&world, || {
            remove_record(&world);
            fs::write(&path, broken).is_ok()
        });
        let said = world.run(&["status"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains(words), "{}", said.err);
        assert!(said.err.contains("hint: Look at it with `wheelhouse doctor`"), "{}", said.err);
        let said = world.run(&["doctor"]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.out.contains("PROBLEM  record") && said.out.contains(words), "{}", said.out);
        assert_eq!(fs::read(&path).unwrap(), broken, "it was left as it is");
        assert!(pids.values().all(|id| is_alive(*id)), "agents live on");

        fs::rename(&path, world.path("aside")).unwrap();
        world.status();
        wait_for("both agents", || live(&world) == pids);
    }
    assert_obeys(&world, &pids);
}

#[test]
fn a_missing_record_loses_no_agent() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    let pids = live(&world);
    kill_hub_after(&world, || {
        remove_record(&world);
        true
    });
    wait_for("both agents", || world.running_status().is_some() && live(&world) == pids);
    assert_obeys(&world, &pids);
}

#[test]
fn a_record_of_a_newer_version_is_left_alone() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    let pids = live(&world);
    kill_hub_after(&world, || set_form(&world, 999));
    let said = world.run(&["status"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("was written by a newer version"), "{}", said.err);
    assert!(said.err.contains("hint: Use the newer version"), "{}", said.err);
    assert!(pids.values().all(|id| is_alive(*id)), "agents live on");

    wait_for("the record as it was", || set_form(&world, 2));
    world.status();
    wait_for("the agent", || live(&world) == pids);
    assert_obeys(&world, &pids);
}

#[test]
fn the_record_of_an_older_version_is_taken_over_once() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    world.ok(&["agent", "stop", "two"]);
    let one = live(&world);
    let old = json!({
        "version": 1,
        "going_down": false,
        "agents": [world.seat("one"), world.seat("two")],
        "receipts": 17,
        "dispatches": [],
    });
    let registry = world.paths().registry();
    kill_hub_after(&world, || {
        remove_record(&world);
        fs::write(&registry, old.to_string()).is_ok()
    });
    for _ in 0..2 {
        wait_for("the agent", || live(&world) == one);
        assert_eq!(world.agent("two").ending.as_deref(), Some("stopped"));
        assert!(!registry.exists());
        let imported = fs::read_to_string(registry.with_extension("json.imported")).unwrap();
        assert_eq!(imported, old.to_string());
        assert_eq!(world.ok(&["events", "--kind", "record."]).lines().count(), 1);
        let hub = &world.rows()[&("hub".to_owned(), "hub".to_owned())];
        assert_eq!(hub["receipts"], 17);
        kill_hub_after(&world, || true);
    }
    wait_for("the agent", || live(&world) == one);
    assert_obeys(&world, &one);
}

#[test]
fn what_an_older_version_left_unreadable_is_kept() {
    let world = World::new();
    let registry = world.paths().registry();
    world.paths().make_directories().unwrap();
    fs::write(&registry, "{\"version\":1}").unwrap();
    assert!(world.status().agents.is_empty());
    assert!(world.ok(&["doctor"]).contains("a record could not be read and was kept"));
    world.ok(&["down"]);
    remove_record(&world);
    fs::write(&registry, "{\"version\": 999}").unwrap();
    let said = world.run(&["status"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("was written by a newer version (form 999)"), "{}", said.err);
    assert_eq!(fs::read_to_string(&registry).unwrap(), "{\"version\": 999}");
}

#[test]
fn a_record_that_contradicts_itself_does_not_keep_the_hub_down() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    world.ok(&["agent", "stop", "two"]);
    world.ok(&["down", "--force"]);
    edit(&world, "one", |seat| {
        seat["phase"] = json!("running");
        seat["state"] = json!("exited");
        seat["process"] = Value::Null;
    });
    edit(&world, "two", |seat| seat["state"] = json!("working"));
    for agent in world.status().agents {
        assert_eq!(agent.state.to_string(), "exited", "{agent:?}");
    }
    world.ok(&["up", "crew"]);
    assert_eq!(live(&world).len(), 2);
}

/// Kills the hub in the instant after something was done to its record, which is tried until it
/// succeeds.
fn kill_hub_after(world: &World, mut change: impl FnMut() -> bool) {
    let hub = world.status().hub.pid;
    wait_for("a change of the record", || {
        process::kill(hub, Signal::STOP);
        let is_changed = change();
        process::kill(hub, if is_changed { Signal::KILL } else { Signal::CONT });
        is_changed
    });
    wait_for("the end of the hub", || identify(hub).is_none());
}

fn remove_record(world: &World) {
    for suffix in ["", "-wal", "-shm"] {
        let path = format!("{}{suffix}", world.paths().record().display());
        assert!(fs::remove_file(&path).is_ok() || !suffix.is_empty(), "{path}");
    }
}

/// Writes which form the record has; fails while somebody else writes.
fn set_form(world: &World, form: i64) -> bool {
    let connection = rusqlite::Connection::open(world.paths().record()).unwrap();
    connection.pragma_update(None, "user_version", form).is_ok()
}

/// Stops all processes before the first is killed, so that none can act on another's end.
fn end_everything_at_once(world: &World) {
    for signal in [Signal::STOP, Signal::KILL] {
        world.alive().into_iter().for_each(|id| process::kill(id.pid, signal));
    }
    wait_for("the end of everything", || world.alive().is_empty());
}

/// Changes what the record says of an agent, while no hub has it open.
fn edit(world: &World, agent: &str, change: impl FnOnce(&mut Value)) {
    let mut value = world.seat(agent);
    change(&mut value);
    let (store, _) = Store::open(&world.paths().record(), |_| ()).unwrap();
    let (table, key) = ("seat".to_owned(), agent.to_owned());
    let rows = vec![RowChange { table, key, value: Some(value) }];
    store.submit(Batch { at: Moment(1), entries: Vec::new(), rows }).unwrap();
}

fn live(world: &World) -> BTreeMap<String, ProcessId> {
    let agents = world.running_status().map(|status| status.agents).unwrap_or_default();
    let pids = agents.into_iter().filter_map(|agent| Some((agent.name, identify(agent.pid?)?)));
    pids.collect()
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
