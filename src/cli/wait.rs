//! `wheelhouse wait`: returns when an agent, a task or a prompt has come somewhere.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::args::Format;
use super::context::Context;
use super::dispatch::{exit_code, print};
use super::failure::{self, Hinted};
use super::task;
use crate::api::{Request, Response};
use crate::client::ClientError;
use crate::model::{AgentState, ReceiptId, TaskState};

/// It cannot come there any more.
const EXIT_REFUSED: u8 = 3;
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

const AGENT_STATES: &str =
    "starting, idle, working, waiting, blocked, done, error, limited, unknown and exited";
const TASK_STATES: &str =
    "pending, ready, running, claimed, done, blocked, failed, interrupted and cancelled";

/// What is waited for.
pub(super) struct What {
    pub(super) agent: Option<String>,
    pub(super) task: Option<String>,
    pub(super) receipt: Option<ReceiptId>,
}

pub(super) fn wait(
    context: &mut Context,
    what: What,
    states: &[String],
    timeout: Option<u64>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let name = what.agent.clone();
    let request = match what {
        What { task: Some(task), .. } => {
            let states = parse(states, &[TaskState::Done], TASK_STATES)?;
            return task::wait(context, &task, &states, timeout, format);
        }
        What { agent: Some(agent), .. } => {
            Request::AwaitAgent { agent, states: parse(states, &RESTING, AGENT_STATES)? }
        }
        What { receipt: Some(receipt), .. } => Request::AwaitReceipts { receipts: vec![receipt] },
        What { .. } => {
            let hint = "Type `wheelhouse wait --agent NAME --for idle`, or `--task ID`";
            return Err(Hinted::error("Wait for what?", hint));
        }
    };
    loop {
        let mut connection = context.connect()?;
        if let Some(seconds) = timeout {
            // No time at all would mean for ever.
            connection.set_patience(Duration::from_secs(seconds.max(1)))?;
        }
        match connection.ask(request.clone()) {
            Ok(response) => return told(context, name.as_deref(), response, format),
            Err(error) if error.is_timeout() => {
                let hint = "See all agents and tasks with `wheelhouse status`";
                failure::report(&Hinted::error("The state was not reached in time", hint));
                return Ok(ExitCode::from(EXIT_TIMED_OUT));
            }
            Err(error @ ClientError::Fault(_)) => {
                failure::report(&error.into());
                return Ok(ExitCode::from(EXIT_REFUSED));
            }
            // The hub comes back, and knows where everything stands.
            Err(ClientError::Closed | ClientError::Lost(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Prints where it has come, and returns the exit code that says so.
fn told(
    context: &mut Context,
    agent: Option<&str>,
    response: Response,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let Response::Done(done) = response else { return Err(ClientError::Unexpected.into()) };
    match agent.zip(done.state) {
        Some((agent, state)) if format.json => {
            context.print_json(&serde_json::json!({ "agent": agent, "state": state }))?;
        }
        Some((agent, state)) => writeln!(context.out, "{agent} {state}")?,
        None => print(context, &done.receipts, false, format)?,
    }
    let codes = done.receipts.iter().map(|receipt| exit_code(receipt.state));
    Ok(ExitCode::from(codes.max().unwrap_or_default()))
}

/// Reads the names of states, or takes those that are meant where none is named.
fn parse<S>(names: &[String], usual: &[S], known: &str) -> anyhow::Result<Vec<S>>
where
    S: DeserializeOwned + Clone,
{
    if names.is_empty() {
        return Ok(usual.to_vec());
    }
    let state = |name: &String| {
        let quoted = serde_json::Value::String(name.to_lowercase());
        serde_json::from_value(quoted).map_err(|_| {
            Hinted::error(format!("`{name}` is not a state"), format!("States are {known}"))
        })
    };
    names.iter().map(state).collect()
}
