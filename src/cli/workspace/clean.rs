//! `wheelhouse workspace clean|rescue`: nothing that is in a workspace is lost by either.

use std::io::Write;
use std::process::ExitCode;

use serde_json::json;

use super::super::args::Format;
use super::super::context::Context;
use super::verb::{ask, workspaces};
use crate::api::{Response, WorkspaceRequest};
use crate::client::ClientError;
use crate::config::plain;
use crate::model::{Done, Refusal};

pub(super) fn clean(
    context: &mut Context,
    request: WorkspaceRequest,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let (done, failure) = match ask(context, request) {
        Ok(Response::Done(done)) => (done, None),
        Ok(_) => return Err(ClientError::Unexpected.into()),
        Err(ClientError::Fault(fault)) => {
            let Some(Refusal::Kept { removed, .. }) = &fault.refusal else {
                return Err(ClientError::Fault(fault).into());
            };
            (Done { unchanged: removed.clone(), ..Done::default() }, Some(fault))
        }
        Err(error) => return Err(error.into()),
    };
    if format.json {
        let kept = failure.as_ref().and_then(|fault| match &fault.refusal {
            Some(Refusal::Kept { failures, .. }) => Some(failures.clone()),
            _ => None,
        });
        let kept: Vec<_> = kept.unwrap_or_default();
        let kept: Vec<_> =
            kept.iter().map(|one| json!({ "agent": one.agent, "reason": one.reason })).collect();
        let rescues = told(&done);
        context
            .print_json(&json!({ "removed": done.unchanged, "kept": kept, "rescues": rescues }))?;
    } else {
        for agent in &done.unchanged {
            writeln!(context.out, "Removed the workspace of {agent}")?;
        }
        print_rescues(context, &done)?;
        if done.unchanged.is_empty() && failure.is_none() {
            writeln!(context.out, "There is no workspace to remove")?;
        }
    }
    match failure {
        Some(fault) if !format.json => Err(ClientError::Fault(fault).into()),
        Some(_) => Ok(ExitCode::FAILURE),
        None => Ok(ExitCode::SUCCESS),
    }
}

pub(super) fn rescue(
    context: &mut Context,
    agents: Vec<String>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let Response::Done(done) = ask(context, WorkspaceRequest::Rescue { agents })? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        context.print_json(&told(&done))?;
        return Ok(ExitCode::SUCCESS);
    }
    for agent in &done.unchanged {
        if done.rescues.iter().all(|(rescued, _)| rescued != agent) {
            writeln!(context.out, "The workspace of {agent} has no work in it")?;
        }
    }
    print_rescues(context, &done)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn rescues(context: &mut Context, format: Format) -> anyhow::Result<ExitCode> {
    let Response::Rescues { rescues } = ask(context, WorkspaceRequest::Rescues)? else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        context.print_json(&rescues)?;
    } else if rescues.is_empty() {
        writeln!(context.out, "Nothing to rescue")?;
    }
    for rescue in rescues.iter().filter(|_| !format.json) {
        writeln!(context.out, "{} {}", plain(&rescue.commit), plain(&rescue.name))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Brings a rescued state back, as a workspace of its agent.
pub(super) fn restore(
    context: &mut Context,
    name: String,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let Response::Done(done) = ask(context, WorkspaceRequest::Restore { name })? else {
        return Err(ClientError::Unexpected.into());
    };
    let agent = done.unchanged.first().ok_or(ClientError::Unexpected)?;
    let all = workspaces(context)?;
    let root = all.into_iter().find(|one| one.agent == agent.as_str()).map(|one| one.root);
    if format.json {
        context.print_json(&json!({ "agent": agent, "root": root }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = plain(&root.unwrap_or_default());
    writeln!(context.out, "Restored the workspace of {agent}: {place}")?;
    writeln!(context.out, "Merge the work with `wheelhouse workspace merge {agent}`")?;
    Ok(ExitCode::SUCCESS)
}

fn told(done: &Done) -> Vec<serde_json::Value> {
    let one = |(agent, name): &(_, String)| json!({ "agent": agent, "rescue": name });
    done.rescues.iter().map(one).collect()
}

fn print_rescues(context: &mut Context, done: &Done) -> std::io::Result<()> {
    for (agent, name) in &done.rescues {
        writeln!(context.out, "Saved the work of {agent} to {}", plain(name))?;
    }
    Ok(())
}
