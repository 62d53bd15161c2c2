//! `wheelhouse task retry|cancel|claim|consent|allow|meet`.

use std::io::Write;

use super::print::print_done;
use crate::api::{Request, TaskRequest};
use crate::cli::args::Format;
use crate::cli::context::{Context, own_name};
use crate::cli::failure::Hinted;
use crate::config::plain;

pub(crate) fn retry(
    context: &mut Context,
    task: String,
    advice: Option<String>,
    agent: Option<String>,
    format: Format,
) -> anyhow::Result<()> {
    act(context, TaskRequest::Retry { task, advice, agent }, format)
}

pub(crate) fn cancel(context: &mut Context, task: String, format: Format) -> anyhow::Result<()> {
    act(context, TaskRequest::Cancel { task }, format)
}

pub(crate) fn claim(
    context: &mut Context,
    task: String,
    agent: Option<String>,
    format: Format,
) -> anyhow::Result<()> {
    let agent = agent.or_else(own_name).ok_or_else(|| {
        Hinted::error("No agent is named", "Name an agent: `wheelhouse task claim ID --agent NAME`")
    })?;
    act(context, TaskRequest::Claim { task, agent }, format)
}

pub(crate) fn consent(context: &mut Context, from: String, to: String) -> anyhow::Result<()> {
    act(context, TaskRequest::Consent { from, to }, Format { json: false })
}

pub(crate) fn allow(context: &mut Context, agent: String) -> anyhow::Result<()> {
    let words = format!("Kept what {} changed", plain(&agent));
    context.ask(Request::Task { ask: TaskRequest::Allow { agent } })?;
    writeln!(context.out, "{words}")?;
    Ok(())
}

pub(crate) fn meet(context: &mut Context, need: String) -> anyhow::Result<()> {
    act(context, TaskRequest::Meet { need }, Format { json: false })
}

fn act(context: &mut Context, ask: TaskRequest, format: Format) -> anyhow::Result<()> {
    let response = context.ask(Request::Task { ask })?;
    print_done(context, response, format)
}
