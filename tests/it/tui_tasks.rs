//! Tasks from the dashboard: the real program, a real hub, scripted agents.

use std::fs;

use wheelhouse::model::AgentState;

use crate::support::world::{PROGRAM, World};
use crate::terminal::Terminal;

#[test]
fn a_task_that_is_added_in_the_dashboard_reaches_an_agent() {
    let world = World::new();
    let script = world.path("busy.sim");
    fs::write(&script, "on prompt\n  think 10m\n").unwrap();
    let script = script.display();
    world.write_config(&format!(
        "[cli.ready]\ncommand = ['{PROGRAM}', 'sim', '{script}']\nlike = 'sim'\n\
         [[team.crew.agents]]\nname = 'ready'\ncli = 'ready'\n"
    ));
    world.trust();
    world.ok(&["up", "crew"]);
    world.wait_for_status("it is ready", |status| status.agents[0].state == AgentState::Idle);

    let mut terminal = Terminal::attach(&world, 160, 50);
    terminal.wait_for("1 ○ ready");
    terminal.press(b"T");
    terminal.wait_for("No tasks yet. Press n to add one");
    terminal.press(b"n");
    terminal.wait_for("Add a task");
    terminal.press(b"Login\tMend the login\tre\t");
    terminal.wait_for("Agent  ready");
    terminal.press(b"\r");
    terminal.wait_for("running");
    terminal.press(b"\r");
    terminal.wait_for("Attempt 1 · ready · under way");
    terminal.press(b"\x1b");
    terminal.wait_for("enter show");
    terminal.press(b"q");
    terminal.wait_for("Mend the login");

    let shown = world.json(&["task", "show", "t1"]);
    assert_eq!((&shown["title"], &shown["agent"]), (&"Login".into(), &"ready".into()));
    assert_eq!(shown["attempts"][0]["agent"], "ready");
    terminal.press(b"q");
    terminal.wait_for("Detached. Agents keep running");
    terminal.assert_restored();
}
