//! `wheelhouse agent start|stop|restart|resume|remove NAME…`.

use crate::api::Request;
use crate::cli::args::{Format, Grace};
use crate::cli::context::{Context, caller_environment};
use crate::cli::up::print_done;

pub(crate) fn start(
    context: &mut Context,
    agents: Vec<String>,
    format: Format,
) -> anyhow::Result<()> {
    let environment = caller_environment();
    let response = context.ask(Request::Start { agents, environment })?;
    print_done(context, response, format)
}

pub(crate) fn stop(
    context: &mut Context,
    agents: Vec<String>,
    grace: Grace,
    format: Format,
) -> anyhow::Result<()> {
    let response = context.ask(Request::Stop { agents, grace_ms: grace.milliseconds() })?;
    print_done(context, response, format)
}

pub(crate) fn restart(
    context: &mut Context,
    agents: Vec<String>,
    grace: Grace,
    format: Format,
) -> anyhow::Result<()> {
    let (environment, grace_ms) = (caller_environment(), grace.milliseconds());
    let response = context.ask(Request::Restart { agents, environment, grace_ms })?;
    print_done(context, response, format)
}

pub(crate) fn resume(
    context: &mut Context,
    agents: Vec<String>,
    brief: bool,
    grace: Grace,
    format: Format,
) -> anyhow::Result<()> {
    let (environment, grace_ms) = (caller_environment(), grace.milliseconds());
    let response = context.ask(Request::Resume { agents, environment, grace_ms, brief })?;
    print_done(context, response, format)
}

pub(crate) fn remove(
    context: &mut Context,
    agents: Vec<String>,
    abandon: bool,
    format: Format,
) -> anyhow::Result<()> {
    let response = context.ask(Request::Forget { agents, abandon })?;
    print_done(context, response, format)
}
