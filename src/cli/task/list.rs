//! `wheelhouse task list`.

use std::io::Write;

use super::print_tasks;
use crate::api::{Request, Response, TaskRequest, TaskStatus};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::client::ClientError;

pub(crate) fn list(context: &mut Context, all: bool, format: Format) -> anyhow::Result<()> {
    let Response::Tasks { tasks } = context.ask(Request::Task { ask: TaskRequest::List })? else {
        return Err(ClientError::Unexpected.into());
    };
    let (ended, cut_off) = if all { ended(context)? } else { (Vec::new(), None) };
    let mut tasks: Vec<TaskStatus> = ended.into_iter().chain(tasks).collect();
    tasks.sort_by_key(|task| task.id[1..].parse::<u64>().unwrap_or_default());
    tasks.dedup_by(|one, other| one.id == other.id);
    if format.json {
        return context.print_json(&tasks);
    }
    if tasks.is_empty() {
        let hint = "No tasks yet. Add one with `wheelhouse task add --title T --prompt P`";
        writeln!(context.out, "{hint}")?;
        return Ok(());
    }
    print_tasks(context, &tasks)?;
    if let Some(until) = cut_off {
        writeln!(
            context.out,
            "\nWhat happened before {until} is no longer kept (see `[record]` in the settings)"
        )?;
    }
    Ok(())
}

/// Returns the tasks that have ended and left the hub's memory, and since when there are any.
fn ended(context: &mut Context) -> anyhow::Result<(Vec<TaskStatus>, Option<String>)> {
    let mut found = Vec::new();
    let mut before = None;
    loop {
        let ask = TaskRequest::Ended { before };
        let Response::EndedTasks { tasks, next, cut_off } = context.ask(Request::Task { ask })?
        else {
            return Err(ClientError::Unexpected.into());
        };
        found.extend(tasks);
        match next {
            Some(next) => before = Some(next),
            None => return Ok((found, cut_off)),
        }
    }
}
