//! `wheelhouse agent answer NAME` and `wheelhouse agent interrupt NAME`.

use std::io::Write;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use crate::api::{AgentStatus, DialogChoice, DialogStatus, Request, Response};
use crate::cli::args::{Choosing, Format};
use crate::cli::context::Context;
use crate::cli::dispatch::exit_code;
use crate::cli::failure::Hinted;
use crate::client::ClientError;
use crate::config::plain;
use crate::model::{AgentState, Stage};

/// A dialog that an agent waits at is drawn after so many looks.
const LOOKS_MAX: usize = 50;
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// Answers the dialog in an agent's pane; without a choice, shows it.
pub(crate) fn answer(
    context: &mut Context,
    name: String,
    choosing: Choosing,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let shown = dialog(context, &name)?;
    let Some(choice) = choice(&choosing) else { return show(context, &shown, format) };
    let dialog = choosing.dialog.unwrap_or(shown.id);
    let response = context.ask(Request::Answer { agent: name, dialog, choice })?;
    print_deed(context, response, format)
}

pub(crate) fn interrupt(
    context: &mut Context,
    name: String,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let response = context.ask(Request::Interrupt { agent: name })?;
    print_deed(context, response, format)
}

/// Returns the dialog in an agent's pane; one that is being drawn is waited for.
fn dialog(context: &Context, name: &str) -> anyhow::Result<DialogStatus> {
    let mut agent = agent(context, name)?;
    for _ in 0..LOOKS_MAX {
        if agent.dialog.is_some() || agent.state != AgentState::Waiting {
            break;
        }
        thread::sleep(LOOK_PAUSE);
        agent = self::agent(context, name)?;
    }
    let state = agent.state;
    agent.dialog.ok_or_else(|| {
        let hint = format!("See its screen with `wheelhouse agent read {name}`");
        Hinted::error(format!("Agent `{name}` is {state}: it shows no dialog"), hint)
    })
}

fn agent(context: &Context, name: &str) -> anyhow::Result<AgentStatus> {
    let Response::Status(status) = context.ask(Request::Status)? else {
        return Err(ClientError::Unexpected.into());
    };
    let is_it = |agent: &AgentStatus| agent.name == name;
    status.agents.into_iter().find(is_it).ok_or_else(|| {
        let hint = "List the agents with `wheelhouse agent list`";
        Hinted::error(format!("There is no agent `{name}`"), hint)
    })
}

fn choice(choosing: &Choosing) -> Option<DialogChoice> {
    match choosing {
        Choosing { option: Some(number), .. } => Some(DialogChoice::Option(*number)),
        Choosing { approve: true, .. } => Some(DialogChoice::Approve),
        Choosing { deny: true, .. } => Some(DialogChoice::Deny),
        Choosing { .. } => None,
    }
}

fn show(context: &mut Context, dialog: &DialogStatus, format: Format) -> anyhow::Result<ExitCode> {
    if format.json {
        context.print_json(dialog)?;
        return Ok(ExitCode::SUCCESS);
    }
    for line in dialog.text.lines() {
        writeln!(context.out, "{}", plain(line))?;
    }
    for (number, option) in (1..).zip(&dialog.options) {
        let mark = if dialog.selected == Some(number) { '>' } else { ' ' };
        writeln!(context.out, "{mark} --option {number}  {}", plain(option))?;
    }
    if dialog.options.is_empty() {
        writeln!(context.out, "  --approve or --deny")?;
    }
    writeln!(context.out, "dialog {}", plain(&dialog.id))?;
    Ok(ExitCode::SUCCESS)
}

fn print_deed(
    context: &mut Context,
    response: Response,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let Response::Deed { state, reason } = response else {
        return Err(ClientError::Unexpected.into());
    };
    if format.json {
        context.print_json(&serde_json::json!({ "state": state, "reason": reason }))?;
    } else {
        let word = if state == Stage::Accepted { "Done".to_owned() } else { state.to_string() };
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        writeln!(context.out, "{}", plain(&format!("{word}{reason}")))?;
    }
    Ok(ExitCode::from(exit_code(state)))
}
