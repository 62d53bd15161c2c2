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
    format: Format,
) -> anyhow::Result<()> {
    let response = start(context, team)?;
    print_done(context, response, format)
}

/// Starts a team, and returns what came of it.
pub(super) fn start(context: &Context, team: Option<String>) -> Result<Response, ClientError> {
    context.ask(Request::Up { team, environment: caller_environment() })
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
    let Done { started, stopped, unchanged, .. } = &done;
    for (names, what) in [(stopped, "Stopped"), (started, "Started"), (unchanged, "Unchanged:")] {
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(AgentName::as_str).collect();
            writeln!(context.out, "{what} {}", names.join(", "))?;
        }
    }
    Ok(())
}
