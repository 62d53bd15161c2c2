//! Which command about workspaces was typed.

use std::process::ExitCode;

use super::super::agent::diff;
use super::super::args::WorkspaceVerb;
use super::super::context::Context;
use super::{clean, list, merge};
use crate::api::{Request, Response, WorkspaceRequest, WorkspaceStatus};
use crate::client::ClientError;

pub(in crate::cli) fn workspace(
    context: &mut Context,
    verb: WorkspaceVerb,
) -> anyhow::Result<ExitCode> {
    match verb {
        WorkspaceVerb::List { format } => list::list(context, format),
        WorkspaceVerb::Diff { agent, paths, comparing, format } => {
            diff(context, &agent, &paths, &comparing, format)?;
            Ok(ExitCode::SUCCESS)
        }
        WorkspaceVerb::Merge { agent, terms, format } => {
            merge::merge(context, agent, terms, format)
        }
        WorkspaceVerb::Clean { agents, rescue, drop_ignored, gone, format } => {
            let ask = WorkspaceRequest::Clean { agents, rescue, drop_ignored, gone };
            clean::clean(context, ask, format)
        }
        WorkspaceVerb::Rescue { restore: Some(name), format, .. } => {
            clean::restore(context, name, format)
        }
        WorkspaceVerb::Rescue { agents, format, .. } if agents.is_empty() => {
            clean::rescues(context, format)
        }
        WorkspaceVerb::Rescue { agents, format, .. } => clean::rescue(context, agents, format),
    }
}

pub(super) fn ask(context: &Context, ask: WorkspaceRequest) -> Result<Response, ClientError> {
    context.ask(Request::Workspace { ask })
}

pub(super) fn workspaces(context: &Context) -> anyhow::Result<Vec<WorkspaceStatus>> {
    let Response::Workspaces { workspaces } = ask(context, WorkspaceRequest::List)? else {
        return Err(ClientError::Unexpected.into());
    };
    Ok(workspaces)
}
