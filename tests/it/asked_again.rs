//! A request whose answer was lost is made again under the same key: it is done once.

use std::collections::BTreeMap;

use rustix::process::Signal;
use wheelhouse::api::{NewAgent, Request, Response, TaskRequest, WantedPosting};
use wheelhouse::model::{Environment, TaskSpec};

use super::support::clock::wait_for;
use super::support::process::{self, identify};
use super::support::visitor::Visitor;
use super::support::world::World;

const SHELL: &[&str] = &["sh", "-c", "echo up; while read line; do echo \"<$line>\"; done", "ROOT"];

fn task(title: &str) -> Request {
    let spec = TaskSpec { title: title.into(), prompt: "y".into(), ..TaskSpec::default() };
    Request::Task { ask: TaskRequest::Add { specs: vec![spec] } }
}

fn added(response: Response) -> String {
    let Response::Done(done) = response else { panic!("{response:?}") };
    done.tasks[0].id.to_string()
}

/// Kills the hub once its record says so, and before anyone has read an answer.
fn kill_hub_once(world: &World, change: impl Fn() -> bool) {
    let hub = world.status().hub.pid;
    wait_for("a change of the record", || {
        process::kill(hub, Signal::STOP);
        let is_changed = change();
        process::kill(hub, if is_changed { Signal::KILL } else { Signal::CONT });
        is_changed
    });
    wait_for("the end of the hub", || identify(hub).is_none());
    world.wait_for_status("another hub", |status| status.hub.pid != hub);
}

#[test]
fn a_task_whose_answer_died_with_the_hub_is_there_once() {
    let world = World::with_crew(&[("red", SHELL)]);
    world.ok(&["agent", "start", "red"]);
    let mut visitor = Visitor::greeted(&world);
    visitor.send_under(Some("k-1"), task("x"));
    let is_there = || world.rows().contains_key(&("task".to_owned(), "t1".to_owned()));
    kill_hub_once(&world, is_there);
    drop(visitor);
    let mut next = Visitor::greeted(&world);
    assert_eq!(added(next.answer_under(Some("k-1"), task("x")).unwrap()), "t1");
    assert_eq!(world.status().tasks.len(), 1);
    let other = next.answer_under(Some("k-1"), task("other")).unwrap_err();
    assert_eq!(other.message, "The key `k-1` was used for another request");
    assert!(other.hint.unwrap().starts_with("Use a new key"));
    assert_eq!(added(next.answer_under(Some("k-2"), task("x")).unwrap()), "t2");
    let bad = next.answer_under(Some("two words"), task("x")).unwrap_err();
    assert!(bad.message.contains("`two words` is no key"), "{bad:?}");
    // An agent asks under keys of its own.
    let mut red = Visitor::speaking(&world, "red");
    let refused = red.answer_under(Some("k-1"), task("x")).unwrap_err();
    assert!(refused.message.contains("is in no playbook run"), "{refused:?}");
}

#[test]
fn an_agent_whose_answer_died_with_the_hub_is_added_once() {
    let world = World::with_crew(&[("red", SHELL)]);
    world.ok(&["agent", "start", "red"]);
    let none = || Environment(BTreeMap::new());
    let agent = NewAgent {
        name: "extra".to_owned(),
        cli: "red".to_owned(),
        role: wheelhouse::model::Role::Worker,
        team: None,
        cwd: None,
        env: none(),
        command: Vec::new(),
        posting: WantedPosting::default(),
    };
    let add = || Request::Add { agent: agent.clone(), environment: none() };
    let mut visitor = Visitor::greeted(&world);
    visitor.send_under(Some("k"), add());
    kill_hub_once(&world, || world.rows().contains_key(&("seat".to_owned(), "extra".to_owned())));
    let mut next = Visitor::greeted(&world);
    let again = next.answer_under(Some("k"), add());
    // The hub may have died before it started the agent: then there is something left to be done.
    match again {
        Ok(Response::Done(done)) => assert_eq!(done.started.len(), 1, "{done:?}"),
        other => assert!(format!("{other:?}").contains("extra"), "{other:?}"),
    }
    assert_eq!(world.status().agents.len(), 2);
}

#[test]
fn a_script_that_calls_again_with_its_key_adds_and_begins_nothing_twice() {
    let world = World::with_crew(&[("red", SHELL)]);
    world.ok(&["agent", "start", "red"]);
    world.wait_for_text("red", "up");
    let add = ["task", "add", "--title", "x", "--prompt", "y", "--key", "job-17"];
    let first = world.json(&add);
    assert_eq!(world.json(&add)["id"], first["id"]);
    let other = ["task", "add", "--title", "x", "--prompt", "z", "--key", "job-17"];
    let other = world.run(&other);
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.err.contains("The key `job-17` was used for another request"), "{}", other.err);
    let bad = world.run(&[&add[..7], &["two words"]].concat());
    assert_eq!(bad.code, Some(2), "{bad:?}");
    assert!(bad.err.contains("use up to 128 letters, digits"), "{}", bad.err);
    assert_eq!(world.status().tasks.len(), 1);

    let send = ["dispatch", "red", "hello", "--anyway", "--key", "any words at all"];
    let receipt = world.json(&send)["receipt"].clone();
    assert_eq!(world.json(&send)["receipt"], receipt);

    let run = ["run", "feature-build", "--with", "sim", "--headless", "--keep", "--timeout", "1"];
    let run = [&run[..], &["--key", "night-1", "--var", "feature=x"]].concat();
    for _ in 0..2 {
        let said = world.run(&run);
        assert_eq!(world.status().runs.len(), 1, "{said:?}");
    }
    world.ok(&["down", "--force"]);
}
