//! `wheelhouse dispatch` and `wheelhouse broadcast`: hand prompts to agents, and print the receipts.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use super::args::{Format, Sending};
use super::context::Context;
use super::failure::Hinted;
use super::wait::EXIT_TIMED_OUT;
use crate::api::{Request, Response};
use crate::client::{Call, ClientError};
use crate::model::{Receipt, ReceiptId, Stage};

/// It was not typed, and will not be.
pub(super) const EXIT_REFUSED: u8 = 3;
/// It was typed, and nobody can say that the agent took it.
const EXIT_UNSURE: u8 = 4;

/// Hands a prompt to these agents; to all that run, if there are none.
pub(super) fn dispatch(
    context: &mut Context,
    agents: Vec<String>,
    sending: Sending,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let Sending { prompt, template, vars, wait, timeout, idempotency_key, .. } = sending;
    let Sending { anyway, command, no_queue, .. } = sending;
    let is_broadcast = agents.is_empty();
    let vars = vars.by_name();
    let request = match template {
        Some(template) => {
            Request::DispatchTemplate { agents, template, vars, idempotency_key, anyway, no_queue }
        }
        None if vars.is_empty() => {
            let prompt = whole(prompt)?;
            Request::Dispatch { agents, prompt, idempotency_key, anyway, command, no_queue }
        }
        None => {
            let hint = "Name it with `--template NAME`";
            return Err(Hinted::error("`--var` needs a template", hint));
        }
    };
    let (mut connection, response) = context.converse(&Call::new(request))?;
    let mut receipts = receipts_of(response)?;
    let mut is_late = false;
    if wait {
        let ids: Vec<ReceiptId> = receipts.iter().map(|receipt| receipt.receipt).collect();
        if let Some(seconds) = timeout {
            connection.set_patience(Duration::from_secs(seconds.max(1)))?;
        }
        match connection.ask(Request::AwaitReceipts { receipts: ids.clone() }) {
            Err(error) if error.is_timeout() => is_late = true,
            // The hub was lost and comes back: what is on record goes on.
            Err(ClientError::Closed | ClientError::Lost(_)) => {
                let again = context.ask(Request::AwaitReceipts { receipts: ids })?;
                receipts = receipts_of(again)?;
            }
            outcome => receipts = receipts_of(outcome?)?,
        }
    }
    print(context, &receipts, is_broadcast, format)?;
    let code = receipts.iter().map(|receipt| exit_code(receipt.state)).max().unwrap_or_default();
    Ok(ExitCode::from(if is_late { EXIT_TIMED_OUT } else { code }))
}

/// Takes back a prompt that waits.
pub(super) fn withdraw(
    context: &mut Context,
    receipt: ReceiptId,
    format: Format,
) -> anyhow::Result<()> {
    let receipts = receipts_of(context.ask(Request::Withdraw { receipt })?)?;
    print(context, &receipts, false, format)
}

fn receipts_of(response: Response) -> Result<Vec<Receipt>, ClientError> {
    let Response::Done(done) = response else { return Err(ClientError::Unexpected) };
    Ok(done.receipts)
}

/// Returns the prompt; `-` and nothing at all mean standard input.
fn whole(prompt: Option<String>) -> anyhow::Result<String> {
    match prompt {
        Some(text) if text != "-" => Ok(text),
        Some(_) | None => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            String::from_utf8(bytes).map_err(|_| {
                Hinted::error("The prompt is not text in UTF-8", "Convert it, and send it again")
            })
        }
    }
}

/// Prints receipts, a line each.
pub(super) fn print(
    context: &mut Context,
    receipts: &[Receipt],
    is_list: bool,
    format: Format,
) -> anyhow::Result<()> {
    if format.json {
        return match receipts {
            [only] if !is_list => context.print_json(only),
            all => context.print_json(&all),
        };
    }
    for Receipt { receipt, agent, state, reason, .. } in receipts {
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let line = crate::config::plain(&format!("{receipt} {agent} {state}{reason}"));
        writeln!(context.out, "{line}")?;
    }
    Ok(())
}

pub(super) fn exit_code(state: Stage) -> u8 {
    match state {
        Stage::Queued | Stage::Typed | Stage::Seen | Stage::Submitted | Stage::Accepted => 0,
        Stage::Refused | Stage::Withdrawn => EXIT_REFUSED,
        Stage::Stalled | Stage::Unknown => EXIT_UNSURE,
    }
}
