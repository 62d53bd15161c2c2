//! Starting and stopping agents without end leaves nothing behind.

use super::support::clock::wait_for;
use super::support::process::{descriptors, thread_count, zombies_of};
use super::support::world::{World, files};

const SHELL: &[&str] = &["sh", "-c", "echo up; read line", "ROOT"];

#[test]
fn forty_starts_and_stops_leave_nothing_behind() {
    cycle(40);
}

#[test]
#[ignore = "long; `.ci/long` runs it"]
fn five_hundred_starts_and_stops_leave_nothing_behind() {
    cycle(500);
}

/// Threads of the hub that read and write files, and end when they were idle for a while.
const POOL_THREADS: usize = 3;

/// Everything that could grow.
#[derive(Clone, Debug, PartialEq)]
struct Belongings {
    hub_descriptors: Vec<String>,
    hub_threads: usize,
    hub_zombies: Vec<u32>,
    keeper_descriptors: Vec<String>,
    processes: usize,
    terminals: usize,
    files: Vec<String>,
}

fn cycle(rounds: usize) {
    let world = World::with_crew(&[("stays", SHELL), ("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    // The first stop makes the files that stay: locks and screens.
    world.ok(&["agent", "stop", "one", "two"]);
    world.ok(&["agent", "start", "one", "two"]);
    world.ok(&["agent", "stop", "one", "two"]);
    let hub = world.status().hub.pid;
    let mut before = belongings(&world, hub);
    wait_for("calm", || {
        let now = belongings(&world, hub);
        std::mem::replace(&mut before, now) == before && before.processes == 5
    });
    let first = start_and_stop(&world, hub, rounds, &before);
    if has_grown(&before, &first) {
        // What is made once, and was not there yet, is no leak: a leak grows with every round.
        let second = start_and_stop(&world, hub, rounds, &first);
        assert!(!has_grown(&first, &second), "before {before:?}\nafter {first:?}\nthen {second:?}");
    }
}

/// Starts and stops agents, and returns what is there once all is as it was, or after ten seconds.
fn start_and_stop(world: &World, hub: u32, rounds: usize, before: &Belongings) -> Belongings {
    for round in 0..rounds {
        if round % 2 == 0 {
            world.ok(&["agent", "start", "one", "two"]);
        } else {
            world.ok(&["agent", "start", "one"]);
            world.ok(&["agent", "keys", "one", "enter"]);
            wait_for("its own end", || world.agent("one").pid.is_none());
        }
        world.ok(&["agent", "stop", "one", "two"]);
    }
    assert_eq!(world.status().hub.pid, hub);
    let until = super::support::clock::now() + std::time::Duration::from_secs(10);
    loop {
        let after = belongings(world, hub);
        if !has_grown(before, &after) || super::support::clock::now() >= until {
            return after;
        }
    }
}

/// Says whether something is left over. A client that is leaving may have been counted before, and threads
/// that read files come and go.
fn has_grown(before: &Belongings, after: &Belongings) -> bool {
    let mut known = before.hub_descriptors.clone();
    let is_more = after.hub_descriptors.iter().any(|found| {
        let at = known.iter().position(|one| one == found);
        at.map(|at| known.swap_remove(at)).is_none()
    });
    let rest = |one: &Belongings| Belongings {
        hub_descriptors: Vec::new(),
        hub_threads: 0,
        ..one.clone()
    };
    is_more || after.hub_threads > before.hub_threads + POOL_THREADS || rest(before) != rest(after)
}

/// Returns the files below some directories. An agent that was seen to do something has one more, which
/// is then its for good: what its detector remembers.
fn files_of(parts: &[std::path::PathBuf]) -> Vec<String> {
    let all = parts.iter().flat_map(|part| files(part)).map(|path| path.display().to_string());
    all.filter(|path| !path.ends_with(".reports")).collect()
}

fn belongings(world: &World, hub: u32) -> Belongings {
    let alive = world.alive();
    let keeper = world.agent("stays").keeper_pid.unwrap();
    let of_terminal = |target: &&String| target.starts_with("/dev/pt");
    let all = alive.iter().flat_map(|id| descriptors(id.pid)).collect::<Vec<_>>();
    let parts = [world.path("state"), world.path("run")];
    Belongings {
        hub_descriptors: descriptors(hub),
        hub_threads: thread_count(hub),
        hub_zombies: zombies_of(hub),
        keeper_descriptors: descriptors(keeper),
        processes: alive.len(),
        terminals: all.iter().filter(of_terminal).count(),
        files: files_of(&parts),
    }
}
