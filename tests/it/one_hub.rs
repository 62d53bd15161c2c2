//! However many commands start a project's hub at once, one hub serves them all.

use std::fs;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use super::support::clock::wait_for;
use super::support::process;
use super::support::world::World;

const STARTERS: usize = 8;

#[test]
fn one_hub_wins_after_each_of_ten_kills() {
    race(10);
}

#[test]
#[ignore = "long; `.ci/long` runs it"]
fn one_hub_wins_after_each_of_fifty_kills() {
    race(50);
}

#[test]
fn a_command_that_comes_while_the_hub_leaves_gets_the_next_one() {
    let world = World::new();
    for _ in 0..10 {
        world.start_hub();
        let mut down =
            world.command(&["down"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        for _ in 0..4 {
            let said = world.run(&["attention", "--read"]);
            // What was asked in the very last instant is answered by the end of the connection.
            let is_cut_off =
                ["The hub closed the connection", "The connection to the hub was lost"]
                    .iter()
                    .any(|words| said.err.contains(words));
            assert!(said.code == Some(0) || is_cut_off, "{said:?}");
        }
        assert!(down.wait().unwrap().success());
    }
}

fn race(rounds: usize) {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let agents = pids(&world);
    for round in 0..rounds {
        if round % 2 == 0 {
            kill_the_hub(&world);
        } else {
            // Without agents, nobody but the starters themselves brings the hub back.
            world.ok(&["down", "--force"]);
            plant_stale_files(&world);
        }
        let start = || starter(&world).stdout(Stdio::piped()).spawn().unwrap();
        let starters: Vec<_> = (0..STARTERS).map(|_| start()).collect();
        let mut served_by = Vec::new();
        for starter in starters {
            let output = starter.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let status: Value = serde_json::from_slice(&output.stdout).unwrap();
            served_by.push(status["hub"]["pid"].as_u64().unwrap());
        }
        served_by.dedup();
        assert_eq!(served_by.len(), 1, "round {round}");
        wait_for("one hub", || world.players("hub").len() == 1);
        assert_eq!(u64::from(world.players("hub")[0]), served_by[0]);
        if round % 2 == 0 {
            wait_for("the agents", || pids(&world).len() == agents.len());
        } else {
            world.ok(&["up", "shell"]);
        }
    }
}

/// Returns a command that starts the hub where none runs, and says which one serves it.
fn starter(world: &World) -> Command {
    let command = world.command(&[]);
    let program = command.get_program().to_owned();
    let script = "\"$0\" \"$@\" attention --read >&2 && \"$0\" \"$@\" status --json";
    let mut shell = Command::new("sh");
    shell.env_clear().arg("-c").arg(script).arg(program).args(command.get_args());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.current_dir(&world.root).stdin(Stdio::null());
    shell
}

fn kill_the_hub(world: &World) {
    let hub = world.running_status().unwrap().hub.pid;
    process::kill(hub, Signal::KILL);
    wait_for("the end of the hub", || process::identify(hub).is_none());
}

/// Leaves what a machine that lost power leaves: a socket nobody listens at, and in the lock file
/// a number that now belongs to someone else.
fn plant_stale_files(world: &World) {
    let paths = world.paths();
    drop(UnixListener::bind(paths.hub_socket()).unwrap());
    assert!(paths.hub_socket().exists());
    fs::write(paths.hub_lock(), format!("{}\n", std::process::id())).unwrap();
}

fn pids(world: &World) -> Vec<u32> {
    let agents = world.running_status().map(|status| status.agents).unwrap_or_default();
    agents.into_iter().filter_map(|agent| agent.pid).collect()
}
