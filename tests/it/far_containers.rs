//! Containers and pods: the whole way is driven by stand-ins that run the command on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use super::crash::{COUNTER, assert_contiguous, latest, numbers};
use super::support::clock::wait_for;
use super::support::process;
use super::support::world::{PROGRAM, World};

/// Plays a container engine: notes what it was told, and runs what would run inside. A container is a
/// file; without it nothing runs.
const ENGINE: &str = r#"#!/bin/bash
echo "$(basename "$0") $*" >> "$ROOT/said"
inside() { export HOME="$ROOT/inside" XDG_STATE_HOME= ; mkdir -p "$HOME"; exec "$@"; }
case "$1" in
run)
  [ "$2" = --rm ] && { while [ "$1" != far ]; do shift; done; inside "$PROGRAM" "$@"; }
  [ -e "$ROOT/engine-is-down" ] && { echo "Cannot connect to the daemon" >&2; exit 1; }
  [ -e "$ROOT/container" ] && { echo "The name is already in use" >&2; exit 125; }
  [ -e "$ROOT/fetches" ] && exec sleep 1000
  [ -e "$ROOT/ends-at-once" ] && echo exited > "$ROOT/standing"
  touch "$ROOT/container";;
exec)
  [ -e "$ROOT/engine-is-down" ] && { echo "Cannot connect to the daemon" >&2; exit 1; }
  [ -e "$ROOT/container" ] || { echo "No such container" >&2; exit 1; }
  [ -e "$ROOT/standing" ] && { echo "Error: container state improper" >&2; exit 125; }
  shift 4; inside "$PROGRAM" "$@";;
container)
  [ -e "$ROOT/engine-is-down" ] && exit 1
  [ -e "$ROOT/container" ] || { echo "No such container" >&2; exit 1; }
  cat "$ROOT/standing" 2>/dev/null || echo running;;
logs) echo "exec wheelhouse: no such file or directory" >&2;;
ps) [ -e "$ROOT/engine-is-down" ] && exit 1; [ -e "$ROOT/container" ] && echo abc; true;;
rm) rm -f "$ROOT/container" "$ROOT/standing";;
esac
"#;

/// Plays kubectl: runs what follows `--`.
const KUBECTL: &str = r#"#!/bin/bash
echo "kubectl $*" >> "$ROOT/said"
while [ "$1" != -- ]; do shift; done; shift
export HOME="$ROOT/inside" XDG_STATE_HOME= ; mkdir -p "$HOME"; exec "$@"
"#;

fn stage(runner: &str) -> World {
    let mut world = World::new();
    let bin = world.path("bin");
    fs::create_dir(&bin).unwrap();
    for (name, script) in [("docker", ENGINE), ("podman", ENGINE), ("kubectl", KUBECTL)] {
        let file = bin.join(name);
        fs::write(&file, script).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    }
    world.set_variable("PATH", &format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    world.set_variable("ROOT", &world.root.display().to_string());
    world.set_variable("PROGRAM", PROGRAM);
    let counting: &[&str] = &["python3", "-c", COUNTER, "ROOT", "0.01"];
    let crew = world.crew(&[("one", counting)]).replace(
        "\ncli = ",
        "\nrunner = \"box\"\nlimits = { memory = \"1G\", cpu = 1.5, processes = 99 }\ncli = ",
    );
    world.write_config(&format!("[runner.box]\n{runner}\n{crew}"));
    world.trust();
    world
}

fn said(world: &World) -> String {
    fs::read_to_string(world.path("said")).unwrap_or_default()
}

/// Counts on through a carrier that is killed, and returns the agent's process.
fn count_on(world: &World, carrier: &str) -> u32 {
    let mut connection = world.connect().unwrap();
    wait_for("output", || latest(&mut connection, "one") > 20);
    let pid = world.agent("one").pid.unwrap();
    let before = latest(&mut connection, "one");
    let carriers: Vec<u32> = world
        .alive()
        .into_iter()
        .map(|id| id.pid)
        .filter(|pid| process::words(*pid).iter().any(|word| word == carrier))
        .collect();
    assert!(!carriers.is_empty(), "nothing carries the stream");
    for pid in carriers {
        process::kill(pid, rustix::process::Signal::KILL);
    }
    wait_for("new output", || latest(&mut connection, "one") > before + 20);
    let all = numbers(&mut connection, "one", true);
    assert_eq!(all.first(), Some(&0));
    assert_contiguous(&all, "one");
    assert_eq!(world.agent("one").pid, Some(pid));
    pid
}

#[test]
fn an_agent_gets_a_container_of_its_own_that_goes_with_it() {
    let world =
        stage("kind = \"docker\"\nimage = \"node:22\"\narguments = [\"--network\", \"none\"]");
    world.ok(&["up", "crew"]);
    count_on(&world, "link");
    let made = said(&world);
    let project = world.project.display();
    for words in [
        format!("--mount type=bind,source={project},target={project}"),
        format!("--mount type=bind,source={PROGRAM},target=/usr/local/bin/wheelhouse,readonly"),
        "--memory 1073741824 --cpus 1.50 --pids-limit 99 --network none".to_owned(),
        "--entrypoint /usr/local/bin/wheelhouse node:22 far hold".to_owned(),
    ] {
        assert!(made.contains(&words), "{words}\n{made}");
    }
    // The agent works in the project itself, under the path that it has here.
    assert!(world.json(&["status"])["agents"][0]["runner"] == "box");
    world.ok(&["agent", "stop", "one"]);
    assert!(said(&world).contains("docker rm --force --volumes wheelhouse-"));
    assert!(!world.path("container").exists());
    world.ok(&["agent", "start", "one"]);
    assert!(world.path("container").exists());
    world.ok(&["down", "--force"]);
    assert!(!world.path("container").exists());
}

#[test]
fn a_container_that_is_gone_is_proof_and_an_engine_that_is_down_is_none() {
    let world = stage("kind = \"podman\"\nimage = \"node:22\"");
    world.ok(&["up", "crew"]);
    let pid = world.agent("one").pid.unwrap();
    let id = process::identify(pid).unwrap();
    let links = || {
        world
            .alive()
            .into_iter()
            .map(|id| id.pid)
            .filter(|pid| process::words(*pid).iter().any(|word| word == "link"))
    };
    fs::write(world.path("engine-is-down"), "").unwrap();
    for pid in links() {
        process::kill(pid, rustix::process::Signal::KILL);
    }
    world.wait_for_status("that it is out of reach", |s| s.agents[0].unreachable.is_some());
    assert!(process::is_alive(id));
    fs::remove_file(world.path("engine-is-down")).unwrap();
    world.wait_for_status("that it is back", |status| {
        status.agents[0].unreachable.is_none() && status.agents[0].pid == Some(pid)
    });
    // One that is paused answers nobody, and goes on later.
    fs::write(world.path("standing"), "paused").unwrap();
    for pid in links() {
        process::kill(pid, rustix::process::Signal::KILL);
    }
    world.wait_for_status("that it is out of reach", |s| s.agents[0].unreachable.is_some());
    assert!(process::is_alive(id) && world.path("container").exists(), "it was only paused");
    fs::remove_file(world.path("standing")).unwrap();
    world.wait_for_status("that it is back", |status| {
        status.agents[0].unreachable.is_none() && status.agents[0].pid == Some(pid)
    });
    fs::remove_file(world.path("container")).unwrap();
    for pid in links() {
        process::kill(pid, rustix::process::Signal::KILL);
    }
    let status = world.wait_for_status("its loss", |status| status.agents[0].ending.is_some());
    assert_eq!(status.agents[0].ending.as_deref(), Some("lost"));
}

#[test]
fn an_agent_runs_in_a_pod_and_in_a_container_that_is_there_already() {
    let program = format!("program = \"{PROGRAM}\"");
    let world = stage(&format!(
        "kind = \"kubectl\"\npod = \"dev-0\"\nnamespace = \"team\"\ncontext = \"lab\"\n{program}"
    ));
    world.ok(&["up", "crew"]);
    count_on(&world, "link");
    assert!(said(&world).contains("kubectl --context lab --namespace team exec -i dev-0 -- "));
    let checked = world.ok(&["runner", "check", "box"]);
    assert!(checked.contains("box (kubectl dev-0) answers"), "{checked}");
    world.ok(&["down", "--force"]);
    assert!(world.players("keeper").is_empty());

    let world = stage(&format!("kind = \"docker\"\ncontainer = \"pet\"\n{program}"));
    fs::write(world.path("container"), "").unwrap();
    world.ok(&["up", "crew"]);
    count_on(&world, "link");
    world.ok(&["down", "--force"]);
    assert!(world.path("container").exists(), "it is not ours to remove");
    assert!(said(&world).contains("docker exec -i pet "));
}

#[test]
fn a_hub_whose_agents_are_all_elsewhere_is_called_back() {
    let world = stage("kind = \"docker\"\nimage = \"node:22\"");
    world.ok(&["up", "crew"]);
    for _ in 0..3 {
        let [watchdog] = world.players("watchdog")[..] else { panic!("one watchdog is enough") };
        world.kill_hub();
        wait_for(
            "another watchdog",
            || matches!(world.players("watchdog")[..], [other] if other != watchdog),
        );
    }
    world.ok(&["agent", "stop", "one"]);
    wait_for("its end", || world.players("watchdog").is_empty());
    world.ok(&["down", "--force"]);
    assert!(world.players("watchdog").is_empty());
}

#[test]
fn nobody_calls_a_hub_back_to_a_project_that_was_removed() {
    let world = stage("kind = \"docker\"\nimage = \"node:22\"");
    world.ok(&["up", "crew"]);
    let log = world.paths().hub_log();
    fs::remove_dir_all(&world.project).unwrap();
    wait_for("the end of hub and watchdog", || {
        world.players("hub").is_empty() && world.players("watchdog").is_empty()
    });
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("the project's directory is gone"), "{log}");
}

#[test]
fn an_image_is_tried_before_it_is_used() {
    let world = stage("kind = \"docker\"\nimage = \"node:22\"");
    let checked = world.run(&["runner", "check", "box"]);
    assert!(checked.out.contains("box (docker node:22) answers"), "{checked:?}");
    assert!(said(&world).contains("docker run --rm --mount"), "{}", said(&world));
    fs::write(world.path("engine-is-down"), "").unwrap();
    let failed = world.run(&["up", "crew"]);
    assert!(failed.err.contains("Cannot connect to the daemon"), "{failed:?}");
    assert!(failed.err.contains("hint: Look closer with `wheelhouse runner check box`"));
    assert_eq!(world.agent("one").ending.as_deref(), Some("failed to start"));
}

#[test]
fn a_container_of_an_earlier_run_is_replaced_and_one_that_ends_at_once_says_why() {
    let world = stage("kind = \"podman\"\nimage = \"node:22\"");
    fs::write(world.path("container"), "").unwrap();
    world.ok(&["up", "crew"]);
    let said = said(&world);
    let removed = said.find("podman rm ").unwrap_or_else(|| panic!("{said}"));
    assert!(said[removed..].contains("podman run --detach"), "{said}");
    world.ok(&["agent", "stop", "one"]);
    fs::write(world.path("ends-at-once"), "").unwrap();
    let failed = world.run(&["agent", "start", "one"]);
    assert!(failed.err.contains("exec wheelhouse: no such file or directory"), "{failed:?}");
    assert!(!world.path("container").exists());
}

#[test]
fn a_stop_does_not_wait_for_an_engine_that_fetches_an_image() {
    let world = stage("kind = \"podman\"\nimage = \"node:22\"");
    fs::write(world.path("fetches"), "").unwrap();
    let fetching = || {
        let words = |id: wheelhouse::model::ProcessId| process::words(id.pid);
        world.alive().into_iter().any(|id| words(id) == ["sleep", "1000"])
    };
    let mut command = world.command(&["up", "crew"]);
    let mut up = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a container that is being made", fetching);
    world.ok(&["agent", "stop", "one"]);
    assert!(!up.wait().unwrap().success(), "nothing came up");
    assert_eq!(world.agent("one").ending.as_deref(), Some("stopped"));
    wait_for("the end of the engine", || !fetching());
    assert!(said(&world).contains("podman rm "), "what it may have made by then goes");
}
