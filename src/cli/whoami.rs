//! `wheelhouse whoami`: whom the hub takes the caller for.

use std::io::Write;

use super::args::Format;
use super::context::Context;
use crate::api::{Request, Response};
use crate::client::ClientError;
use crate::config::plain;

pub(super) fn whoami(context: &mut Context, format: Format) -> anyhow::Result<()> {
    let Response::Me(who) = context.ask(Request::Me)? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        return context.print_json(&who);
    }
    let Some((agent, role)) = who.agent.as_ref().zip(who.role) else {
        writeln!(context.out, "a person, with all permissions")?;
        return Ok(());
    };
    let team = plain(who.team.as_deref().unwrap_or_default());
    writeln!(context.out, "agent {agent}, {role} of team {team}")?;
    if let Some(starter) = &who.started_by {
        writeln!(context.out, "started by {starter}")?;
    }
    if let Some((task, tag)) = who.task.as_ref().zip(who.tag.as_ref()) {
        writeln!(context.out, "works on task {task}; the tag of the attempt is {tag}")?;
    }
    if !who.clis.is_empty() {
        writeln!(context.out, "may start agents with {}", plain(&who.clis.join(", ")))?;
    }
    writeln!(context.out, "may use: {}", who.may.join(", "))?;
    Ok(())
}
