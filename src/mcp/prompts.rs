//! Tools about prompts: handing them out, and taking them back.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::door::Door;
use super::failure::Failure;
use super::tools::Outcome;
use super::waiting::patience;
use crate::api::{Request, Response};
use crate::client::random_id;
use crate::model::{Receipt, ReceiptId};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct Dispatch {
    /// Who gets it.
    agents: Vec<String>,
    /// What to tell them; say what done means and what evidence you want.
    #[serde(default)]
    prompt: Option<String>,
    /// Send a prompt made from this template instead (`wheelhouse template list`), filled
    /// with `vars`.
    #[serde(default)]
    template: Option<String>,
    /// With `template`: the value of each of its variables.
    #[serde(default)]
    vars: BTreeMap<String, String>,
    /// Return only when it is known whether each has taken it.
    #[serde(default)]
    wait: bool,
    /// With `wait`: for so long at most; 50 if not given, 300 at most.
    #[serde(default)]
    timeout_seconds: Option<u64>,
    /// The same key again sends nothing more.
    #[serde(default)]
    idempotency_key: Option<String>,
    /// Send it as a command of the agent's program, such as `/compact`. Only a
    /// person may send one.
    #[serde(default)]
    command: bool,
    /// Refuse the prompt if it cannot be typed now, instead of queueing it.
    #[serde(default)]
    no_queue: bool,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct OneReceipt {
    /// What `dispatch` returned.
    #[schemars(with = "String")]
    receipt: ReceiptId,
}

pub(super) fn dispatch(door: &Door, wanted: Dispatch) -> Outcome {
    let Dispatch { agents, prompt, template, vars, wait, timeout_seconds, .. } = wanted;
    let Dispatch { idempotency_key, command, no_queue, .. } = wanted;
    if agents.is_empty() {
        return Err(Failure::new("No agent is named", "`list_agents` names those there are"));
    }
    let key = match idempotency_key {
        Some(key) => Some(key),
        None => random_id().ok(),
    };
    let request = match (prompt, template) {
        (Some(prompt), None) => {
            let anyway = false;
            Request::Dispatch { agents, prompt, idempotency_key: key, anyway, command, no_queue }
        }
        (None, Some(template)) => Request::DispatchTemplate {
            agents,
            template,
            vars,
            idempotency_key: key,
            anyway: false,
            no_queue,
        },
        _ => {
            let hint = "Give `prompt`, or `template` with `vars`";
            return Err(Failure::new("A prompt or a template, one of the two", hint));
        }
    };
    let mut receipts = receipts_of(door.ask(request)?)?;
    if wait {
        let ids: Vec<ReceiptId> = receipts.iter().map(|receipt| receipt.receipt).collect();
        let request = Request::AwaitReceipts { receipts: ids };
        let patience: Duration = patience(timeout_seconds);
        let Some(response) = door.ask_within(request, patience)? else {
            let mut answer = told(&receipts);
            answer["hint"] = "No outcome yet: call `wait` with a receipt".into();
            return Ok(answer);
        };
        receipts = receipts_of(response)?;
    }
    Ok(told(&receipts))
}

/// Hands a prompt over and returns its receipts.
pub(super) fn send(
    door: &Door,
    agents: Vec<String>,
    prompt: String,
    key: Option<String>,
) -> Outcome {
    let idempotency_key = key.or_else(|| random_id().ok());
    let (anyway, command, no_queue) = (false, false, false);
    let request = Request::Dispatch { agents, prompt, idempotency_key, anyway, command, no_queue };
    Ok(told(&receipts_of(door.ask(request)?)?)["receipts"].take())
}

pub(super) fn withdraw_prompt(door: &Door, wanted: OneReceipt) -> Outcome {
    let OneReceipt { receipt } = wanted;
    Ok(told(&receipts_of(door.ask(Request::Withdraw { receipt })?)?))
}

pub(super) fn receipts_of(response: Response) -> Result<Vec<Receipt>, Failure> {
    let Response::Done(done) = response else { return Err(Failure::unexpected()) };
    Ok(done.receipts)
}

pub(super) fn told(receipts: &[Receipt]) -> Value {
    let one = |receipt: &Receipt| {
        let mut told = json!({
            "receipt": receipt.receipt.to_string(),
            "agent": receipt.agent,
            "state": receipt.state,
        });
        if let Some(reason) = &receipt.reason {
            told["reason"] = reason.clone().into();
        }
        told
    };
    json!({ "receipts": receipts.iter().map(one).collect::<Vec<_>>() })
}
