//! `wheelhouse task show ID`.

use std::io::Write;

use super::print::print_task;
use crate::api::{Request, Response, TaskRequest};
use crate::cli::args::Format;
use crate::cli::context::Context;
use crate::client::ClientError;
use crate::config::plain;
use crate::model::Attempt;

pub(crate) fn show(context: &mut Context, task: String, format: Format) -> anyhow::Result<()> {
    let request = Request::Task { ask: TaskRequest::Show { task } };
    let Response::Task(task) = context.ask(request)? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        return print_task(context, &task);
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
