//! At no time do two agents of one name live, whatever is killed while one starts or restarts.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use wheelhouse::model::{Environment, ProcessId};
use wheelhouse::wire::{KeyInput, Request, Response};

use super::support::chance::Chance;
use super::support::clock::{now, wait_for};
use super::support::process::{self, environment, identify, is_alive, numbers};
use super::support::visitor::Visitor;
use super::support::world::World;

const SHELL: &[&str] = &["sh", "-c", "echo up; read line", "ROOT"];

/// From nothing to a running agent takes about this long.
const START_MICROSECONDS: u64 = 60_000;

#[test]
fn a_kill_at_any_instant_of_a_start_leaves_one_agent_or_none() {
    storm(40, 5);
}

#[test]
#[ignore = "long; run by hand with `cargo test --test it -- --ignored name_once`"]
fn four_hundred_kills_at_any_instant_leave_one_agent_or_none() {
    storm(400, 6);
}

/// The old keeper's farewell and the order for the next run cross each other.
#[test]
fn an_agent_that_ends_while_it_is_restarted_comes_back_once() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    for round in 0..20 {
        let mut visitor = Visitor::greeted(&world);
        let before = world.agent("one");
        let key = KeyInput::Key("enter".parse().unwrap());
        visitor.send(Request::Keys { agent: "one".to_owned(), keys: vec![key] });
        if round % 2 == 0 {
            let old = identify(before.pid.unwrap());
            wait_for("the end", || old.is_none_or(|id| !is_alive(id)));
        }
        let variables = [("PATH", "/usr/bin:/bin"), ("HOME", world.mark())];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = Environment(variables.into());
        let agents = vec!["one".to_owned()];
        let restart = Request::Restart { agents, environment, grace_ms: Some(1000) };
        assert!(matches!(visitor.ask(restart), Response::Done(_)));
        let after = world.agent("one");
        assert_eq!(after.run, before.run + 1, "{after:?}");
        assert!(after.pid.and_then(identify).is_some(), "{after:?}");
        assert_eq!(living_runs(&world).len(), 1);
    }
}

fn storm(rounds: u64, seed: u64) {
    let world = World::with_crew(&[("one", SHELL), ("other", SHELL)]);
    let mut chance = Chance::new(seed);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&world, &is_over));
        for round in 0..rounds {
            let verb: &[&str] = match round % 3 {
                0 => &["up", "crew"],
                1 => &["agent", "restart", "one", "--grace", "1"],
                _ => &["agent", "start", "one"],
            };
            let part = ["hub", "hub", "caller", "guard", "keeper"][(round / 3 % 5) as usize];
            let instant = Duration::from_micros(chance.below(START_MICROSECONDS));
            kill_during(&world, verb, part, instant);
            settle(&world, &format!("round {round}, seed {seed}: {part} killed in {verb:?}"));
            if verb[0] != "agent" || chance.below(2) == 0 {
                // Sometimes the next start finds the agent running, mostly it does not.
                world.run(&["agent", "stop", "one"]);
            }
            if watcher.is_finished() {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        watcher.join().unwrap();
    });
}

/// Kills all processes of one part at one instant of a command.
fn kill_during(world: &World, verb: &[&str], part: &str, instant: Duration) {
    let mut command = world.command(verb);
    let begun = now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while begun.elapsed() < instant {
        std::hint::spin_loop();
    }
    world.players(part).into_iter().for_each(|pid| process::kill(pid, Signal::KILL));
    wait_for("the end of the command", || child.try_wait().unwrap().is_some());
}

/// Waits until what lives and what the hub says of it agree.
fn settle(world: &World, what: &str) {
    wait_for(what, || {
        let Some(agent) = world.status().agents.into_iter().find(|agent| agent.name == "one")
        else {
            return living_runs(world).is_empty();
        };
        let runs = living_runs(world);
        match agent.pid {
            Some(pid) => {
                runs.len() == 1 && runs[0].0 == agent.run.to_string() && runs[0].1.pid == pid
            }
            None => runs.is_empty() && agent.state.to_string() == "exited",
        }
    });
}

/// Panics if two runs of one name are alive in the same instant.
fn watch(world: &World, is_over: &AtomicBool) {
    let mut looks = 0;
    while !is_over.load(Ordering::Relaxed) {
        let runs = living_runs(world);
        // Both were seen, one after the other; the first must be gone when the second has come.
        let still: Vec<_> = runs.iter().filter(|(_, id)| is_alive(*id)).collect();
        let is_one = still.iter().all(|(run, _)| *run == still[0].0);
        assert!(is_one, "two agents of one name: {still:?}");
        looks += 1;
    }
    println!("looked {looks} times");
}

/// Returns the living processes of the agent, each with its run.
fn living_runs(world: &World) -> Vec<(String, ProcessId)> {
    let run = |pid: u32| {
        let variables = environment(pid);
        let value = |name: &str| variables.iter().find_map(|entry| entry.strip_prefix(name));
        let is_ours = value("HOME=").is_some_and(|home| home.starts_with(world.mark()));
        let is_one = value("WHEELHOUSE_AGENT=") == Some("one");
        let run = value("WHEELHOUSE_RUN=")?.to_owned();
        (is_ours && is_one).then_some((run, identify(pid)?))
    };
    numbers().filter_map(run).collect()
}
