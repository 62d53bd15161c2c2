//! `wheelhouse task show ID`.

use std::io::Write;

use serde_json::Value;

use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::client::ClientError;
use crate::config::plain;
use crate::model::{Attempt, Moment};
use crate::wire::{Request, Response, TaskRequest};

/// The fields of a task that are moments.
const MOMENTS: &[&str] = &["at", "ended", "silence", "since", "started"];

pub(crate) fn show(context: &mut Context, task: String, format: Format) -> anyhow::Result<()> {
    let request = Request::Task { ask: TaskRequest::Show { task } };
    let Response::Task(task) = context.ask(request)? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        let mut value = serde_json::to_value(&*task)?;
        tell_times(&mut value);
        return context.print_json(&value);
    }
    writeln!(context.out, "{} {} ({})", task.id, plain(&task.title), task.state)?;
    if let Some(note) = &task.note {
        writeln!(context.out, "  {}", plain(note))?;
    }
    for need in &task.needs {
        writeln!(context.out, "  needs {need}")?;
    }
    for gate in &task.terms.gates {
        writeln!(context.out, "  gate {}", plain(gate))?;
    }
    for line in task.prompt.lines() {
        writeln!(context.out, "  | {}", plain(line))?;
    }
    for (number, attempt) in task.attempts.iter().enumerate() {
        print_attempt(context, number + 1, attempt)?;
    }
    Ok(())
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

fn print_attempt(context: &mut Context, number: usize, attempt: &Attempt) -> anyhow::Result<()> {
    let out = &mut context.out;
    let (agent, tag) = (&attempt.agent, &attempt.tag);
    let started = attempt.started.to_rfc3339();
    write!(out, "attempt {number} by {agent}, tag {tag}, since {started}")?;
    match attempt.outcome {
        Some(outcome) => writeln!(out, ": {outcome}")?,
        None => writeln!(out)?,
    }
    if !attempt.summary.is_empty() {
        writeln!(out, "  {}", plain(&attempt.summary))?;
    }
    for gate in attempt.claim.iter().flat_map(|claim| &claim.gates) {
        let verdict = if gate.passed { "passed" } else { "failed" };
        writeln!(out, "  gate {verdict}: {}", plain(&gate.gate))?;
        for line in gate.output.lines().filter(|_| !gate.passed) {
            writeln!(out, "    {}", plain(line))?;
        }
    }
    Ok(())
}
