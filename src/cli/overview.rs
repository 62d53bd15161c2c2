//! `wheelhouse` alone: what runs here, and what to type next.

use std::io::Write;

use super::context::{Context, caller_environment};
use super::status;
use crate::client::ClientError;
use crate::config::plain;
use crate::wire::{Request, Response, TeamOffer};

pub(super) fn show(context: &mut Context) -> anyhow::Result<()> {
    let status = status::ask(context)?;
    if !status.agents.is_empty() {
        status::print_agents(context, &status.agents)?;
        writeln!(context.out, "\nRead one with `wheelhouse agent read NAME`")?;
        return Ok(());
    }
    writeln!(context.out, "No agents run in {}\n\nTeams to start:", status.hub.project)?;
    for team in teams(context)? {
        let members: Vec<_> =
            team.agents.iter().map(|agent| format!("{} ({})", agent.name, agent.cli)).collect();
        writeln!(context.out, "  wheelhouse up {:<12} {}", team.name, members.join(", "))?;
        if let Some(obstacle) = team.obstacle {
            writeln!(context.out, "    {}", plain(&obstacle))?;
        }
    }
    writeln!(context.out, "\nWrite teams of your own with `wheelhouse config init`")?;
    Ok(())
}

fn teams(context: &Context) -> anyhow::Result<Vec<TeamOffer>> {
    let Response::Teams { teams } =
        context.ask(Request::Teams { environment: caller_environment() })?
    else {
        return Err(ClientError::Unexpected.into());
    };
    Ok(teams)
}
