//! Tools about what all share: locks, what waits for a person, what happened, and who one is.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::agents::Nothing;
use super::door::Door;
use super::failure::Failure;
use super::page::{Page, beginning, page};
use super::tools::Outcome;
use super::waiting::patience;
use crate::api::{Identity, LockRequest, LockStatus, Request, Response, TaskRequest};

/// What is shown of one event or item.
const TEXT_BYTES_MAX: usize = 600;
const EVENTS_USUAL: usize = 30;
const EVENTS_MAX: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct TakeLock {
    /// Up to 64 letters, digits and `-_./`, such as `db/schema`.
    name: String,
    /// Give it back after so long at the latest; 1800 if not given.
    #[serde(default)]
    limit_seconds: Option<u64>,
    /// Wait until it is yours, for so long at most; else you are in line and call again.
    #[serde(default)]
    wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct OneLock {
    /// As `take_lock` or `list_locks` names it.
    name: String,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(default, deny_unknown_fields)]
pub(super) struct ListEvents {
    /// Only what came after the event with this number: the `last` of the answer before.
    after: u64,
    /// 30 if not given, 100 at most.
    limit: Option<usize>,
    /// Only entries about this agent.
    agent: Option<String>,
    /// Only entries about this task, by its id.
    task: Option<String>,
    /// Only kinds that begin like this, such as `task.`.
    kind: Option<String>,
}

pub(super) fn whoami(door: &Door, _: Nothing) -> Outcome {
    let who = identity(door)?;
    let mut told = json!(who);
    if who.agent.is_none() {
        told["speaker"] = "a person".into();
    }
    Ok(told)
}

pub(super) fn identity(door: &Door) -> Result<Identity, Failure> {
    let Response::Me(who) = door.ask(Request::Me)? else { return Err(Failure::unexpected()) };
    Ok(*who)
}

/// Returns the name of the agent that calls.
pub(super) fn own_name(door: &Door) -> Result<String, Failure> {
    let hint = "Name an agent; `list_agents` tells those there are";
    identity(door)?.agent.ok_or_else(|| Failure::new("No agent is named", hint))
}

pub(super) fn take_lock(door: &Door, wanted: TakeLock) -> Outcome {
    let TakeLock { name, limit_seconds, wait_seconds } = wanted;
    let limit_ms = limit_seconds.map(|seconds| seconds.saturating_mul(1000));
    let mine = identity(door)?.agent;
    let take = LockRequest::Take { name: name.clone(), limit_ms };
    let mut lock = held(door.ask(Request::Lock { ask: take })?)?;
    let is_mine = |lock: &Option<LockStatus>| lock.as_ref().is_some_and(|one| one.holder == mine);
    if let Some(seconds) = wait_seconds.filter(|_| !is_mine(&lock)) {
        let request = Request::Lock { ask: LockRequest::Await { name: name.clone() } };
        if let Some(response) = door.ask_within(request, patience(Some(seconds)))? {
            lock = held(response)?;
        }
    }
    let mut answer = json!({ "is_yours": is_mine(&lock), "lock": lock });
    if !is_mine(&lock) {
        answer["hint"] =
            "You are queued: call `take_lock` again, or `release_lock` to leave the queue".into();
    }
    Ok(answer)
}

pub(super) fn release_lock(door: &Door, wanted: OneLock) -> Outcome {
    let OneLock { name } = wanted;
    let ask = LockRequest::Release { name: name.clone() };
    door.ask(Request::Lock { ask })?;
    Ok(json!({ "released": Value::from(name) }))
}

pub(super) fn list_locks(door: &Door, wanted: Page) -> Outcome {
    let Response::Locks { locks } = door.ask(Request::Lock { ask: LockRequest::List })? else {
        return Err(Failure::unexpected());
    };
    Ok(page("locks", locks.iter().map(|lock| json!(lock)).collect(), wanted))
}

fn held(response: Response) -> Result<Option<LockStatus>, Failure> {
    let Response::Done(done) = response else { return Err(Failure::unexpected()) };
    Ok(done.locks.first().map(LockStatus::from))
}

pub(super) fn list_attention(door: &Door, wanted: Page) -> Outcome {
    let request = Request::Task { ask: TaskRequest::Attention };
    let Response::Attention { items } = door.ask(request)? else {
        return Err(Failure::unexpected());
    };
    let told = items.iter().map(|item| {
        json!({
            "id": item.id,
            "kind": item.kind,
            "agent": item.agent,
            "task": item.task,
            "text": beginning(&item.text, TEXT_BYTES_MAX),
            "since": item.since,
        })
    });
    Ok(page("attention", told.collect(), wanted))
}

pub(super) fn list_events(door: &Door, wanted: ListEvents) -> Outcome {
    let ListEvents { after, limit, agent, task, kind } = wanted;
    let limit = limit.unwrap_or(EVENTS_USUAL).clamp(1, EVENTS_MAX);
    let request = Request::Events { after, limit, agent, task, kind };
    let Response::Events { events, last, .. } = door.ask(request)? else {
        return Err(Failure::unexpected());
    };
    let told: Vec<Value> = events
        .iter()
        .map(|event| {
            json!({
                "id": event.id,
                "at": event.at,
                "kind": event.kind,
                "agent": event.agent,
                "task": event.task,
                "text": beginning(&event.text, TEXT_BYTES_MAX),
            })
        })
        .collect();
    // Where nothing was found, the next look begins where this one did.
    Ok(json!({ "events": told, "last": last.max(after), "is_end": last == 0 }))
}
