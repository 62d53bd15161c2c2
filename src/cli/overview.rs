//! `wheelhouse` alone, without a terminal: what runs here, and what to type next.

use std::collections::BTreeMap;
use std::io::Write;

use super::context::{Context, caller_environment};
use super::status;
use super::table::Table;
use crate::api::{Request, Response, TeamOffer};
use crate::client::ClientError;

pub(super) fn show(context: &mut Context) -> anyhow::Result<()> {
    let teams = teams(context)?;
    let status = status::ask(context)?;
    if !status.agents.is_empty() {
        status::print_agents(context, &status.agents)?;
        writeln!(context.out, "\nRead one with `wheelhouse agent read NAME`")?;
        status::print_interrupted(context, &status)?;
        return Ok(());
    }
    writeln!(context.out, "No agents run in {}\n", status.hub.project)?;
    let (ready, others): (Vec<_>, Vec<_>) =
        teams.into_iter().partition(|team| team.obstacle.is_none());
    let mut table = Table::new(["TEAMS TO START", "AGENTS"]);
    for team in ready {
        table.push([format!("wheelhouse up {}", team.name), members(&team)]);
    }
    table.print(&mut context.out)?;
    let mut obstacles: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for team in others {
        let first = team.obstacle.iter().flat_map(|text| text.lines()).next();
        obstacles.entry(first.unwrap_or_default().to_owned()).or_default().push(team.name);
    }
    for (obstacle, teams) in obstacles {
        writeln!(context.out, "\nNot now: {}\n  {obstacle}", teams.join(", "))?;
    }
    writeln!(context.out, "\nWatch a scripted team with `wheelhouse demo`")?;
    writeln!(context.out, "Write teams of your own with `wheelhouse config init`")?;
    Ok(())
}

fn members(team: &TeamOffer) -> String {
    let member = |agent: &crate::api::AgentOffer| format!("{} ({})", agent.name, agent.cli);
    team.agents.iter().map(member).collect::<Vec<_>>().join(", ")
}

fn teams(context: &Context) -> anyhow::Result<Vec<TeamOffer>> {
    let environment = caller_environment();
    let Response::Teams { teams } = context.ask(Request::Teams { environment })? else {
        return Err(ClientError::Unexpected.into());
    };
    Ok(teams)
}
