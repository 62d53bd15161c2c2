//! `wheelhouse task list`.

use std::io::Write;

use super::print_tasks;
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::client::ClientError;
use crate::wire::{Request, Response, TaskRequest};

pub(crate) fn list(context: &mut Context, format: Format) -> anyhow::Result<()> {
    let Response::Tasks { tasks } = context.ask(Request::Task { ask: TaskRequest::List })? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        return context.print_json(&tasks);
    }
    if tasks.is_empty() {
        let hint = "No tasks yet. Add one with `wheelhouse task add --title T --prompt P`";
        writeln!(context.out, "{hint}")?;
        return Ok(());
    }
    print_tasks(context, &tasks)
}
