//! How tasks are printed.

use std::io::Write;

use serde_json::Value;

use crate::api::{Response, TaskStatus};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::cli::table::Table;
use crate::client::ClientError;
use crate::config::plain;
use crate::model::{Moment, Task};

/// The fields of a task that are moments.
const MOMENTS: &[&str] = &["at", "ended", "silence", "since", "started"];

pub(crate) fn print_tasks(context: &mut Context, tasks: &[TaskStatus]) -> anyhow::Result<()> {
    let mut table = Table::new(["TASK", "STATE", "AGENT", "ATTEMPT", "TITLE", "NOTE"]);
    for task in tasks {
        table.push([
            task.id.clone(),
            task.state.to_string(),
            task.agent.clone().unwrap_or_default(),
            task.attempt.to_string(),
            task.title.clone(),
            task.waits_for(tasks).unwrap_or_default(),
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
            print_task(context, task)?;
        } else {
            writeln!(context.out, "{} is {}: {}", task.id, task.state, plain(&task.title))?;
        }
    }
    Ok(())
}

/// Prints all that the record has of a task as JSON.
pub(super) fn print_task(context: &mut Context, task: &Task) -> anyhow::Result<()> {
    let mut value = serde_json::to_value(task)?;
    tell_times(&mut value);
    context.print_json(&value)
}

/// Writes the moments of a task, which its record has in milliseconds, in the form of RFC 3339.
fn tell_times(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(tell_times),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_u64().filter(|_| MOMENTS.contains(&name.as_str())) {
                    Some(moment) => *value = Moment(moment).to_rfc3339().into(),
                    None => tell_times(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
