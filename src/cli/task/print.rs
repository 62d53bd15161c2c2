//! How tasks are printed.

use std::io::Write;

use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::table::Table;
use crate::client::ClientError;
use crate::config::plain;
use crate::wire::{Response, TaskStatus};

pub(crate) fn print_tasks(context: &mut Context, tasks: &[TaskStatus]) -> anyhow::Result<()> {
    let mut table = Table::new(["TASK", "STATE", "AGENT", "ATTEMPT", "TITLE", "NOTE"]);
    for task in tasks {
        table.push([
            task.id.clone(),
            task.state.to_string(),
            task.agent.clone().unwrap_or_default(),
            task.attempt.to_string(),
            task.title.clone(),
            task.note.clone().unwrap_or_default(),
        ]);
    }
    table.print(&mut context.out)?;
    Ok(())
}

/// Prints the one task that a command was about, as it is now.
pub(super) fn print_done(
    context: &mut Context,
    response: Response,
    format: Format,
) -> anyhow::Result<()> {
    let Response::Done(done) = response else { return Err(ClientError::Unexpected.into()) };
    for task in &done.tasks {
        if format.json {
            context.print_json(task)?;
        } else {
            writeln!(context.out, "{} is {}: {}", task.id, task.state, plain(&task.title))?;
        }
    }
    Ok(())
}
