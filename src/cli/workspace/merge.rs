//! `wheelhouse workspace merge`: brings work back, or says where it does not fit.

use std::io::Write;
use std::process::ExitCode;

use super::super::args::{Format, MergeArguments};
use super::super::context::Context;
use super::pull_request;
use super::verb::ask;
use crate::api::{Fault, MergeStatus, Response, WorkspaceRequest};
use crate::client::ClientError;
use crate::config::plain;
use crate::model::{MergeForm, MergeState};

const EXIT_CONFLICT: u8 = 3;
const EXIT_BROKEN: u8 = 4;

pub(super) fn merge(
    context: &mut Context,
    agent: String,
    terms: MergeArguments,
    format: Format,
) -> anyhow::Result<ExitCode> {
    if terms.pr {
        return pull_request::print(context, &agent, terms.message.as_deref(), format);
    }
    let form = [
        (terms.squash, MergeForm::Squash),
        (terms.rebase, MergeForm::Rebase),
        (terms.merge, MergeForm::Merge),
    ];
    let request = WorkspaceRequest::Merge {
        agent,
        form: form.into_iter().find(|(is_set, _)| *is_set).map(|(_, form)| form),
        into: terms.into,
        gates: terms.gates,
        message: terms.message,
        committed: terms.committed,
        trial: terms.dry_run,
        send_back: terms.send_back,
    };
    let Response::Done(done) = ask(context, request)? else {
        return Err(ClientError::Unexpected.into());
    };
    let merge = done.merges.first().map(MergeStatus::from).ok_or(ClientError::Unexpected)?;
    if format.json {
        context.print_json(&merge)?;
        return Ok(code(&merge));
    }
    tell(context, &merge)
}

fn code(merge: &MergeStatus) -> ExitCode {
    match merge.state {
        MergeState::Done => ExitCode::SUCCESS,
        MergeState::Conflict => ExitCode::from(EXIT_CONFLICT),
        MergeState::Broken => ExitCode::from(EXIT_BROKEN),
        MergeState::Queued | MergeState::Merging | MergeState::Failed => ExitCode::FAILURE,
    }
}

fn tell(context: &mut Context, merge: &MergeStatus) -> anyhow::Result<ExitCode> {
    let (agent, into) = (plain(&merge.agent), plain(&merge.into));
    let note = merge.note.as_deref().unwrap_or_default();
    match merge.state {
        MergeState::Done if !note.is_empty() => writeln!(context.out, "{agent}: {}", plain(note))?,
        MergeState::Done => {
            let commit = plain(merge.commit.as_deref().unwrap_or_default());
            let count = merge.files.len();
            let verb = if merge.trial { "would come" } else { "came" };
            writeln!(
                context.out,
                "The work of {agent} {verb} into {into} as {commit} ({count} files)"
            )?;
            list(context, merge)?;
            if !merge.trial {
                writeln!(context.out, "Get it with `git merge --ff-only {into}`")?;
            }
        }
        MergeState::Conflict => {
            writeln!(
                context.out,
                "The work of {agent} conflicts with {into}; {into} is unchanged"
            )?;
            list(context, merge)?;
            let hint = format!("wheelhouse workspace merge {agent} --send-back");
            writeln!(context.out, "Ask {agent} to resolve the conflict with `{hint}`")?;
        }
        MergeState::Broken => {
            let mut lines = note.lines();
            let first = plain(lines.next().unwrap_or_default());
            writeln!(context.out, "Merged onto {into}, {first}; {into} is unchanged")?;
            for line in lines {
                writeln!(context.out, "| {}", plain(line))?;
            }
        }
        MergeState::Queued | MergeState::Merging | MergeState::Failed => {
            let (message, hint) = note.split_once("\nhint: ").unwrap_or((note, ""));
            let mut fault = Fault::new(message);
            if !hint.is_empty() {
                fault = fault.with_hint(hint);
            }
            return Err(ClientError::Fault(fault).into());
        }
    }
    Ok(code(merge))
}

fn list(context: &mut Context, merge: &MergeStatus) -> std::io::Result<()> {
    for file in &merge.files {
        let others: Vec<&str> = file.others.iter().map(crate::model::AgentName::as_str).collect();
        let others = if others.is_empty() {
            String::new()
        } else {
            format!(" (also of {})", others.join(", "))
        };
        writeln!(context.out, "  {}{others}", plain(&file.path))?;
    }
    Ok(())
}
