//! Dialogs that rules answer: only by a rule, only the very dialog, only once, and on record.

use std::fs;

use serde_json::Value;
use wheelhouse::model::AgentState;

use super::support::clock::wait_for;
use super::support::world::{PROGRAM, World};

const SCRIPT: &str = "speed 0\non prompt\n  approve \"cargo test --lib\" because \"Runs the tests\" \
    else stop\n  run touch tested\n  say \"The first was approved.\"\n  \
    approve \"cargo test; touch stolen\" else stop\n  say \"The second was approved.\"\n";

/// Returns a world with a scripted agent `one` at its prompt, and these rules.
fn scripted(script: &str, rules: &str) -> World {
    let world = World::new();
    fs::write(world.path("agent.sim"), script).unwrap();
    write(&world, rules);
    world.ok(&["up", "crew"]);
    world.ok(&["wait", "--agent", "one", "--for", "idle", "--timeout", "30"]);
    world
}

fn write(world: &World, rules: &str) {
    let script = world.path("agent.sim");
    let program = serde_json::to_string(&[PROGRAM, "sim", script.to_str().unwrap()]).unwrap();
    world.write_config(&format!(
        "[stop]\ngrace_seconds = 1\n[cli.scripted]\nlike = \"sim\"\ncommand = {program}\n\
         [[team.crew.agents]]\nname = \"one\"\ncli = \"scripted\"\n{rules}"
    ));
    world.trust();
}

fn events(world: &World, kind: &str) -> Vec<Value> {
    let said = world.ok(&["events", "--kind", kind, "--json"]);
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn wait_for_dialog(world: &World, text: &str) {
    wait_for(&format!("the dialog about `{text}`"), || {
        world.agent("one").dialog.is_some_and(|dialog| dialog.text.contains(text))
    });
}

#[test]
fn a_dialog_is_answered_by_a_rule_alone_and_that_is_told() {
    let world = scripted(SCRIPT, "");
    world.ok(&["dispatch", "one", "Go."]);
    wait_for_dialog(&world, "cargo test --lib");
    // The rule comes while the dialog is open; what happened before it is over by then.
    assert_eq!(events(&world, "approval."), Vec::<Value>::new());
    write(&world, "[[approve]]\nagent = \"o*\"\ncommand = \"cargo test*\"\n");
    world.ok(&["config", "reload"]);
    wait_for_dialog(&world, "touch stolen");
    assert!(world.read("one").contains("The first was approved."));
    wait_for("what came of it", || events(&world, "approval.accepted").len() == 1);
    let told = events(&world, "approval.decided");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["agent"], "one");
    assert_eq!(told[0]["text"], "`cargo test --lib`, by wheelhouse.toml:9");
    assert_eq!(told[0]["data"]["rules"][0], "wheelhouse.toml:9");
    let dialog = told[0]["data"]["dialog"].as_str().unwrap();
    assert!(dialog.contains("Runs the tests"), "{dialog}");
    // The other is no simple command. It is still there after one that was approved later.
    assert_eq!(world.agent("one").state, AgentState::Waiting);
    assert!(!world.read("one").contains("The second was approved."));
}

#[test]
fn nobody_is_called_to_a_dialog_that_a_rule_answers() {
    let world = scripted(SCRIPT, "[[approve]]\ncommand = \"cargo test*\"\n");
    world.ok(&["dispatch", "one", "Go."]);
    let mut items = Value::Null;
    wait_for("a person is called to the other one", || {
        items = world.json(&["attention"]);
        items[0]["dialog"]["text"].as_str().is_some_and(|text| text.contains("touch stolen"))
    });
    assert_eq!(items.as_array().unwrap().len(), 1, "{items}");
    assert!(items[0]["text"].as_str().unwrap().contains("cargo test; touch stolen"), "{items}");
    assert_eq!(items[0]["dialog"]["options"][0], "Yes");
    assert_eq!(events(&world, "approval.accepted").len(), 1);
    assert_eq!(events(&world, "attention.dialog").len(), 1, "of two dialogs");
}

#[test]
fn what_is_denied_waits_for_a_person_whatever_approves_it() {
    let rules = "[[approve]]\ncommand = \"cargo test*\"\ncompound = true\n[[approve]]\n\
                 command = \"touch*\"\ncompound = true\n[[deny]]\ncommand = \"stolen\"\n";
    let world = scripted(SCRIPT, rules);
    world.ok(&["dispatch", "one", "Go."]);
    wait_for_dialog(&world, "touch stolen");
    wait_for("what came of the first", || events(&world, "approval.accepted").len() == 1);
    // Without the denial both parts are approved, and so it is the denial that held.
    write(&world, rules.split("[[deny]]").next().unwrap());
    world.ok(&["config", "reload"]);
    world.wait_for_text("one", "The second was approved.");
    let told = events(&world, "approval.decided");
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(
        told[1]["data"]["rules"],
        serde_json::json!(["wheelhouse.toml:9", "wheelhouse.toml:12"])
    );
}

#[test]
fn files_are_approved_only_where_the_agent_works() {
    let script = "speed 0\non prompt\n  approve edit src/lib.rs else stop\n  \
        say \"It may edit.\"\n  approve edit out/lib.rs else stop\n  say \"It may edit too much.\"\n";
    let world = scripted(script, "[[approve]]\npath = \"**/lib.rs\"\n");
    fs::create_dir(world.project.join("src")).unwrap();
    std::os::unix::fs::symlink(world.path("home"), world.project.join("out")).unwrap();
    world.ok(&["dispatch", "one", "Go."]);
    wait_for_dialog(&world, "out/lib.rs");
    assert!(world.read("one").contains("It may edit."));
    wait_for("what came of it", || events(&world, "approval.accepted").len() == 1);
    // Once the link leads nowhere else, the same file is approved.
    fs::remove_file(world.project.join("out")).unwrap();
    fs::create_dir(world.project.join("out")).unwrap();
    write(&world, "[[approve]]\npath = \"*/lib.rs\"\n");
    world.ok(&["config", "reload"]);
    world.wait_for_text("one", "It may edit too much.");
}

#[test]
fn what_the_rules_would_do_can_be_tried() {
    let world = World::new();
    write(&world, "[[approve]]\nagent = \"one\"\ncommand = \"cargo test*\"\n");
    let tried =
        |words: &[&str]| world.run(&[&["config", "approval", "--agent", "one"], words].concat());
    let said = tried(&["cargo test --lib"]);
    assert_eq!((said.code, said.out.trim()), (Some(0), "approved once, by wheelhouse.toml:9"));
    let said = tried(&["cargo test && rm -rf /"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.out.starts_with("left to you: wheelhouse.toml:9 is for this command alone"));
    let said = tried(&["--path", "a", "--json"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert_eq!(serde_json::from_str::<Value>(&said.out).unwrap()["approved"], false);
    let said = world.ok(&["config", "check"]);
    assert!(
        said.contains("approves the command `cargo test*`, of agents `one` (wheelhouse.toml:9)")
    );
    world.write_config("[[approve]]\ncomand = \"ls\"\n");
    let said = world.run(&["config", "check"]);
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("wheelhouse.toml:2:1: Unknown key `comand`"), "{said:?}");
    assert!(said.out.contains("Did you mean `command`?"), "{said:?}");
}
