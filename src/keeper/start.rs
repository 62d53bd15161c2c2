//! Starts a keeper for the hub.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{KeeperArgs, Order};

/// Starts the processes behind one agent, detached from this one, and hands them the order.
///
/// The child is to be reaped by whoever calls this. It lives as long as the agent, and its exit
/// code is one of the `EXIT_…` constants. A keeper that cannot work says why on `log`.
pub fn start(program: &Path, args: &KeeperArgs, order: &Order, log: Stdio) -> io::Result<Child> {
    let mut command = unmarked(args.command(program, "reviver"));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    let mut child = command.current_dir("/").spawn()?;
    let mut input = child.stdin.take().expect("the standard input was asked for");
    let text = serde_json::to_vec(order)?;
    match input.write_all(&text) {
        Ok(()) => Ok(child),
        // It is gone already: its exit code says why.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(child),
        Err(error) => {
            child.kill()?;
            child.wait()?;
            Err(error)
        }
    }
}

/// Takes the marks of an agent's processes away, which ours are not, even if the hub was started by one.
pub(super) fn unmarked(mut command: Command) -> Command {
    for name in ["WHEELHOUSE_SESSION", "WHEELHOUSE_AGENT", "WHEELHOUSE_RUN"] {
        command.env_remove(name);
    }
    command
}
