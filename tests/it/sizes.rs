//! Each terminal has the size of what shows it, however its agent was started.

use super::support::world::World;
use super::terminal::Terminal;

/// Prints the size of its terminal, and again whenever that changes.
const WATCHER: &str = "
import os, signal
def tell(*_):
    size = os.get_terminal_size()
    os.write(1, f'{size.lines} rows {size.columns} columns.\\r\\n'.encode())
signal.signal(signal.SIGWINCH, tell)
tell()
while True:
    signal.pause()
";

#[test]
fn agents_have_the_size_of_their_tiles_however_they_are_started() {
    let argv = ["python3", "-c", WATCHER, "ROOT"];
    let world = World::with_crew(&[("one", &argv), ("two", &argv)]);
    world.ok(&["up", "crew"]);
    let mut terminal = Terminal::attach(&world, 180, 40);
    world.wait_for_text("one", "36 rows 88 columns.");
    world.wait_for_text("two", "36 rows 88 columns.");
    // One that is added by a command beside the dashboard has its tile at once, and the least number of rows.
    world.ok(&["agent", "add", "three", "--cli", "one"]);
    world.wait_for_text("three", "24 rows 178 columns.");
    // Zoomed, a pane has the whole window but for the lines above and below.
    terminal.press(b"z");
    world.wait_for_text("one", "38 rows 180 columns.");
}
