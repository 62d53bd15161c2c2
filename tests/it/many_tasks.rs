//! A project of many tasks: what has ended leaves the hub's memory, and the record tells of it on.

use wheelhouse::api::{Request, Response, TaskRequest};
use wheelhouse::client::Connection;
use wheelhouse::model::TaskSpec;
use wheelhouse::store::Journal;

use super::support::world::World;

fn ask(connection: &mut Connection, ask: TaskRequest) {
    connection.ask(Request::Task { ask }).unwrap();
}

fn list(connection: &mut Connection) -> Vec<String> {
    let answer = connection.ask(Request::Task { ask: TaskRequest::List }).unwrap();
    let Response::Tasks { tasks } = answer else { panic!("{answer:?}") };
    tasks.into_iter().map(|task| task.id).collect()
}

/// Adds tasks and cancels each.
fn pass(connection: &mut Connection, count: usize, prompt: &str) {
    let spec = TaskSpec { title: "w".into(), prompt: prompt.into(), ..TaskSpec::default() };
    ask(connection, TaskRequest::Add { specs: vec![spec; count] });
    let tasks = list(connection);
    for task in &tasks[tasks.len() - count..] {
        ask(connection, TaskRequest::Cancel { task: task.clone() });
    }
}

#[test]
fn what_ended_long_ago_is_shown_listed_waited_for_needed_and_retried() {
    let world = World::new();
    let add = ["task", "add", "--title", "first", "--prompt", "do it"];
    assert_eq!(world.json(&add)["id"], "t1");
    world.json(&[&add[..], &["--needs", "t1"]].concat());
    world.ok(&["task", "cancel", "t1"]);
    world.ok(&["task", "cancel", "t2"]);
    let mut connection = world.connect().unwrap();
    pass(&mut connection, 230, "do it");
    for _hub in 0..2 {
        let listed = world.json(&["task", "list"]);
        assert_eq!(listed.as_array().unwrap().len(), 200, "the newest");
        assert_ne!(listed[0]["id"], "t1");
        let all = world.json(&["task", "list", "--all"]);
        let ids: Vec<String> =
            all.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().into()).collect();
        assert_eq!(ids, (1..=232).map(|id| format!("t{id}")).collect::<Vec<_>>());
        let shown = world.json(&["task", "show", "t1"]);
        assert_eq!((&shown["title"], &shown["state"]), (&"first".into(), &"cancelled".into()));
        world.ok(&["wait", "--task", "t1", "--for", "cancelled"]);
        assert_eq!(world.run(&["wait", "--task", "t1", "--for", "done"]).code, Some(3));
        let said = world.run(&["task", "cancel", "t1"]);
        assert!(said.err.contains("Task `t1` is cancelled"), "{said:?}");
        let said = world.run(&["task", "show", "t999"]);
        assert!(said.err.contains("There is no task `t999`"), "{said:?}");
        world.ok(&["down", "--force"]);
    }
    let needy = world.json(&[&add[..], &["--needs", "t1"]].concat());
    let needy = world.json(&["task", "show", needy["id"].as_str().unwrap()]);
    assert_eq!(needy["note"], "needs t1, which is cancelled");
    let ids = list(&mut world.connect().unwrap());
    assert_eq!(ids[0], "t1", "it is back for as long as it is needed");
    world.ok(&["task", "retry", "t2"]);
    assert_eq!(world.json(&["task", "show", "t2"])["state"], "pending");
    assert!(world.json(&["attention"]).as_array().unwrap().iter().all(|one| one["task"] != "t1"));
    assert!(world.ok(&["doctor"]).contains("whole, "));
    Journal::open(&world.paths().record()).unwrap().verify().unwrap();
    world.ok(&["down", "--force"]);
}

#[test]
fn what_was_cut_off_is_told_as_that_and_the_rest_is_whole() {
    let world = World::new();
    world.write_config("[record]\nmegabytes = 1\n");
    world.trust();
    world.ok(&["task", "add", "--title", "first", "--prompt", "do it"]);
    world.ok(&["task", "cancel", "t1"]);
    let mut connection = world.connect().unwrap();
    let prompt = "p".repeat(4000);
    let is_there = || world.run(&["task", "show", "t1"]).code == Some(0);
    let mut rounds = 0;
    while is_there() {
        pass(&mut connection, 100, &prompt);
        rounds += 1;
        assert!(rounds < 30, "nothing is cut off");
    }
    let said = world.run(&["task", "show", "t1"]);
    assert!(said.err.contains("Task `t1` is no longer kept"), "{said:?}");
    assert!(said.err.contains("hint: ") && said.err.contains("[record]"), "{said:?}");
    let said = world.run(&["task", "add", "--title", "x", "--prompt", "y", "--needs", "t1"]);
    assert!(said.err.contains("Task `t1` is no longer kept"), "{said:?}");
    for command in [&["history"][..], &["events"], &["task", "list", "--all"]] {
        assert!(world.ok(command).contains("no longer kept"), "{command:?}");
    }
    assert!(world.json(&["history"])["cut_off"]["entry"].as_u64().unwrap() > 1);
    world.ok(&["history", "all"]);
    assert!(world.ok(&["doctor"]).contains(", cut off before "));
    let before = world.json(&["task", "list"]);
    world.ok(&["down", "--force"]);
    assert_eq!(world.json(&["task", "list"]), before, "the next hub begins with the same");
    Journal::open(&world.paths().record()).unwrap().verify().unwrap();
    world.ok(&["down", "--force"]);
}
