//! An edit of the settings takes effect on agents that run, and a broken one changes nothing.

use std::fs;
use std::sync::Arc;

use wheelhouse::config::Settings;
use wheelhouse::detect::Rules;
use wheelhouse::model::AgentState;

use super::acted::{CLAUDE, Pane, echo};
use super::support::clock::wait_for;
use super::support::world::World;

const REPORTED: &str = "STATUS: DONE — built 6 endpoints, tests pass (23/23)";

/// Shows a line that no rule knows, and then nothing more.
const STILL: &[&str] =
    &["bash", "--norc", "-c", "echo 'Ready when you are, captain'; exec sleep 1000"];

/// Marks that line as a question.
const RULE: &str = "[[cli.still.rules]]\nname = 'captain'\nstate = 'waiting'\nkind = 'question'\n\
                    match = 'when you are, captain'\n";

fn state(world: &World) -> AgentState {
    world.agent("still").state
}

/// Returns a world with an agent whose screen is not understood.
fn world() -> World {
    let world = World::with_crew(&[("still", STILL)]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("still", "captain");
    wait_for("the state to settle", || state(&world) == AgentState::Unknown);
    world
}

fn edit(world: &World, rules: &str) {
    let crew = world.crew(&[("still", STILL)]);
    world.write_config(&format!("{crew}{rules}"));
}

#[test]
fn an_edit_that_is_trusted_takes_effect_by_itself_though_the_pane_is_quiet() {
    let world = world();
    edit(&world, RULE);
    world.trust();
    wait_for("the new rule", || state(&world) == AgentState::Waiting);
    assert!(world.agent("still").rule.ends_with(".captain"));

    edit(&world, "");
    world.trust();
    wait_for("the old rules", || state(&world) == AgentState::Unknown);
}

#[test]
fn the_users_own_file_counts_too_and_may_come_later() {
    let world = world();
    fs::create_dir(world.path("config/wheelhouse")).unwrap();
    let rules = RULE.replace("cli.still", "cli.shell");
    fs::write(world.path("config/wheelhouse/config.toml"), rules).unwrap();
    wait_for("the new rule", || state(&world) == AgentState::Waiting);
}

#[test]
fn a_broken_edit_changes_nothing_and_is_told_everywhere() {
    let world = world();
    edit(&world, RULE);
    world.trust();
    wait_for("the new rule", || state(&world) == AgentState::Waiting);
    edit(&world, "[[cli.still.rules]]\nname = 'x'\nstate = 'idle'\nmatch = '('\n");
    wait_for("the error", || world.status().hub.settings_fault.is_some());
    let doctor = world.run(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    assert!(doctor.out.contains("it uses the previous settings"), "{}", doctor.out);
    for said in [doctor.out, world.ok(&["agent", "explain", "still"]), world.ok(&["status"])] {
        assert!(said.contains("wheelhouse.toml:"), "{said}");
    }
    let said = world.run(&["config", "reload"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("regular expression") && said.err.contains("hint: "), "{said:?}");
    assert_eq!(state(&world), AgentState::Waiting);

    edit(&world, RULE);
    wait_for("the end of the error", || world.status().hub.settings_fault.is_none());
    assert_eq!(state(&world), AgentState::Waiting);
}

#[test]
fn an_edit_that_is_not_trusted_yet_takes_no_rules_away() {
    let world = world();
    edit(&world, RULE);
    world.trust();
    wait_for("the new rule", || state(&world) == AgentState::Waiting);
    edit(&world, "# Thinking about it.\n");
    wait_for("the remark", || world.status().hub.settings_fault.is_some());
    assert!(world.ok(&["doctor"]).contains("not trusted as it is now"));
    assert_eq!(state(&world), AgentState::Waiting);
    world.trust();
    wait_for("the old rules", || state(&world) == AgentState::Unknown);
}

#[test]
fn reload_says_what_changed() {
    let world = world();
    let said = world.ok(&["config", "reload"]);
    assert!(said.contains("The settings have not changed"), "{said}");
    edit(&world, "[pane]\nscrollback = 77\n");
    let said = world.json(&["config", "reload"]);
    assert!(said["warnings"][0].as_str().unwrap().contains("not trusted"), "{said}");
    world.ok(&["down", "--force"]);
    let said = world.ok(&["config", "reload"]);
    assert!(said.contains("No hub runs"), "{said}");
}

#[test]
fn other_rules_take_effect_at_once_and_tell_nothing_twice() {
    let mut pane = Pane::new(&CLAUDE);
    pane.turn("Build it.", &format!("● {REPORTED}"));
    pane.show(&echo("Test it."), "esc to interrupt");
    pane.show("● BUILD: PASS\n\n  More follows.", "esc to interrupt");
    let settings = Settings::built_in();
    let mut manifest = settings.cli("claude").unwrap().manifest.clone();
    let rule = manifest.rules.iter_mut().find(|rule| rule.name == "footer").unwrap();
    rule.state = AgentState::Waiting;
    let rules = Arc::new(Rules::new("claude", &manifest).unwrap());
    pane.detector.set_rules(rules, pane.screen.title(), pane.now);
    pane.wait(1000);
    assert_eq!(pane.detector.shown().state, AgentState::Waiting);
    pane.detector.set_rules(Arc::clone(&CLAUDE), pane.screen.title(), pane.now);
    pane.paint("? for shortcuts");
    pane.wait(3000);
    assert_eq!(pane.raws(), [REPORTED, "BUILD: PASS"]);
}
