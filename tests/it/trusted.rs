//! A project's own file runs nothing before a person has trusted exactly what it says.

use std::fs;

use super::support::clock::wait_for;
use super::support::world::{Said, World};

const TOUCH: &[&str] = &["sh", "-c", "echo ran >> ROOT/ran; exec sleep 1000"];

#[test]
fn an_untrusted_file_runs_nothing() {
    let world = World::new();
    world.write_config(&world.crew(&[("toucher", TOUCH)]));
    let looks: [&[&str]; 7] = [
        &[],
        &["status"],
        &["doctor"],
        &["config", "check"],
        &["config", "show"],
        &["agent", "list"],
        &["config", "trust"],
    ];
    for words in looks {
        world.run(words);
    }
    for words in [&["up"][..], &["up", "crew"], &["agent", "start", "toucher"]] {
        let said = world.run(words);
        assert_eq!(said.code, Some(1), "{words:?}: {said:?}");
        assert!(said.err.contains("hint: "), "{said:?}");
    }
    assert_refused(&world.run(&["up", "crew"]));
    assert_eq!(runs(&world), 0);

    world.trust();
    world.ok(&["up", "crew"]);
    wait_for("the command", || runs(&world) == 1);
}

#[test]
fn an_edit_asks_again_and_the_old_words_do_not_count() {
    let world = World::with_crew(&[("one", TOUCH)]);
    let first = world.crew(&[("one", TOUCH)]);
    world.ok(&["up", "crew"]);
    wait_for("the command", || runs(&world) == 1);

    world.write_config(&format!("{first}# edited\n"));
    assert_refused(&world.run(&["up", "crew"]));
    let said = world.run(&["agent", "restart", "one"]);
    assert_refused(&said);
    assert!(world.agent("one").pid.is_some(), "what runs goes on");
    world.ok(&["agent", "stop", "one"]);
    assert_refused(&world.run(&["agent", "start", "one"]));
    assert_eq!(runs(&world), 1);

    world.write_config(&first);
    world.ok(&["agent", "start", "one"]);
    wait_for("the command", || runs(&world) == 2);
}

#[test]
fn a_project_cannot_bring_its_own_trust() {
    let mut world = World::with_crew(&[("one", TOUCH)]);
    let record = fs::read(world.paths().trust_file).unwrap();
    fs::create_dir_all(world.project.join("state/wheelhouse")).unwrap();
    fs::write(world.project.join("state/wheelhouse/trust.json"), record).unwrap();
    let inside = world.project.join("state");
    world.set_variable("XDG_STATE_HOME", inside.to_str().unwrap());
    assert_refused(&world.run(&["up", "crew"]));
    let said = world.run(&["config", "trust", "--yes"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("could then trust itself"), "{said:?}");
    assert_eq!(runs(&world), 0);
}

#[test]
fn trust_is_for_one_file_in_one_place() {
    let world = World::with_crew(&[("one", TOUCH)]);
    let other = world.path("other");
    fs::create_dir(&other).unwrap();
    fs::copy(world.project.join("wheelhouse.toml"), other.join("wheelhouse.toml")).unwrap();
    let mut command = std::process::Command::new(super::support::world::PROGRAM);
    command.args(["--project", other.to_str().unwrap(), "up", "crew"]).env_clear();
    let variables = world.command(&[]);
    for (name, value) in variables.get_envs() {
        command.env(name, value.unwrap());
    }
    assert_refused(&super::support::world::run(command).unwrap());
    assert_eq!(runs(&world), 0);
}

fn assert_refused(said: &Said) {
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("not trusted as it is now"), "{said:?}");
    assert!(said.err.contains("trust it with `wheelhouse config trust`"), "{said:?}");
}

fn runs(world: &World) -> usize {
    fs::read_to_string(world.path("ran")).unwrap_or_default().lines().count()
}
