//! Prompts and answers from the dashboard: the real program, a real hub, scripted agents.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use wheelhouse::model::AgentState;

use crate::support::world::{PROGRAM, World};
use crate::terminal::Terminal;

/// Asks as soon as it is up, and says what it was told.
const ASKING: &str = "\
at start
  wait 1s
  approve \"make release\" because \"Builds the release\" else stop
  say \"The release is built\"
";

/// Returns a world with one agent that waits for a prompt and one that asks.
fn world() -> World {
    let mut world = World::new();
    world.set_variable("EDITOR", "sed -i s/limit/bound/");
    let script = world.path("asking.sim");
    fs::write(&script, ASKING).unwrap();
    let script = script.display();
    world.write_config(&format!(
        "[cli.ready]\ncommand = ['{PROGRAM}', 'sim']\nlike = 'sim'\n\
         [cli.asking]\ncommand = ['{PROGRAM}', 'sim', '{script}']\nlike = 'sim'\n\
         [[team.crew.agents]]\nname = 'ready'\ncli = 'ready'\n\
         [[team.crew.agents]]\nname = 'asking'\ncli = 'asking'\n"
    ));
    world.trust();
    world.ok(&["up", "crew"]);
    world.wait_for_status("one is ready and one asks", |status| {
        let states: Vec<_> = status.agents.iter().map(|agent| agent.state).collect();
        states == [AgentState::Idle, AgentState::Waiting]
    });
    world
}

#[test]
fn a_prompt_is_worked_on_and_a_dialog_is_answered() {
    let world = world();
    let mut terminal = Terminal::attach(&world, 160, 50);
    terminal.wait_for("1 ○ ready");
    terminal.press(b"1d");
    terminal.wait_for("Dispatch");
    terminal.press(b"Add a limit\x05");
    terminal.wait_for("Add a bound");
    assert!(terminal.screen().alternate_screen(), "the dashboard is back");
    terminal.press(b"\r");
    terminal.wait_for("You want: Add a bound");
    terminal.wait_for("1 ● ready");

    terminal.press(b"a");
    terminal.wait_for("asking · approval");
    terminal.press(b"1");
    terminal.wait_for("Answered asking: Yes");
    terminal.wait_for("The release is built");

    let kept = world.paths().state_dir.join("prompts");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "\"Add a bound\"\n");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    terminal.press(b"q");
    terminal.wait_for("Detached. Agents keep running");
    terminal.assert_restored();
}

#[test]
fn what_is_sent_to_someone_at_a_dialog_waits_and_the_tile_says_so() {
    let world = world();
    let mut terminal = Terminal::attach(&world, 160, 50);
    terminal.wait_for("2 ◆ asking");
    terminal.press(b"b");
    terminal.wait_for("is sent when its dialog is closed");
    terminal.press(b"\x1b2Hello\r");
    terminal.wait_for("You want: Hello");
    terminal.wait_for("queued");
    terminal.press(b"2\x1b");
    terminal.wait_for("enter type");
}
