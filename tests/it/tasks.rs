//! Tasks as a person and a script see them, through the real hub.

use serde_json::Value;

use super::support::world::World;

fn add(world: &World, arguments: &[&str]) -> Value {
    let fixed = ["task", "add", "--title", "work", "--prompt", "do it"];
    world.json(&[&fixed, arguments].concat())
}

#[test]
fn a_task_is_added_listed_shown_and_cancelled() {
    let world = World::new();
    let task = add(&world, &["--gate", "file:out.txt", "--attempts", "2"]);
    assert_eq!((&task["id"], &task["title"]), (&"t1".into(), &"work".into()));
    let second = add(&world, &["--needs", "t1"]);
    assert_eq!((&second["id"], &second["state"]), (&"t2".into(), &"pending".into()));
    add(&world, &["--needs", "t1,t2"]);
    let listed = world.json(&["task", "list"]);
    assert_eq!(listed[2]["needs"], serde_json::json!(["t1", "t2"]));
    for list in ["list", "board"] {
        assert!(
            world.ok(&["task", list]).contains("  needs t1, t2\n"),
            "what it waits for is told"
        );
    }
    let status = world.json(&["status"]);
    assert_eq!(
        (&status["tasks"][0]["id"], &status["tasks"][0]["attempt"]),
        (&"t1".into(), &0.into())
    );
    let shown = world.json(&["task", "show", "t1"]);
    assert_eq!((&shown["gates"][0], &shown["attempts_max"]), (&"file:out.txt".into(), &2.into()));
    assert!(task["since"].as_str().unwrap().ends_with('Z'), "in the form of RFC 3339: {task}");
    assert!(world.ok(&["task", "cancel", "t1"]).contains("t1 is cancelled"));
    let late = world.run(&["wait", "--task", "t1", "--for", "done"]);
    assert_eq!(late.code, Some(3), "{late:?}");
    let never = world.run(&["wait", "--task", "t2", "--timeout", "1"]);
    assert_eq!(never.code, Some(5), "{never:?}");
    world.ok(&["down", "--force"]);
}

#[test]
fn a_task_that_nobody_can_take_waits_for_a_person_until_that_is_resolved() {
    let world = World::new();
    add(&world, &["--requires", "rust"]);
    let items = world.json(&["attention"]);
    assert_eq!((&items[0]["kind"], &items[0]["task"]), (&"unfit".into(), &"t1".into()));
    assert_eq!(items[0]["read"], false);
    world.ok(&["attention", "--read"]);
    world.ok(&["down", "--force"]);
    let items = world.json(&["attention"]);
    assert_eq!(items[0]["read"], true, "it is still read for the next hub");
    let id = items[0]["id"].as_str().unwrap();
    assert_eq!(world.json(&["attention", "--resolve", id]), Value::Array(Vec::new()));
    world.ok(&["down", "--force"]);
}

#[test]
fn what_cannot_be_is_refused_with_what_to_type_next() {
    let world = World::new();
    let fixed = ["task", "add", "--title", "work", "--prompt", "do it"];
    for (arguments, words) in [
        (&["--needs", "t9"][..], "There is no task `t9`"),
        (&["--agent", "nobody"], "There is no agent `nobody`"),
        (&["--attempts", "0"], "1 to 20 attempts"),
        (&["--gate", " "], "is not a gate"),
    ] {
        let said = world.run(&[&fixed, arguments].concat());
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains(words) && said.err.contains("hint: "), "{said:?}");
    }
    add(&world, &[]);
    world.ok(&["task", "cancel", "t1"]);
    let said = world.run(&["task", "cancel", "t1"]);
    assert!(said.err.contains("Retry it with `wheelhouse task retry t1`"), "{said:?}");
    assert!(world.ok(&["events", "--task", "t9"]).starts_with("No entry matches"));
    assert_eq!(world.ok(&["events", "--task", "t9", "--json"]), "");
    for verb in ["show", "cancel", "retry"] {
        let said = world.run(&["task", verb, "t\u{1b}[31m"]);
        assert!(said.err.contains("There is no task") && !said.err.contains('\u{1b}'), "{said:?}");
    }
    world.ok(&["down", "--force"]);
}
