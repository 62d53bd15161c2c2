//! `wheelhouse wait`: returns when an agent or a prompt has come somewhere.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use super::context::Context;
use super::dispatch::exit_code;
use super::failure::Hinted;
use crate::client::ClientError;
use crate::model::{AgentState, ReceiptId};
use crate::wire::{Request, Response};

/// It did not come there in time.
pub(super) const EXIT_TIMED_OUT: u8 = 5;

/// The states in which an agent's turn is over, one way or another.
const RESTING: [AgentState; 6] = [
    AgentState::Idle,
    AgentState::Waiting,
    AgentState::Blocked,
    AgentState::Done,
    AgentState::Error,
    AgentState::Limited,
];

pub(super) fn wait(
    context: &Context,
    (agent, receipt): (Option<String>, Option<ReceiptId>),
    states: &[String],
    timeout: Option<u64>,
) -> anyhow::Result<ExitCode> {
    let request = match (agent, receipt) {
        (Some(agent), _) => Request::AwaitAgent { agent, states: parse(states)? },
        (None, Some(receipt)) => Request::AwaitReceipts { receipts: vec![receipt] },
        (None, None) => {
            let hint = "Name it: `wheelhouse wait --agent NAME --for idle`";
            return Err(Hinted::error("Wait for what?", hint));
        }
    };
    let mut connection = context.connect()?;
    if let Some(seconds) = timeout {
        connection.set_patience(Duration::from_secs(seconds.max(1)))?;
    }
    match connection.ask(request.clone()) {
        Err(error) if is_timed_out(&error) => Ok(ExitCode::from(EXIT_TIMED_OUT)),
        Err(ClientError::Closed | ClientError::Lost(_)) => Ok(code(&context.ask(request)?)),
        outcome => Ok(code(&outcome?)),
    }
}

fn code(response: &Response) -> ExitCode {
    let Response::Done(done) = response else { return ExitCode::SUCCESS };
    let codes = done.receipts.iter().map(|receipt| exit_code(receipt.state));
    ExitCode::from(codes.max().unwrap_or_default())
}

fn parse(states: &[String]) -> anyhow::Result<Vec<AgentState>> {
    if states.is_empty() {
        return Ok(RESTING.to_vec());
    }
    states
        .iter()
        .map(|name| {
            let quoted = serde_json::Value::String(name.to_lowercase());
            serde_json::from_value(quoted).map_err(|_| {
                let hint = "States are starting, idle, working, waiting, blocked, done, error, \
                            limited, unknown and exited";
                Hinted::error(format!("`{name}` is not a state"), hint)
            })
        })
        .collect()
}

/// Says whether nothing came for as long as we were told to wait.
pub(super) fn is_timed_out(error: &ClientError) -> bool {
    let ClientError::Lost(error) = error else { return false };
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
