//! The tool that waits: for an agent, for tasks, for a prompt.

use std::thread;
use std::time::{Duration, Instant};

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::agents::at_a_glance;
use super::door::Door;
use super::failure::Failure;
use super::prompts::{receipts_of, told};
use super::tools::Outcome;
use crate::api::{Request, Response, TaskRequest, TaskStatus};
use crate::model::{AgentState, ReceiptId, TaskState};

/// Most clients give a tool a minute unless they are told otherwise.
const SECONDS_USUAL: u64 = 50;
const SECONDS_MAX: u64 = 300;

const AGENT_STATES: &str = "An agent is starting, idle, working, waiting, blocked, done, error, \
    limited, unknown or exited";
const TASK_STATES: &str = "A task is pending, ready, running, claimed, done, blocked, failed, \
    interrupted or cancelled";

/// How often tasks are looked at that cannot be waited for.
const STEP: Duration = Duration::from_millis(500);

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wait {
    /// Wait for this agent …
    agent: Option<String>,
    /// … or until any of these tasks gets there …
    tasks: Vec<String>,
    /// … or until it is known what became of this prompt.
    #[schemars(with = "Option<String>")]
    receipt: Option<ReceiptId>,
    /// The states to wait for. An agent: starting, idle, working, waiting, blocked, done, error,
    /// limited, unknown, exited; if none is given, any in which it does not work. A task: pending,
    /// ready, running, claimed, done, blocked, failed, interrupted, cancelled; if none is given:
    /// done, blocked, failed, cancelled.
    states: Vec<String>,
    /// For so long at most; 50 if not given, 300 at most.
    timeout_seconds: Option<u64>,
}

/// Returns how long to wait.
pub(super) fn patience(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(SECONDS_USUAL).clamp(1, SECONDS_MAX))
}

pub(super) fn wait(door: &Door, wanted: Wait) -> Outcome {
    let patience = patience(wanted.timeout_seconds);
    let given = [wanted.agent.is_some(), !wanted.tasks.is_empty(), wanted.receipt.is_some()];
    if given.into_iter().filter(|is_given| *is_given).count() > 1 {
        let hint = "Give one of `agent`, `tasks` and `receipt`, and call it once for each";
        return Err(Failure::new("`wait` takes one thing at a time", hint));
    }
    match wanted {
        Wait { agent: Some(agent), states, .. } => wait_for_agent(door, &agent, &states, patience),
        Wait { receipt: Some(id), .. } => {
            let receipts = vec![id];
            match door.ask_within(Request::AwaitReceipts { receipts }, patience)? {
                Some(response) => Ok(reached(true, told(&receipts_of(response)?))),
                None => Ok(reached(false, json!({ "receipt": id }))),
            }
        }
        Wait { tasks, states, .. } if !tasks.is_empty() => {
            wait_for_tasks(door, &tasks, &states, patience)
        }
        Wait { .. } => Err(Failure::new("Wait for what?", "Give `agent`, `tasks` or `receipt`")),
    }
}

fn wait_for_agent(door: &Door, agent: &str, states: &[String], patience: Duration) -> Outcome {
    let usual = [
        AgentState::Idle,
        AgentState::Waiting,
        AgentState::Blocked,
        AgentState::Done,
        AgentState::Error,
        AgentState::Limited,
        AgentState::Exited,
    ];
    let wanted: Vec<AgentState> = read(states, &usual, AGENT_STATES)?;
    let request = Request::AwaitAgent { agent: agent.to_owned(), states: wanted };
    let is_there = door.ask_within(request, patience)?.is_some();
    let Response::Status(now) = door.ask(Request::Status)? else {
        return Err(Failure::unexpected());
    };
    let found = now.agents.iter().find(|one| one.name == agent).map(at_a_glance);
    Ok(reached(is_there, json!({ "agent": found })))
}

fn wait_for_tasks(door: &Door, tasks: &[String], states: &[String], patience: Duration) -> Outcome {
    let usual = [TaskState::Done, TaskState::Blocked, TaskState::Failed, TaskState::Cancelled];
    let states: Vec<TaskState> = read(states, &usual, TASK_STATES)?;
    let until = now() + patience;
    loop {
        let Response::Tasks { tasks: mut all } =
            door.ask(Request::Task { ask: TaskRequest::List })?
        else {
            return Err(Failure::unexpected());
        };
        // One that ended long ago is no longer in the list, and can be shown all the same.
        for task in tasks {
            if all.iter().all(|known| known.id != *task)
                && let Ok(Response::Task(task)) =
                    door.ask(Request::Task { ask: TaskRequest::Show { task: task.clone() } })
            {
                all.push(TaskStatus::from(&*task));
            }
        }
        let own: Vec<&TaskStatus> = all.iter().filter(|task| tasks.contains(&task.id)).collect();
        if let Some(stranger) = tasks.iter().find(|id| own.iter().all(|task| task.id != **id)) {
            let message = format!("There is no task `{stranger}` that you may know of");
            return Err(Failure::new(message, "`list_tasks` names those there are"));
        }
        let is_there = own.iter().any(|task| states.contains(&task.state));
        let left = until.saturating_duration_since(now());
        if is_there || left.is_zero() {
            let own: Vec<Value> = own.into_iter().map(super::task_tools::at_a_glance).collect();
            return Ok(reached(is_there, json!({ "tasks": own })));
        }
        let open = own.iter().filter(|task| !task.state.is_final());
        let waits = open.map(|task| {
            let (task, states) = (task.id.clone(), states.clone());
            Request::Task { ask: TaskRequest::Wait { task, states } }
        });
        if !door.has_answer(waits.collect(), left) {
            // It could not wait: the hub is gone for a moment, or all of them have ended otherwise.
            thread::sleep(STEP.min(left));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a client waits by the clock on its wall")]
fn now() -> Instant {
    Instant::now()
}

fn reached(is_there: bool, mut answer: Value) -> Value {
    answer["reached"] = is_there.into();
    if !is_there {
        answer["hint"] = "Not yet: call `wait` again, or look with `read_screen`".into();
    }
    answer
}

fn read<S: DeserializeOwned + Clone>(
    names: &[String],
    usual: &[S],
    known: &str,
) -> Result<Vec<S>, Failure> {
    if names.is_empty() {
        return Ok(usual.to_vec());
    }
    let state = |name: &String| {
        let quoted = Value::String(name.to_lowercase());
        serde_json::from_value(quoted).map_err(|_| {
            Failure::new(format!("`{name}` is not a state of what you wait for"), known)
        })
    };
    names.iter().map(state).collect()
}
