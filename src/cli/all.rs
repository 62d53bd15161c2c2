//! `wheelhouse all`: every hub of this user, whatever its project.

use std::io::Write;

use serde_json::{Value, json};

use super::args::Format;
use super::context::Context;
use super::table::Table;
use crate::api::{Request, Response, Status};
use crate::client;
use crate::config::{hub_sockets, plain};
use crate::model::AgentState;

/// What one hub says, or why it says nothing.
struct Found {
    session: String,
    status: Result<Status, String>,
}

pub(super) fn all(context: &mut Context, format: Format) -> anyhow::Result<()> {
    let found: Vec<Found> = hub_sockets()?
        .into_iter()
        .filter_map(|(session, socket)| {
            let asked = client::ask_at(&socket, Request::Status);
            // A socket that was left behind when its hub was killed is none.
            let status = match asked {
                Ok(Some(Response::Status(status))) => Ok(status),
                Ok(Some(_)) => Err("unexpected answer".to_owned()),
                Ok(None) => return None,
                Err(error) => Err(error.to_string()),
            };
            Some(Found { session, status })
        })
        .collect();
    if format.json {
        return context.print_json(&json!({"hubs": found.iter().map(told).collect::<Vec<_>>()}));
    }
    if found.is_empty() {
        writeln!(context.out, "No hub runs. Start a team with `wheelhouse up TEAM`")?;
        return Ok(());
    }
    let mut table = Table::new(["PROJECT", "HUB", "AGENTS", "STATES", "WAITING FOR YOU"]);
    for Found { session, status } in &found {
        match status {
            Ok(status) => table.push([
                status.hub.project.clone(),
                status.hub.pid.to_string(),
                status.agents.len().to_string(),
                states(status),
                status.attention.iter().filter(|item| !item.read).count().to_string(),
            ]),
            Err(reason) => table.push([
                session.clone(),
                "?".to_owned(),
                String::new(),
                plain(reason),
                String::new(),
            ]),
        }
    }
    table.print(&mut context.out)?;
    writeln!(context.out, "\nOpen one with `wheelhouse --project DIR`")?;
    Ok(())
}

/// Returns how many agents are in which state, such as `2 working, 1 waiting`.
fn states(status: &Status) -> String {
    let mut counts: Vec<(AgentState, usize)> = Vec::new();
    for agent in &status.agents {
        match counts.iter_mut().find(|(state, _)| *state == agent.state) {
            Some((_, count)) => *count += 1,
            None => counts.push((agent.state, 1)),
        }
    }
    counts.iter().map(|(state, count)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
}

fn told(found: &Found) -> Value {
    match &found.status {
        Ok(status) => json!({"session": found.session, "status": status, "error": null}),
        Err(reason) => json!({"session": found.session, "status": null, "error": reason}),
    }
}
