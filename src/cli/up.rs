//! `wheelhouse up [TEAM]`: starts a team.

use std::collections::BTreeMap;
use std::io::Write;

use super::args::Format;
use super::context::{Context, caller_environment};
use super::status;
use crate::api::{AgentStatus, Request, Response};
use crate::client::ClientError;
use crate::config::plain;
use crate::model::{AgentName, Done, WorkspaceKind};

pub(super) fn up(
    context: &mut Context,
    team: Option<String>,
    format: Format,
) -> anyhow::Result<()> {
    let response = start(context, team)?;
    print_done(context, response, format)
}

/// Starts a team, and returns what came of it.
pub(super) fn start(context: &Context, team: Option<String>) -> Result<Response, ClientError> {
    context.ask(Request::Up { team, environment: caller_environment() })
}

/// Prints what came of a command on agents.
pub(super) fn print_done(
    context: &mut Context,
    response: Response,
    format: Format,
) -> anyhow::Result<()> {
    let Response::Done(done) = response else { return Err(ClientError::Unexpected.into()) };
    if format.json {
        return context.print_json(&done);
    }
    let Done { started, stopped, unchanged, .. } = &done;
    for (names, what) in [(stopped, "Stopped"), (started, "Started"), (unchanged, "Unchanged:")] {
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(AgentName::as_str).collect();
            writeln!(context.out, "{what} {}", names.join(", "))?;
        }
    }
    if started.is_empty() { Ok(()) } else { print_places(context, started) }
}

/// Says where agents that were started work, and how what they do there comes back.
fn print_places(context: &mut Context, started: &[AgentName]) -> anyhow::Result<()> {
    // They run: that nobody says where is no failure.
    let Ok(status) = status::ask(context) else { return Ok(()) };
    let mut places: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let is_new = |agent: &&AgentStatus| started.iter().any(|name| name.as_str() == agent.name);
    let mut has_own = false;
    for agent in status.agents.iter().filter(is_new) {
        has_own |= agent.workspace != WorkspaceKind::Shared;
        places.entry(place(agent, &status.hub.project)).or_default().push(&agent.name);
    }
    for (place, names) in places {
        writeln!(context.out, "  {place}: {}", names.join(", "))?;
    }
    if has_own {
        let words = "Merge their work with `wheelhouse workspace merge NAME`";
        writeln!(context.out, "{words}")?;
    }
    Ok(())
}

fn place(agent: &AgentStatus, project: &str) -> String {
    let files = match agent.workspace {
        WorkspaceKind::Worktree => Some("in its own worktree".to_owned()),
        WorkspaceKind::Copy => Some("in its own copy".to_owned()),
        WorkspaceKind::Shared if agent.runner.is_some() => None,
        WorkspaceKind::Shared if agent.cwd.starts_with(project) => {
            Some("in the project itself".to_owned())
        }
        WorkspaceKind::Shared => Some(format!("in {}", plain(&agent.cwd.to_string_lossy()))),
    };
    let runner = agent.runner.as_ref().map(|runner| format!("on {}", plain(runner)));
    runner.into_iter().chain(files).collect::<Vec<_>>().join(", ")
}
