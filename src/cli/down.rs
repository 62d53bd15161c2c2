//! `wheelhouse down`: ends every agent and the hub.

use std::io::Write;
use std::thread;
use std::time::Duration;

use super::args::Format;
use super::context::Context;
use super::failure::Hinted;
use super::offline::is_hub_expected;
use super::up::print_done;
use crate::api::{Request, Response};
use crate::client::{self, ClientError, Connection};
use crate::config::Paths;
use crate::keeper;
use crate::model::Done;

/// A hub that has said that all is done needs only to leave.
const FAREWELL_STEPS_MAX: u32 = 1000;
const FAREWELL_STEP: Duration = Duration::from_millis(5);

pub(super) fn down(context: &mut Context, force: bool, format: Format) -> anyhow::Result<()> {
    let connection = match context.connect_running() {
        // Agents whose hub is gone are taken up by a new one, which then ends them.
        Err(ClientError::NotRunning { .. }) if is_hub_expected(&context.paths) => context.connect(),
        result => result,
    };
    let mut connection = match connection {
        Err(ClientError::NotRunning { .. }) => {
            if format.json {
                return context.print_json(&Done::default());
            }
            writeln!(context.out, "Nothing runs")?;
            return Ok(());
        }
        result => result?,
    };
    let response = connection.ask(Request::Down { force })?;
    see_off(connection, &context.paths)?;
    if matches!(&response, Response::Done(done) if !format.json && done.stopped.is_empty()) {
        writeln!(context.out, "Stopped the hub; no agent was running")?;
        return Ok(());
    }
    print_done(context, response, format)
}

/// Waits until the hub's process has let go of its lock.
fn see_off(mut connection: Connection, paths: &Paths) -> anyhow::Result<()> {
    while connection.receive().is_ok() {}
    for _ in 0..FAREWELL_STEPS_MAX {
        // Whoever answers now is the next hub, which another command has started meanwhile.
        if !keeper::is_held(&paths.hub_lock()) || client::connect_running(paths).is_ok() {
            return Ok(());
        }
        thread::sleep(FAREWELL_STEP);
    }
    Err(Hinted::error(
        "The agents are stopped, but the hub does not exit",
        "Try `wheelhouse doctor`",
    ))
}
