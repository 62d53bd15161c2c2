//! Each terminal has the size of what shows it, however its agent was started.

use wheelhouse::api::Request;
use wheelhouse::model::{Environment, Size};

use super::support::visitor::Visitor;
use super::support::world::World;
use super::terminal::Terminal;

/// Prints the size of its terminal, and again whenever that changes.
const WATCHER: &str = "
import os, signal
def tell(*_):
    size = os.get_terminal_size()
    print(f'{size.lines} rows {size.columns} columns.', flush=True)
signal.signal(signal.SIGWINCH, tell)
tell()
while True:
    signal.pause()
";

fn world() -> World {
    let argv = ["python3", "-c", WATCHER, "ROOT"];
    World::with_crew(&[("one", &argv), ("two", &argv)])
}

#[test]
fn a_size_that_is_wanted_before_the_agent_runs_is_the_one_it_begins_with() {
    let world = world();
    world.start_hub();
    let mut visitor = Visitor::greeted(&world);
    let team = Some("crew".to_owned());
    visitor.send(Request::Up { team, environment: Environment::default() });
    let size = Size { rows: 31, cols: 97 };
    visitor.send(Request::Resize { agent: "one".to_owned(), size });
    world.wait_for_text("one", "31 rows 97 columns.");
}

#[test]
fn agents_that_are_started_beside_a_dashboard_have_the_size_of_their_tiles() {
    let world = world();
    world.start_hub();
    let mut terminal = Terminal::attach(&world, 180, 40);
    terminal.wait_for("crew");
    terminal.press(b"\x1b");
    terminal.wait_for("No agents yet");
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "36 rows 88 columns.");
    world.wait_for_text("two", "36 rows 88 columns.");
    // One that is stopped and started again keeps its tile.
    world.ok(&["agent", "stop", "two"]);
    world.wait_for_status("two has ended", |status| {
        status.agents.iter().any(|agent| agent.name == "two" && agent.pid.is_none())
    });
    world.ok(&["agent", "start", "two"]);
    world.wait_for_text("two", "36 rows 88 columns.");
    // Zoomed, a pane has the whole window but for the lines above and below.
    terminal.press(b"z");
    world.wait_for_text("one", "38 rows 180 columns.");
    // A tile below the least size is true for the selected pane alone.
    terminal.press(b"z");
    terminal.resize(120, 24);
    world.wait_for_text("one", "20 rows 58 columns.");
    world.wait_for_text("two", "24 rows 80 columns.");
}
