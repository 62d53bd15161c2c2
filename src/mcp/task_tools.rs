//! Tools about tasks.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::door::Door;
use super::failure::Failure;
use super::page::{Page, beginning, page};
use super::tools::Outcome;
use crate::api::{Request, Response, TaskRequest, TaskStatus};
use crate::client::Call;
use crate::model::{Attempt, RequestKey, Role, Task, TaskSpec, TaskState, Terms};

/// What is shown of a prompt, and of what a gate or an agent said.
const TEXT_BYTES_MAX: usize = 2 * 1024;
/// The attempts that are shown, the last ones.
const ATTEMPTS_SHOWN: usize = 3;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct AddTasks {
    /// The tasks; all of them are added, or none.
    tasks: Vec<NewTask>,
    /// The same tasks again under the same key are not added again: for when an answer was lost.
    #[serde(default)]
    idempotency_key: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct NewTask {
    /// A short name for lists.
    title: String,
    /// What the agent is told: the goal, the files, what done means. The protocol is added to it.
    prompt: String,
    /// A name by which other tasks of this call can say that they need it.
    #[serde(default)]
    key: Option<String>,
    /// Only this agent; if none is given, whoever is free and fits.
    #[serde(default)]
    agent: Option<String>,
    /// Only agents of this role: worker (the usual), lead, orchestrator or verifier.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    role: Option<Role>,
    /// Only agents with all of these capabilities.
    #[serde(default)]
    requires: Vec<String>,
    /// Tasks that come first: ids, or keys of this call.
    #[serde(default)]
    needs: Vec<String>,
    /// What the hub checks before the task is done: `file:PATH`, `regex:PATH:PATTERN`, `json:PATH`,
    /// `schema:PATH:SCHEMA`, `git:clean`, `git:commits`, `contract:TITLE`. Commands are for a person.
    #[serde(default)]
    gates: Vec<String>,
    /// The paths that it changes; tasks that share one do not run at once.
    #[serde(default)]
    owns: Vec<String>,
    /// Locks that it holds while someone works on it.
    #[serde(default)]
    locks: Vec<String>,
    /// Tasks with a higher priority go first.
    #[serde(default)]
    priority: i32,
    /// Attempts per agent before the task fails; 3 if not given.
    #[serde(default)]
    attempts: Option<u32>,
    /// How many verifiers check the result; all must agree.
    #[serde(default)]
    verifiers: u32,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListTasks {
    /// Only tasks in this state: pending, ready, running, claimed, done, blocked, failed,
    /// interrupted or cancelled.
    state: Option<String>,
    /// How many to pass over: the `next_offset` of the answer before.
    offset: usize,
    /// How many to return at most; fewer if they are long.
    limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct OneTask {
    /// The task's id, such as `t1`.
    task: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimTask {
    /// The task's id, such as `t1`; it must be ready.
    task: String,
    /// Who takes it; yourself, if you are an agent and name nobody.
    #[serde(default)]
    agent: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct RetryTask {
    /// The task's id, such as `t1`.
    task: String,
    /// What to do differently, or the answer to what it was blocked by.
    #[serde(default)]
    advice: Option<String>,
    /// Give it to this agent.
    #[serde(default)]
    agent: Option<String>,
}

pub(super) fn add_tasks(door: &Door, wanted: AddTasks) -> Outcome {
    if wanted.tasks.is_empty() {
        return Err(Failure::new("No task is given", "Give at least a `title` and a `prompt`"));
    }
    let key = wanted.idempotency_key.map(|key| key.parse::<RequestKey>()).transpose();
    let key =
        key.map_err(|error| Failure::new(error.to_string(), "Leave it out for a random one"))?;
    let specs: Result<Vec<TaskSpec>, Failure> = wanted.tasks.into_iter().map(spec).collect();
    act(door, key, TaskRequest::Add { specs: specs? })
}

fn spec(new: NewTask) -> Result<TaskSpec, Failure> {
    let agent = new.agent.as_deref().map(str::parse).transpose().map_err(|_| {
        Failure::new("That cannot name an agent", "`list_agents` names those there are")
    })?;
    let usual = Terms::default();
    let terms = Terms {
        agent,
        role: new.role,
        requires: new.requires,
        owns: new.owns,
        gates: new.gates,
        locks: new.locks,
        priority: new.priority,
        verifiers: new.verifiers,
        agree: new.verifiers,
        attempts_max: new.attempts.unwrap_or(usual.attempts_max),
        ..usual
    };
    let (key, title, prompt, needs) = (new.key, new.title, new.prompt, new.needs);
    Ok(TaskSpec { key, title, prompt, needs, play: None, terms })
}

pub(super) fn list_tasks(door: &Door, wanted: ListTasks) -> Outcome {
    let Response::Tasks { tasks } = door.ask(Request::Task { ask: TaskRequest::List })? else {
        return Err(Failure::unexpected());
    };
    let ListTasks { state, offset, limit } = wanted;
    let is_wanted = |task: &&TaskStatus| {
        state.as_ref().is_none_or(|state| task.state.to_string() == state.to_lowercase())
    };
    if let Some(state) = &state
        && TaskState::ALL.iter().all(|one| one.to_string() != state.to_lowercase())
    {
        let names: Vec<String> = TaskState::ALL.iter().map(ToString::to_string).collect();
        let hint = format!("States are {}", names.join(", "));
        return Err(Failure::new(format!("`{state}` is not a state"), hint));
    }
    let tasks = tasks.iter().filter(is_wanted).map(at_a_glance).collect();
    Ok(page("tasks", tasks, Page { offset, limit }))
}

pub(super) fn at_a_glance(task: &TaskStatus) -> Value {
    let mut told = json!({
        "id": task.id,
        "title": task.title,
        "state": task.state,
        "agent": task.agent,
        "attempt": task.attempt,
    });
    if !task.needs.is_empty() {
        told["needs"] = json!(task.needs);
    }
    if let Some(note) = &task.note {
        told["note"] = beginning(note, TEXT_BYTES_MAX).into();
    }
    told
}

pub(super) fn show_task(door: &Door, wanted: OneTask) -> Outcome {
    let ask = TaskRequest::Show { task: wanted.task };
    let Response::Task(task) = door.ask(Request::Task { ask })? else {
        return Err(Failure::unexpected());
    };
    Ok(whole(&task))
}

fn whole(task: &Task) -> Value {
    let earlier = task.attempts.len().saturating_sub(ATTEMPTS_SHOWN);
    let attempts: Vec<Value> = task.attempts[earlier..].iter().map(attempt).collect();
    json!({
        "id": task.id,
        "title": task.title,
        "state": task.state,
        "note": task.note.as_ref().map(|note| beginning(note, TEXT_BYTES_MAX)),
        "prompt": beginning(&task.prompt, TEXT_BYTES_MAX),
        "needs": task.needs,
        "gates": task.terms.gates,
        "agent": task.terms.agent,
        "added_by": task.terms.by,
        "earlier_attempts": earlier,
        "attempts": attempts,
    })
}

fn attempt(attempt: &Attempt) -> Value {
    let claim = attempt.claim.as_ref().map(|claim| {
        let gates: Vec<Value> = claim
            .gates
            .iter()
            .map(|gate| {
                let output = beginning(&gate.output, TEXT_BYTES_MAX);
                json!({ "gate": gate.gate, "passed": gate.passed, "output": output })
            })
            .collect();
        json!({ "text": beginning(&claim.text, TEXT_BYTES_MAX), "gates": gates })
    });
    let latest = attempt.steps.len().saturating_sub(5);
    json!({
        "agent": attempt.agent,
        "outcome": attempt.outcome,
        "summary": beginning(&attempt.summary, TEXT_BYTES_MAX),
        "steps": attempt.steps[latest..],
        "artifacts": attempt.artifacts.iter().map(|one| &one.path).take(50).collect::<Vec<_>>(),
        "build_passed": attempt.build,
        "refusals": attempt.refusals,
        "hold": attempt.hold,
        "claim": claim,
    })
}

pub(super) fn claim_task(door: &Door, wanted: ClaimTask) -> Outcome {
    let ClaimTask { task, agent } = wanted;
    let agent = match agent {
        Some(agent) => agent,
        None => super::shared::own_name(door)?,
    };
    act(door, None, TaskRequest::Claim { task, agent })
}

pub(super) fn retry_task(door: &Door, wanted: RetryTask) -> Outcome {
    let RetryTask { task, advice, agent } = wanted;
    act(door, None, TaskRequest::Retry { task, advice, agent })
}

pub(super) fn cancel_task(door: &Door, wanted: OneTask) -> Outcome {
    act(door, None, TaskRequest::Cancel { task: wanted.task })
}

fn act(door: &Door, key: Option<RequestKey>, ask: TaskRequest) -> Outcome {
    let Response::Done(done) = door.call(&Call::under(key, Request::Task { ask }))? else {
        return Err(Failure::unexpected());
    };
    let tasks: Vec<Value> =
        done.tasks.iter().map(|task| at_a_glance(&TaskStatus::from(task))).collect();
    Ok(json!({ "tasks": tasks }))
}
