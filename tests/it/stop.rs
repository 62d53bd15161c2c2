//! Stopping an agent through the hub leaves nothing alive, and is on record only afterwards.

use std::process::Stdio;
use std::time::Duration;

use wheelhouse::api::AgentStatus;
use wheelhouse::model::ProcessId;

use super::support::clock::{now, wait_for};
use super::support::keeper::HOPPER;
use super::support::process::{identify, is_alive, numbers, words};
use super::support::world::{HYDRA, World};

/// Seven with the hydra itself.
const HEADS: usize = 7;

/// The grace, and the second after it in which all must be gone.
const GRACE_AND_MORE: Duration = Duration::from_secs(2);
/// What the machine may add: the hoppers alone fork as fast as two processors can, and other tests
/// run beside them.
const SLACK: Duration = Duration::from_secs(3);

/// Four rounds of five trees that do all they can to be overlooked.
#[test]
fn nothing_of_a_hydra_or_a_hopper_outlives_its_stop() {
    let hydra: &[&str] = &["python3", "-c", HYDRA, "ROOT"];
    let hopper: &[&str] = &["python3", "-c", HOPPER, "ROOT"];
    let vagrant: &[&str] = &["python3", "-c", HOPPER, "ROOT", "in new sessions"];
    let crew = [("h1", hydra), ("h2", hydra), ("h3", hydra), ("f1", hopper), ("f2", vagrant)];
    let world = World::with_crew(&crew);
    let stop = ["agent", "stop", "h1", "h2", "h3", "f1", "f2"];
    let mut times = Vec::new();
    for _ in 0..4 {
        world.ok(&["up", "crew"]);
        for (name, argv) in crew {
            world.wait_for_text(name, if argv == hydra { "hydra" } else { "hopping" });
        }
        let mut before = Vec::new();
        wait_for("all trees", || {
            before = pythons(&world);
            before.len() >= 3 * HEADS
        });
        let begun = now();
        world.ok(&stop);
        times.push(begun.elapsed());
        assert_all_gone(&before);
        // A hopper is another process at each look: not one of them may be left.
        assert_all_gone(&pythons(&world));
        let ended = |agent: &AgentStatus| agent.ending.as_deref() == Some("stopped");
        assert!(world.status().agents.iter().all(ended), "{:?}", world.status());
    }
    println!("five trees stopped in {times:?}");
    times.sort();
    assert!(times[3] < GRACE_AND_MORE + SLACK, "{times:?}");
}

#[test]
fn a_restart_ends_the_old_tree_before_the_new_one_begins() {
    let world = hydra_world();
    world.ok(&["up", "crew"]);
    for run in 2..4 {
        let heads = heads(&world);
        world.ok(&["agent", "restart", "hydra"]);
        assert_all_gone(&heads);
        assert_eq!(world.agent("hydra").run, run);
    }
}

#[test]
fn down_returns_when_every_process_is_gone() {
    let world = hydra_world();
    world.ok(&["up", "crew"]);
    let heads = heads(&world);
    world.ok(&["down", "--force"]);
    assert_all_gone(&heads);
    assert!(world.players("hub").is_empty());
    // What stood behind the agent needs a moment to leave, but has nothing more to do.
    wait_for("an empty world", || world.alive().is_empty());
    assert!(!world.paths().hub_socket().exists());
}

#[test]
fn a_stop_is_on_record_only_after_the_tree_is_gone() {
    let world = hydra_world();
    world.ok(&["up", "crew"]);
    let heads = heads(&world);
    let mut stop = world
        .command(&["agent", "stop", "hydra"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut seen = Vec::new();
    wait_for("the end on record", || {
        let phase = phase(&world);
        // Looked at after the record: whatever it says must already be true.
        let alive = heads.iter().filter(|id| is_alive(**id)).count();
        let is_ended = phase.contains("ended");
        assert!(!is_ended || alive == 0, "{phase} with {alive} alive");
        if seen.last() != Some(&phase) {
            seen.push(phase);
        }
        is_ended
    });
    assert_eq!(seen.last().unwrap(), "{\"ended\":\"stopped\"}", "{seen:?}");
    assert!(seen.contains(&"\"stopping\"".to_owned()), "{seen:?}");
    assert!(stop.wait().unwrap().success());
}

#[test]
fn an_agent_that_ends_by_itself_takes_its_helpers_along() {
    let script = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\n";
    let script = format!("{script}print('parent leaves', flush=True)");
    let world = World::with_crew(&[("one", &["python3", "-c", &script, "ROOT"])]);
    world.ok(&["up", "crew"]);
    let status =
        world.wait_for_status("the end of the agent", |status| status.agents[0].ending.is_some());
    assert_eq!(status.agents[0].ending.as_deref(), Some("exit code 0"));
    let helpers = numbers().filter(|pid| words(*pid).contains(&script)).count();
    assert_eq!(helpers, 0);
}

fn hydra_world() -> World {
    World::with_crew(&[("hydra", &["python3", "-c", HYDRA, "ROOT"])])
}

/// Returns the living processes of the world's agents.
fn pythons(world: &World) -> Vec<ProcessId> {
    let is_python = |pid: &u32| {
        let words = words(*pid);
        words.first().is_some_and(|word| word.contains("python"))
            && words.iter().any(|word| word == world.mark())
    };
    numbers().filter(is_python).filter_map(identify).collect()
}

/// Returns all heads of the hydra, once they are there.
fn heads(world: &World) -> Vec<ProcessId> {
    let mut heads = Vec::new();
    wait_for("all heads", || {
        heads = pythons(world);
        // A head that forks twice is more for an instant; the screen says when all are born.
        heads.len() == HEADS && world.read("hydra").contains("hydra")
    });
    heads
}

fn assert_all_gone(heads: &[ProcessId]) {
    let alive: Vec<_> = heads.iter().filter(|id| is_alive(**id)).collect();
    assert!(alive.is_empty(), "{alive:?}");
}

/// Returns how far the run has come, as the record on disk says.
fn phase(world: &World) -> String {
    world.seat("hydra")["phase"].to_string()
}
