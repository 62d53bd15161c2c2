//! A hub whose disk takes nothing more: it says so, begins nothing, ends what it is told to, and heals.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use wheelhouse::store::Journal;

use super::support::clock::wait_for;
use super::support::process::{identify, is_alive};
use super::support::world::{PROGRAM, World};

const SHELL: &[&str] = &["sh", "-c", "echo up; while read line; do echo \"<$line>\"; done", "ROOT"];

#[test]
fn a_full_disk_is_refused_loudly_and_heals_by_itself() {
    let world = World::with_crew(&[("red", SHELL), ("blue", SHELL)]);
    world.ok(&["agent", "start", "red"]);
    world.wait_for_text("red", "up");
    let red = identify(world.agent("red").pid.unwrap()).unwrap();
    let hub = world.status().hub.pid;
    choke(hub, true);

    // The first that comes finds it out.
    let said = world.run(&["agent", "start", "blue"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("could not be recorded"), "{}", said.err);
    let status = world.status();
    let trouble = status.hub.trouble.unwrap();
    assert!(trouble.starts_with("The record cannot be written: "), "{trouble}");
    for words in [
        &["agent", "start", "blue"][..],
        &["agent", "restart", "red"],
        &["up", "crew"],
        &["agent", "add", "three", "--cli", "red"],
        &["agent", "remove", "blue"],
        &["dispatch", "red", "surprise", "--anyway"],
    ] {
        let said = world.run(words);
        assert_eq!(said.code, Some(1), "{words:?}: {said:?}");
        assert!(said.err.contains(&trouble) && said.err.contains("hint: Free some"), "{said:?}");
    }
    assert!(world.ok(&["status"]).contains(&trouble));
    let said = world.run(&["doctor"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.out.contains(&trouble), "{}", said.out);

    world.ok(&["agent", "keys", "red", "--text", "still here", "enter"]);
    world.wait_for_text("red", "<still here>");
    assert_eq!(world.players("keeper").len(), 1, "nothing was begun");
    assert_eq!(world.ok(&["agent", "stop", "red"]), "Stopped red\n");
    assert!(!is_alive(red));

    choke(hub, false);
    world.wait_for_status("a record that is written", |status| status.hub.trouble.is_none());
    assert!(world.players("keeper").is_empty(), "and nothing happens later");
    assert_eq!(world.agent("red").ending.as_deref(), Some("stopped"));
    world.ok(&["agent", "start", "blue"]);
    world.wait_for_text("blue", "up");
    assert_eq!(world.agent("blue").run, 1, "nothing is left of what was refused");
    assert_eq!(world.seat("red")["phase"]["ended"], "stopped");
    Journal::open(&world.paths().record()).unwrap().verify().unwrap();
}

#[test]
fn a_prompt_that_was_refused_for_want_of_room_is_not_typed_later() {
    let world = World::with_crew(&[("one", SHELL)]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "up");
    wait_for("a screen that no rule knows", || world.agent("one").state.to_string() == "unknown");
    let hub = world.status().hub.pid;
    choke(hub, true);
    let said = world.run(&["dispatch", "one", "surprise", "--anyway"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("The record cannot be written: "), "{}", said.err);
    choke(hub, false);
    world.wait_for_status("a record that is written", |status| status.hub.trouble.is_none());
    assert!(world.agent("one").receipt.is_none(), "nothing is left of it");
    let said = world.run(&["dispatch", "one", "expected", "--anyway", "--wait"]);
    world.wait_for_text("one", "<expected>");
    assert!(!world.read("one").contains("surprise"), "{said:?}");
    let row = ("dispatch".to_owned(), "r1".to_owned());
    assert_eq!(world.rows()[&row]["text"], "expected");
    assert!(!format!("{:?}", world.rows()).contains("surprise"));
}

#[test]
fn everything_can_be_ended_on_a_full_disk() {
    let world = World::with_crew(&[("one", SHELL), ("two", SHELL)]);
    world.ok(&["up", "crew"]);
    choke(world.status().hub.pid, true);
    let said = world.ok(&["down", "--force"]);
    assert_eq!(said, "Stopped one, two\n");
    wait_for("an empty world", || world.alive().is_empty());
    // What could not be written is found out: nothing that is gone is believed to run.
    for agent in world.status().agents {
        assert_eq!((agent.state.to_string().as_str(), agent.pid), ("exited", None), "{agent:?}");
    }
}

#[test]
fn no_gate_runs_and_no_task_is_shown_done_before_that_can_be_put_on_record() {
    let world = World::new();
    let script = world.path("red.sim");
    let steps = "on prompt\n  run touch begun\n  await go 60s\n  status done \"3 tests pass\"\n";
    std::fs::write(&script, steps).unwrap();
    let command = serde_json::to_string(&[PROGRAM, "sim", script.to_str().unwrap()]).unwrap();
    world.write_config(&format!(
        "[cli.red]\nlike = \"sim\"\ncommand = {command}\n[cli.blue]\nlike = \"sim\"\ncommand = {command}\n\
         [[team.crew.agents]]\nname = \"red\"\ncli = \"red\"\ncwd = \"red\"\n\
         [[team.crew.agents]]\nname = \"blue\"\ncli = \"blue\"\ncwd = \"blue\"\n\
         [[team.crew.agents]]\nname = \"green\"\ncli = \"red\"\n"
    ));
    let place = |name: &str| world.path("project").join(name);
    for agent in ["red", "blue"] {
        std::fs::create_dir(place(agent)).unwrap();
    }
    world.trust();
    world.ok(&["agent", "start", "red", "blue"]);
    for agent in ["red", "blue"] {
        world.ok(&["wait", "--agent", agent, "--for", "idle", "--timeout", "60"]);
        let words = ["task", "add", "--title", "x", "--prompt", "y", "--agent", agent];
        let gate = if agent == "red" { &["--gate", "touch checked"][..] } else { &[] };
        world.ok(&[&words[..], gate].concat());
        wait_for("its work", || place(agent).join("begun").exists());
    }
    let hub = world.status().hub.pid;
    choke(hub, true);
    // Something has to find it out.
    assert_eq!(world.run(&["agent", "start", "green"]).code, Some(1));
    for agent in ["red", "blue"] {
        std::fs::write(place(agent).join("go"), "1").unwrap();
        world.wait_for_text(agent, "STATUS");
    }
    let tasks = |state: &str| {
        let tasks = world.status().tasks;
        tasks.iter().filter(|task| task.state.to_string() == state).count()
    };
    wait_for("2 claims", || tasks("claimed") == 2);
    assert!(!place("red/checked").exists(), "no gate has run");
    assert_eq!(world.json(&["task", "show", "t2"])["state"], "claimed");
    let late = world.run(&["wait", "--task", "t2", "--for", "done", "--timeout", "1"]);
    assert_eq!(late.code, Some(5), "{late:?}");
    choke(hub, false);
    for task in ["t1", "t2"] {
        world.ok(&["wait", "--task", task, "--for", "done", "--timeout", "60"]);
        let row = ("task".to_owned(), task.to_owned());
        assert_eq!(world.rows()[&row]["state"], "done");
    }
    assert!(place("red/checked").exists());
    world.ok(&["down", "--force"]);
}

/// Lets no file of a process grow, or lets them grow again.
fn choke(pid: u32, is_choked: bool) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let limit = Rlimit { current: is_choked.then_some(1), maximum: None };
    prlimit(pid, Resource::Fsize, limit).unwrap();
}
