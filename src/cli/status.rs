//! `wheelhouse status`: the hub and its agents at a glance.

use std::io::Write;

use super::args::Format;
use super::attention::print_items;
use super::context::Context;
use super::table::Table;
use super::task::print_tasks;
use crate::api::{AgentStatus, Interrupted, Request, Response, Status};
use crate::client::ClientError;
use crate::config::plain;
use crate::model::{AgentState, WorkspaceKind};

pub(super) fn status(context: &mut Context, format: Format) -> anyhow::Result<()> {
    let status = ask(context)?;
    let hub = &status.hub;
    if format.json && hub.is_running() {
        return context.print_json(&status);
    }
    if format.json {
        let mut value = serde_json::to_value(&status)?;
        value["hub"] = serde_json::Value::Null;
        return context.print_json(&value);
    }
    let running = if hub.is_running() { format!("hub {}", hub.pid) } else { "no hub".to_owned() };
    writeln!(context.out, "{}  {}  {running}", hub.session, hub.project)?;
    if let Some(fault) = hub.settings_fault.as_ref().and_then(|fault| fault.lines().next()) {
        writeln!(context.out, "Still using the previous settings: {}", plain(fault))?;
    }
    if let Some(trouble) = &hub.trouble {
        writeln!(context.out, "{}: agents keep running, nothing new is started", plain(trouble))?;
    }
    writeln!(context.out)?;
    print_agents(context, &status.agents)?;
    if !status.tasks.is_empty() {
        writeln!(context.out)?;
        print_tasks(context, &status.tasks)?;
    }
    if !status.attention.is_empty() {
        writeln!(context.out)?;
        print_items(context, &status.attention)?;
    }
    print_interrupted(context, &status)
}

/// Says what was cut off, and how it is taken up again.
pub(super) fn print_interrupted(context: &mut Context, status: &Status) -> anyhow::Result<()> {
    let Interrupted { resume, start, tasks } = &*status.interrupted;
    if status.interrupted.is_empty() {
        return Ok(());
    }
    let (out, lost) = (&mut context.out, [&resume[..], start].concat().join(", "));
    writeln!(out, "\nLost while they ran: {}", plain(&lost))?;
    for task in status.tasks.iter().filter(|task| tasks.contains(&task.id)) {
        let agent = task.agent.as_deref().unwrap_or("nobody");
        let line = format!("  {} {} ({}, last tried by {agent})", task.id, task.title, task.state);
        writeln!(out, "{}", plain(&line))?;
    }
    if !resume.is_empty() {
        let names = plain(&resume.join(" "));
        writeln!(out, "Resume them with `wheelhouse agent resume {names}`")?;
    }
    if !start.is_empty() {
        let names = plain(&start.join(" "));
        writeln!(out, "Start them with a new conversation with `wheelhouse agent start {names}`")?;
    }
    writeln!(out, "See what happened with `wheelhouse history`")?;
    Ok(())
}

pub(super) fn ask(context: &Context) -> anyhow::Result<Status> {
    let Response::Status(status) = context.ask(Request::Status)? else {
        return Err(ClientError::Unexpected.into());
    };
    Ok(status)
}

/// Says on whose files an agent works, and where, if that is elsewhere.
fn workspace(agent: &AgentStatus) -> String {
    // The tree of one that has ended may be gone.
    if agent.state == AgentState::Exited && agent.workspace == WorkspaceKind::Shared {
        return String::new();
    }
    let runner = agent.runner.as_ref().map(|runner| format!(" on {}", plain(runner)));
    format!("{}{}", agent.workspace, runner.unwrap_or_default())
}

pub(super) fn print_agents(context: &mut Context, agents: &[AgentStatus]) -> anyhow::Result<()> {
    if agents.is_empty() {
        writeln!(context.out, "No agents yet. Start a team with `wheelhouse up TEAM`")?;
        return Ok(());
    }
    let mut table =
        Table::new(["AGENT", "CLI", "ROLE", "STATE", "SINCE", "PID", "WORKSPACE", "NOTE"]);
    for agent in agents {
        let note = [agent.ending.as_deref(), agent.note.as_deref()];
        table.push([
            agent.name.clone(),
            agent.cli.clone(),
            agent.role.to_string(),
            agent.state.to_string(),
            agent.since.get(..19).unwrap_or(&agent.since).replace('T', " "),
            agent.pid.map(|pid| pid.to_string()).unwrap_or_default(),
            workspace(agent),
            note.into_iter().flatten().collect::<Vec<_>>().join(": "),
        ]);
    }
    table.print(&mut context.out)?;
    Ok(())
}
