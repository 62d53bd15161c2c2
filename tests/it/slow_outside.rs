//! Whatever the hub waits for outside (git, the disk, another machine), its clients are answered meanwhile.
//!
//! What is slow here waits until the test lets it go on, and the answers come before that.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wheelhouse::api::{Fault, FromHub, KeyInput, Request, Response, TaskRequest, WorkspaceRequest};
use wheelhouse::model::{AgentState, Environment, TaskSpec, WorkspaceKind};

use super::support::clock::{self, wait_for};
use super::support::plots;
use super::support::strace::Traced;
use super::support::visitor::Visitor;
use super::support::world::World;

/// Writes down that it was called, then waits while there is a file of that name.
const STAND_IN: &str = "#!/bin/sh\n\
    echo called >> ROOT/NAME.calls\n\
    while [ -e ROOT/NAME.held ]; do sleep 0.02; done\n\
    exec /usr/bin/NAME \"$@\"\n";

/// Returns a world in which programs of these names wait while they are held.
fn world_with(names: &[&str]) -> World {
    let mut world = World::new();
    let folder = world.path("bin");
    fs::create_dir(&folder).unwrap();
    for name in names {
        let script = STAND_IN.replace("ROOT", world.mark()).replace("NAME", name);
        fs::write(folder.join(name), script).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.set_variable("PATH", &format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display()));
    world
}

fn hold(world: &World, name: &str) {
    let _ = fs::remove_file(world.path(&format!("{name}.calls")));
    File::create(world.path(&format!("{name}.held"))).unwrap();
}

fn let_go(world: &World, name: &str) {
    fs::remove_file(world.path(&format!("{name}.held"))).unwrap();
}

/// Makes a request that waits for what is held, asks for what a person wants to know all the time, and
/// returns once that was answered. The first one is heard before the second, and answered after it.
fn begin(world: &World, slow: Request) -> (Visitor, u64) {
    let mut client = Visitor::greeted(world);
    let slow = client.send(slow);
    let quick = client.send(Request::Status);
    assert_eq!(next_answer(&mut client).0, quick);
    (client, slow)
}

/// Returns which request was answered next, and how.
fn next_answer(client: &mut Visitor) -> (u64, Result<Response, Fault>) {
    loop {
        if let FromHub::Answer { id, outcome } = client.next().expect("an answer") {
            return (id, outcome);
        }
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Returns the variables of whoever asks.
fn environment() -> Environment {
    Environment([("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into())
}

/// Returns a world whose project is a repository, and whose agents get trees of their own.
fn repository(agents: &[&str]) -> World {
    let world = world_with(&["git"]);
    let crew: Vec<(&str, &[&str])> = agents.iter().map(|name| (*name, &["cat"][..])).collect();
    world.write_config(&world.crew(&crew));
    plots::git(&world.project, &["init", "-q", "-b", "main"]);
    plots::git(&world.project, &["add", "."]);
    plots::git(&world.project, &["commit", "-q", "-m", "first"]);
    world.trust();
    world.status();
    world
}

#[test]
fn clients_are_answered_while_git_takes_its_time() {
    let world = repository(&["one", "two"]);
    let (team, agents) = (Some("crew".to_owned()), names(&["one"]));
    let requests = [
        Request::Up { team, environment: environment() },
        Request::Restart { agents, environment: environment(), grace_ms: Some(0) },
        Request::Workspace { ask: WorkspaceRequest::Rescues },
    ];
    for request in requests {
        hold(&world, "git");
        let (mut client, slow) = begin(&world, request);
        let_go(&world, "git");
        let (answered, outcome) = next_answer(&mut client);
        assert_eq!(answered, slow);
        outcome.unwrap();
    }
    assert_eq!(world.agent("one").workspace, WorkspaceKind::Worktree);
}

#[test]
fn an_agent_that_is_stopped_while_its_start_is_prepared_is_not_started() {
    let world = repository(&["one", "two"]);
    world.ok(&["up", "crew"]);
    hold(&world, "git");
    let (agents, environment) = (names(&["one"]), environment());
    let restart = Request::Restart { agents: agents.clone(), environment, grace_ms: Some(0) };
    let (mut client, restart) = begin(&world, restart);
    let stop = client.send(Request::Stop { agents, grace_ms: Some(0) });
    let (answered, outcome) = next_answer(&mut client);
    assert_eq!(answered, stop, "it is stopped before git says anything");
    outcome.unwrap();
    let_go(&world, "git");
    let (answered, outcome) = next_answer(&mut client);
    assert_eq!(answered, restart);
    let fault = outcome.unwrap_err();
    assert_eq!(fault.message, "Agent `one` was stopped while its start was prepared");
    assert_eq!(fault.hint.unwrap(), "Start it with `wheelhouse agent start one`");
    assert_eq!(world.agent("one").state, AgentState::Exited);
    world.ok(&["agent", "start", "one"]);
    assert_ne!(world.agent("one").state, AgentState::Exited);
}

#[test]
fn plans_are_made_in_the_order_in_which_they_were_asked_for() {
    let world = repository(&["one", "two"]);
    hold(&world, "git");
    let (team, environment) = (Some("crew".to_owned()), environment());
    let up = Request::Up { team, environment: environment.clone() };
    let (mut client, up) = begin(&world, up);
    // It joins the team that is only about to begin.
    let add = serde_json::json!({ "name": "three", "cli": "one" });
    let add = Request::Add { agent: serde_json::from_value(add).unwrap(), environment };
    let add = client.send(add);
    let_go(&world, "git");
    let answers = BTreeMap::from([next_answer(&mut client), next_answer(&mut client)]);
    assert!(answers[&up].is_ok() && answers[&add].is_ok(), "{answers:?}");
    assert_eq!(world.agent("three").team, "crew");
}

/// Lets every call to the hub's own files take so long; nothing where that cannot be done.
fn slow_disk(world: &World, agent: &str, time: Duration) -> Option<Traced> {
    let (paths, agent) = (world.paths(), agent.parse().unwrap());
    let with = |path: &Path, end: &str| PathBuf::from(format!("{}{end}", path.display()));
    let mut files = vec![paths.hub_log(), paths.record(), with(&paths.record(), "-wal")];
    for file in [paths.agent_reports(&agent), paths.agent_screen(&agent)] {
        files.extend([with(&file, ".new"), file]);
    }
    files.extend(paths.agent_casts(&agent));
    let calls = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat";
    let slow = format!("inject={calls}:delay_enter={}", time.as_micros());
    let mut arguments = vec!["-qq", "-o", "/dev/null", "-e", &slow];
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    arguments.extend(files.iter().flat_map(|file| ["-P", file.as_str()]));
    Traced::attach(world.players("hub")[0], &arguments)
}

#[test]
fn clients_are_answered_while_the_disk_takes_its_time() {
    const SLOW: Duration = Duration::from_secs(2);
    let script = "while read line; do echo \"PROGRESS: [$line/999] on\"; done";
    let world = World::with_crew(&[("one", &["sh", "-c", script, "ROOT"])]);
    world.ok(&["up", "crew"]);
    let Some(slow) = slow_disk(&world, "one", SLOW) else { return };
    let mut client = Visitor::greeted(&world);
    let spec = TaskSpec { title: "slow".into(), prompt: "Wait.".into(), ..TaskSpec::default() };
    let task = client.send(Request::Task { ask: TaskRequest::Add { specs: vec![spec] } });
    // Recordings are written about once a second, so all of them are within this time.
    let (begun, mut longest, mut count) = (clock::now(), Duration::ZERO, 0);
    while begun.elapsed() < 2 * SLOW {
        let asked = clock::now();
        let line = vec![KeyInput::Text(count.to_string()), KeyInput::Key("enter".parse().unwrap())];
        let keys = Request::Keys { agent: "one".into(), keys: line };
        let (keys, status) = (client.send(keys), client.send(Request::Status));
        let mut missing = BTreeSet::from([keys, status]);
        while !missing.is_empty() {
            let (answered, outcome) = next_answer(&mut client);
            assert!(missing.remove(&answered) || answered == task);
            outcome.unwrap();
        }
        (longest, count) = (longest.max(asked.elapsed()), count + 1);
    }
    println!("{count} answers, the slowest after {longest:?}");
    // Whoever waits for one of those calls waits for as long as it takes.
    assert!(longest < SLOW, "{longest:?}");
    drop(slow);
    world.wait_for_text("one", &format!("[{}/999]", count - 1));
}

#[test]
fn clients_are_answered_while_ssh_hangs() {
    let world = world_with(&["ssh"]);
    let crew = world.crew(&[("one", &["cat"])]).replace("\ncli = ", "\nrunner = \"box\"\ncli = ");
    world.write_config(&format!("[runner.box]\nkind = \"ssh\"\nhost = \"127.0.0.1\"\n{crew}"));
    world.trust();
    world.status();
    hold(&world, "ssh");
    let team = Some("crew".to_owned());
    let (mut client, _) = begin(&world, Request::Up { team, environment: environment() });
    wait_for("a call of ssh", || world.path("ssh.calls").exists());
    assert!(matches!(client.ask(Request::Status), Response::Status(_)));
    let_go(&world, "ssh");
}
