//! How runs begin: with a first prompt, and with the conversation that came before.

use rustix::process::Signal;
use wheelhouse::model::AgentState;

use super::support::clock::wait_for;
use super::support::composer::Composers;
use super::support::process;
use super::support::world::World;

/// Returns the id under which the latest run was started, and the flag before it.
fn latest(composers: &Composers) -> (String, String) {
    let started = composers.started();
    let [flag, id] = started.last().unwrap().as_slice() else { panic!("{started:?}") };
    (flag.clone(), id.clone())
}

fn kill_agent(world: &World) {
    process::kill(world.agent("one").pid.unwrap(), Signal::KILL);
    wait_for("the agent's end", || world.agent("one").pid.is_none());
}

#[test]
fn a_conversation_is_taken_up_again_whatever_ended_it() {
    let composers = Composers::start(&["one"], &[]);
    let world = &composers.world;
    let (flag, id) = latest(&composers);
    assert_eq!((flag.as_str(), id.len()), ("--session-id", 36), "{id}");

    kill_agent(world);
    world.ok(&["agent", "resume", "one"]);
    composers.wait_until_up("one");
    assert_eq!(latest(&composers), ("--resume".to_owned(), id.clone()));

    // A running one is restarted; its process is gone by then.
    let before = world.agent("one").pid.unwrap();
    world.ok(&["agent", "restart", "one", "--resume"]);
    composers.wait_until_up("one");
    assert_eq!(process::identify(before), None);
    assert_eq!(latest(&composers), ("--resume".to_owned(), id.clone()));

    // The record knows it after everything has gone down.
    world.ok(&["down", "--force"]);
    world.ok(&["agent", "resume", "one"]);
    composers.wait_until_up("one");
    assert_eq!(latest(&composers), ("--resume".to_owned(), id.clone()));

    world.ok(&["agent", "restart", "one"]);
    composers.wait_until_up("one");
    let (flag, other) = latest(&composers);
    assert_eq!(flag, "--session-id");
    assert_ne!(other, id);
}

#[test]
fn a_conversation_that_the_cli_does_not_know_is_told_and_kept() {
    let composers = Composers::start(&["one"], &[]);
    let world = &composers.world;
    let (_, id) = latest(&composers);
    composers.hold("forgetful");
    kill_agent(world);
    world.run(&["agent", "resume", "one"]);
    wait_for("why it ended", || {
        let agent = world.agent("one");
        agent.state == AgentState::Exited
            && agent.note.is_some_and(|note| note.contains("did not resume its conversation"))
    });
    composers.let_go("forgetful");
    world.ok(&["agent", "resume", "one"]);
    composers.wait_until_up("one");
    assert_eq!(latest(&composers), ("--resume".to_owned(), id));
}

#[test]
fn what_cannot_be_taken_up_is_refused_with_what_to_type() {
    let world = World::with_crew(&[("one", &["sh", "-c", "exec sleep 1000"])]);
    world.ok(&["up", "crew"]);
    let pid = world.agent("one").pid;
    let said = world.run(&["agent", "resume", "one"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("cannot resume a conversation"), "{said:?}");
    assert!(said.err.contains("wheelhouse agent restart one"), "{said:?}");
    assert_eq!(world.agent("one").pid, pid, "what runs goes on");
    let composers = Composers::prepare(&["solo"], &[], "");
    let said = composers.world.run(&["agent", "resume", "solo"]);
    assert!(said.err.contains("Agent `solo` has no conversation to resume"), "{said:?}");
}

#[test]
fn who_cannot_take_up_a_conversation_is_told_what_the_record_knows() {
    let composers = Composers::start(&["one"], &[]);
    let world = &composers.world;
    let (_, id) = latest(&composers);
    std::fs::create_dir_all(world.project.join("src")).unwrap();
    std::fs::write(world.project.join("src/lamp.rs"), "").unwrap();
    let git = std::process::Command::new("git").arg("init").current_dir(&world.project).output();
    assert!(git.unwrap().status.success());
    world.ok(&["dispatch", "one", "Mend the lamp", "--wait", "--timeout", "35"]);

    // One that can does.
    kill_agent(world);
    world.ok(&["agent", "resume", "one", "--brief"]);
    composers.wait_until_up("one");
    assert_eq!(latest(&composers), ("--resume".to_owned(), id.clone()));
    assert_eq!(composers.submitted().len(), 1, "it remembers by itself");

    composers.hold("forgetful");
    kill_agent(world);
    world.run(&["agent", "resume", "one"]);
    let offer = || world.json(&["attention"]).to_string();
    wait_for("the offer", || offer().contains("wheelhouse agent resume one --brief"));
    let status = world.seat("one");
    assert_eq!(status["member"]["conversation"], id, "kept until there is another");
    composers.let_go("forgetful");
    world.ok(&["agent", "resume", "one", "--brief"]);
    composers.wait_until_up("one");
    let (flag, other) = latest(&composers);
    assert_eq!(flag, "--session-id");
    wait_for("the brief", || composers.submitted().len() == 2);
    let brief = composers.submitted().remove(1);
    for part in ["Mend the lamp", "src/lamp.rs", "your memory of it was cut", "tag is "] {
        assert!(brief.contains(part), "{part} in {brief}");
    }
    assert_eq!(world.seat("one")["member"]["conversation"], other);
    assert!(!offer().contains("--brief"));
}

#[test]
fn a_conversation_goes_on_where_it_was_held_though_there_is_a_commit_by_now() {
    let composers = Composers::start(&["one"], &[]);
    let world = &composers.world;
    let (_, id) = latest(&composers);
    for words in [&["init", "-q"][..], &["add", "--all"], &["commit", "-q", "-m", "first"]] {
        super::support::plots::git(&world.project, words);
    }
    kill_agent(world);
    world.ok(&["agent", "resume", "one"]);
    composers.wait_until_up("one");
    assert_eq!(latest(&composers), ("--resume".to_owned(), id));
    assert_eq!(world.agent("one").cwd, world.project);
    // A new one begins where everybody does.
    world.ok(&["agent", "stop", "one"]);
    world.ok(&["agent", "start", "one"]);
    assert_eq!(world.agent("one").workspace, wheelhouse::model::WorkspaceKind::Worktree);
}

#[test]
fn a_new_conversation_counts_only_once_its_agent_has_come_up() {
    let composers = Composers::start(&["one"], &[]);
    let world = &composers.world;
    let (_, id) = latest(&composers);
    composers.hold("slow");
    world.ok(&["agent", "restart", "one"]);
    world.wait_for_text("one", "Loading");
    let pid = world.agent("one").pid.unwrap();
    process::kill(pid, Signal::KILL);
    wait_for("the agent's end", || world.agent("one").pid.is_none());
    assert_eq!(world.seat("one")["member"]["conversation"], id);
}

#[test]
fn a_team_tells_its_agents_what_to_do_once_per_run() {
    let composers = Composers::prepare(&["one"], &["works"], "prompt = \"Count, please\"");
    composers.up(&["one"]);
    let world = &composers.world;
    assert_eq!(world.agent("one").queued, 1, "it waits until the agent is ready");
    let hub = world.running_status().unwrap().hub.pid;
    process::kill(hub, Signal::KILL);
    world.wait_for_status("another hub", |status| status.hub.pid != hub);
    composers.let_go("works");
    wait_for("the first prompt", || composers.submitted().len() == 1);
    let first = composers.submitted().remove(0);
    assert!(first.starts_with("Count, please\n\nReport in single lines"), "{first}");

    let next = |times: usize| {
        // Whatever else is on its way comes before this one.
        let said = world.run(&["dispatch", "one", "next", "--wait", "--timeout", "35"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let all = composers.submitted();
        let firsts = all.iter().filter(|text| text.starts_with("Count")).count();
        assert_eq!(firsts, times, "{all:?}");
    };
    world.ok(&["up", "crew"]);
    next(1);
    world.ok(&["agent", "resume", "one"]);
    composers.wait_until_up("one");
    next(1);
    world.ok(&["agent", "restart", "one"]);
    composers.wait_until_up("one");
    next(2);
    let tag = |text: &String| text.split("tag is ").nth(1).map(|rest| rest[..4].to_owned());
    let tags: Vec<String> = composers.submitted().iter().filter_map(tag).collect();
    assert_ne!(tags[0], tags[1]);
}

#[test]
fn a_template_is_filled_in_and_sent() {
    let lines = "template = \"worker\"\nvars = { task = \"Mend the lamp\" }";
    let composers = Composers::prepare(&["one"], &[], lines);
    composers.up(&["one"]);
    let world = &composers.world;
    wait_for("the first prompt", || composers.submitted().len() == 1);
    let send = ["dispatch", "one", "--template", "worker", "--wait", "--timeout", "35"];
    world.ok(&[&send[..], &["--var", "task=Paint the door"]].concat());
    let all = composers.submitted();
    assert!(all[0].contains("Mend the lamp") && all[1].contains("Paint the door"), "{all:?}");
    assert!(all.iter().all(|text| text.contains("the tag is ")), "{all:?}");
    let said = world.run(&[&send[..], &["--var", "taks=Paint"]].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("has no variable `taks`"), "{said:?}");
    let said = world.run(&["dispatch", "one", "--template", "nothing"]);
    assert!(said.err.contains("Unknown template `nothing`"), "{said:?}");
}
