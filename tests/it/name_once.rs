//! At no time do two agents of one name live, whatever is killed while one starts or restarts.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use wheelhouse::api::{KeyInput, Request, Response};
use wheelhouse::model::{Environment, ProcessId};

use super::support::chance::Chance;
use super::support::clock::{now, wait_for};
use super::support::process::{self, environment, identify, is_alive, is_asleep, numbers, words};
use super::support::visitor::Visitor;
use super::support::world::{PROGRAM, World, run};

const SHELL: &[&str] = &["sh", "-c", "echo up; read line", "ROOT"];

/// The commands that begin and end agents.
const VERBS: [&[&str]; 4] = [
    &["up", "crew"],
    &["agent", "restart", "one", "--grace", "1"],
    &["agent", "start", "one"],
    &["agent", "stop", "one", "--grace", "1"],
];

/// What is killed at once. Where all three behind an agent go, only the hub is left to end it.
const PARTS: [&[&str]; 7] = [
    &["hub"],
    &["reviver"],
    &["reaper"],
    &["keeper"],
    &["hub", "reviver"],
    &["hub", "reaper"],
    &["hub", "keeper"],
];

#[test]
fn a_kill_at_any_instant_of_a_command_leaves_one_agent_or_none() {
    storm(40, 5);
}

#[test]
#[ignore = "long; `.ci/long` runs it"]
fn four_hundred_kills_at_any_instant_leave_one_agent_or_none() {
    storm(400, 6);
}

/// A hub was killed just when it had started an agent, and the agent is slow to come: the next hub must
/// not take the free lock for the end of it.
#[test]
fn an_agent_that_a_killed_hub_was_starting_is_taken_up_when_it_comes() {
    let world = World::with_crew(&[("one", SHELL)]);
    // An earlier run has left its lock behind, and it is free.
    world.ok(&["up", "crew"]);
    world.ok(&["agent", "stop", "one"]);
    world.ok(&["down", "--force"]);
    let program = world.path("wheelhouse");
    sh(&format!("cp '{PROGRAM}' {}", program.display()));
    let mut command = Command::new(&program);
    let ours = world.command(&["attention", "--read"]);
    command.args(ours.get_args()).env_clear().stdin(Stdio::null());
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert_eq!(run(command).unwrap().code, Some(0));
    let old = world.running_status().unwrap().hub.pid;
    // What this hub starts from now on waits for a file before it is itself.
    let (slow, go) = (world.path("slow"), world.path("go"));
    let script = format!(
        "#!/bin/sh\nwhile [ ! -e {} ]; do sleep 0.02; done\nexec '{PROGRAM}' \"$@\"\n",
        go.display()
    );
    fs::write(&slow, script).unwrap();
    let (from, to) = (slow.display(), program.display());
    sh(&format!("cp {from} {from}.new && chmod 755 {from}.new && mv {from}.new {to}"));

    let mut start = world.command(&["agent", "start", "one"]);
    let mut start = start.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let waits = |pid: u32| words(pid).iter().any(|word| *word == program.to_string_lossy());
    wait_for("the start", || numbers().any(|pid| pid != old && waits(pid)));
    // It answers once it has handed the order over.
    world.running_status().unwrap();
    // Nobody is left who could ask for it a second time.
    start.kill().unwrap();
    start.wait().unwrap();
    process::kill(old, Signal::KILL);
    let socket = world.paths().hub_socket();
    fs::remove_file(&socket).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| world.status());
        // It takes the lock, listens, looks for the agents on record, and only then sleeps.
        wait_for("the next hub's first look", || {
            let holder = fs::read_to_string(world.paths().hub_lock()).unwrap();
            let hub = holder.trim().parse().ok().filter(|pid| *pid != old);
            socket.exists() && hub.is_some_and(is_asleep)
        });
        fs::write(&go, "").unwrap();
    });
    settle(&world, "one agent");
    let agent = world.agent("one");
    assert!(agent.pid.is_some() && agent.run == 2, "{agent:?}");
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

fn storm(rounds: usize, seed: u64) {
    let world = World::with_crew(&[("one", SHELL), ("other", SHELL)]);
    let spans = VERBS.map(|verb| {
        let begun = now();
        world.ok(verb);
        u64::try_from(begun.elapsed().as_micros()).unwrap()
    });
    let mut chance = Chance::new(seed);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&world, &is_over));
        for round in 0..rounds {
            let (verb, span) = (VERBS[round % VERBS.len()], spans[round % VERBS.len()]);
            let parts = PARTS[round % PARTS.len()];
            // Over the whole of the command, and a little beyond its end.
            let instant = Duration::from_micros(chance.below(span + span / 8));
            kill_during(&world, verb, parts, instant);
            settle(&world, &format!("round {round}, seed {seed}: {parts:?} killed in {verb:?}"));
            if chance.below(2) == 0 {
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

/// Kills all processes of some parts at one instant of a command.
fn kill_during(world: &World, verb: &[&str], parts: &[&str], instant: Duration) {
    let mut command = world.command(verb);
    let begun = now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while begun.elapsed() < instant {
        std::hint::spin_loop();
    }
    let players: Vec<_> = parts.iter().flat_map(|part| world.players(part)).collect();
    for pid in players {
        process::kill(pid, Signal::KILL);
    }
    wait_for("the end of the command", || child.try_wait().unwrap().is_some());
}

fn sh(script: &str) {
    assert!(Command::new("sh").args(["-c", script]).status().unwrap().success(), "{script}");
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
