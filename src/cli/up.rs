//! `wheelhouse up [TEAM]`: starts a team.

use std::io::Write;

use super::args::Format;
use super::context::{Context, caller_environment};
use crate::client::ClientError;
use crate::model::{AgentName, Done};
use crate::wire::{Request, Response};

pub(super) fn up(
    context: &mut Context,
    team: Option<String>,
    attach: bool,
    format: Format,
) -> anyhow::Result<()> {
    let environment = caller_environment();
    let response = context.ask(Request::Up { team, environment })?;
    if attach { super::attach::attach(context) } else { print_done(context, response, format) }
}

/// Prints what came of a command on agents.
pub(super) fn print_done(
    context: &mut Context,
    response: Response,
    format: Format,
) -> anyhow::Result<()> {
    let Response::Done(done) = response else { return Err(ClientError::Unexpected.into()) };
    if format.json {
        return context.print_json(&done);
    }
    let Done { started, stopped, unchanged } = &done;
    for (names, what) in [(stopped, "Stopped"), (started, "Started"), (unchanged, "Unchanged:")] {
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(AgentName::as_str).collect();
            writeln!(context.out, "{what} {}", names.join(", "))?;
        }
    }
    Ok(())
}
