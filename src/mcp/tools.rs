//! The table of tools: what each is called, which request it makes, how it teaches its use.

use std::sync::Arc;

use rmcp::handler::server::common::schema_for_type;
use rmcp::model::JsonObject;
use rmcp::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::door::Door;
use super::failure::Failure;
use super::{agents, contracts, prompts, reports, shared, task_tools, waiting};
use crate::api::{Change, RequestKind};

/// What a tool returns: a text, or something for machines.
pub(super) type Outcome = Result<Value, Failure>;

/// One tool.
pub struct ToolRow {
    pub name: &'static str,
    /// The request that it makes; whoever never may is not offered the tool.
    pub kind: RequestKind,
    pub description: &'static str,
    pub(super) schema: fn() -> Arc<JsonObject>,
    pub(super) call: fn(&Door, Value) -> Outcome,
}

macro_rules! tool {
    ($name:literal, $kind:ident, $function:path, $description:literal) => {
        ToolRow {
            name: $name,
            kind: RequestKind::$kind,
            description: $description,
            schema: || schema($function),
            call: |door, arguments| call(door, arguments, $function),
        }
    };
}

impl ToolRow {
    /// Says whether it changes nothing.
    pub fn is_reading(&self) -> bool {
        matches!(self.kind.right().change, Change::Reads | Change::Watches)
    }
}

/// Every tool, in the order in which they are offered.
pub const TOOLS: &[ToolRow] = &[
    tool!(
        "whoami",
        Me,
        shared::whoami,
        "Who you are: your name, role, team, current task with its tag, and your permissions."
    ),
    tool!(
        "list_agents",
        Status,
        agents::list_agents,
        "List the agents that you may see, with their states. Look here before you hand out work: `idle` and `done` are free; `waiting` has a dialog that only a person answers; `unknown` is not idle."
    ),
    tool!(
        "read_screen",
        Read,
        agents::read_screen,
        "Read an agent's screen as plain text: the last lines, or with `scrollback` its history, page by page (`before`). For facts about work use `show_task`."
    ),
    tool!(
        "explain_agent",
        Explain,
        agents::explain_agent,
        "Explain why an agent is in its state: the rule and the line of its screen."
    ),
    tool!(
        "wait",
        WaitTask,
        waiting::wait,
        "Wait for a state of an agent, of any of several tasks, or for the outcome of a prompt. Returns `reached: false` at the timeout: then call it again. Use it instead of polling."
    ),
    tool!(
        "add_tasks",
        AddTasks,
        task_tools::add_tasks,
        "Add tasks. A free agent that fits gets each one; its gates are checked before it counts as done; it is retried when it fails. Use this rather than `dispatch` for work that must be checked."
    ),
    tool!(
        "list_tasks",
        ListTasks,
        task_tools::list_tasks,
        "List the tasks that you may see, with their states."
    ),
    tool!(
        "show_task",
        ShowTask,
        task_tools::show_task,
        "Show a task with its last attempts: claims, output of gates, why it is blocked."
    ),
    tool!(
        "claim_task",
        ClaimTask,
        task_tools::claim_task,
        "Take a ready task, or assign it to an agent that you lead. Its prompt follows."
    ),
    tool!(
        "retry_task",
        RetryTask,
        task_tools::retry_task,
        "Retry a task with advice: the answer to what blocked it, or another approach. Not for tasks that are done or being checked."
    ),
    tool!(
        "cancel_task",
        CancelTask,
        task_tools::cancel_task,
        "Cancel a task. The agent that works on it is interrupted."
    ),
    tool!(
        "dispatch",
        Dispatch,
        prompts::dispatch,
        "Send a prompt to agents; it is typed when each can take one. Returns receipts; with `wait`, the outcome. This makes no task: for work that must be checked use `add_tasks`."
    ),
    tool!(
        "withdraw_prompt",
        Withdraw,
        prompts::withdraw_prompt,
        "Take back a prompt that has not been typed yet."
    ),
    tool!(
        "interrupt_agent",
        Interrupt,
        agents::interrupt_agent,
        "Interrupt what an agent is doing. It stays ready for the next prompt."
    ),
    tool!(
        "start_agents",
        Start,
        agents::start_agents,
        "Start agents of your team that are not running."
    ),
    tool!(
        "stop_agents",
        Stop,
        agents::stop_agents,
        "Stop agents and every process that they started."
    ),
    tool!(
        "restart_agents",
        Restart,
        agents::restart_agents,
        "Stop agents and start them again, with a new conversation."
    ),
    tool!(
        "add_agent",
        Add,
        agents::add_agent,
        "Start one more agent, with a CLI that your team allows (`whoami` lists them). You lead it; stop it with `stop_agents` when it is no longer needed."
    ),
    tool!(
        "remove_agents",
        Forget,
        agents::remove_agents,
        "Remove agents that you started and that have ended."
    ),
    tool!(
        "report_status",
        Report,
        reports::report_status,
        "Report that your task is done (with evidence), blocked (with exactly what you need) or failed for good. The hub checks `done`; the answer says how."
    ),
    tool!(
        "report_progress",
        Report,
        reports::report_progress,
        "Report which step of how many is completed. Do it every two minutes on long tasks; otherwise you count as stuck."
    ),
    tool!(
        "report_build",
        Report,
        reports::report_build,
        "Report that a build or test run passed or failed. Nothing counts as done while the last one failed."
    ),
    tool!(
        "ask_need",
        Report,
        reports::ask_need,
        "Ask for something that another agent owns. Its owner is told, and you are told when it is ready; do what you can meanwhile."
    ),
    tool!(
        "publish_contract",
        Report,
        reports::publish_contract,
        "Publish an interface that others build on, in its exact form. Agents that depend on you are told; the same title again makes the next version."
    ),
    tool!(
        "hand_on_artifact",
        Report,
        reports::hand_on_artifact,
        "Hand on a file of your workspace as a result of your task. With `schema` it is checked first."
    ),
    tool!(
        "list_contracts",
        Contracts,
        contracts::list_contracts,
        "List the contracts (interfaces) that agents have published."
    ),
    tool!(
        "read_contract",
        Contracts,
        contracts::read_contract,
        "Read a contract. Build on it, not on guesses."
    ),
    tool!(
        "take_lock",
        TakeLock,
        shared::take_lock,
        "Take a lock on something that only one agent may change at a time, or queue for it. Release it with `release_lock`."
    ),
    tool!("release_lock", ReleaseLock, shared::release_lock, "Release a lock, or leave its queue."),
    tool!(
        "list_locks",
        ListLocks,
        shared::list_locks,
        "List the locks, who holds them and who is queued."
    ),
    tool!(
        "list_attention",
        Attention,
        shared::list_attention,
        "List what needs a person, most urgent first: dialogs, blocked tasks, conflicts. You cannot answer a dialog; work around it, or report it."
    ),
    tool!(
        "list_events",
        Events,
        shared::list_events,
        "List what happened, oldest first, in parts: pass the `last` of one answer as `after` of the next."
    ),
];

/// Returns what the tools are called.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name)
}

fn schema<T: JsonSchema + 'static>(_: fn(&Door, T) -> Outcome) -> Arc<JsonObject> {
    schema_for_type::<T>()
}

fn call<T: DeserializeOwned + JsonSchema + 'static>(
    door: &Door,
    arguments: Value,
    function: fn(&Door, T) -> Outcome,
) -> Outcome {
    let arguments = serde_json::from_value(with_integers(arguments)).map_err(|error| {
        let hint = format!("It takes {}", fields(&schema(function)));
        Failure::new(format!("The arguments do not fit: {error}"), hint)
    })?;
    function(door, arguments)
}

/// Returns the arguments with whole numbers as integers, which is what a schema calls `10.0` too.
fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64().map(|float| format!("{float:.0}")) {
            Some(digits) if number.is_f64() && number.to_string() == format!("{digits}.0") => {
                digits.parse().map_or(Value::Number(number), |whole: i64| whole.into())
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, with_integers(value))).collect()
        }
        other @ (Value::Null | Value::Bool(_) | Value::String(_)) => other,
    }
}

/// Returns what a tool takes, in words.
fn fields(schema: &JsonObject) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let field = |(name, form): (&String, &Value)| {
        let kind = form["type"].as_str().or_else(|| form["type"][0].as_str());
        let needed = if is_required(name) { ", required" } else { "" };
        format!("`{name}` ({}{needed})", kind.unwrap_or("one of a list"))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let fields: Vec<String> = properties.into_iter().flatten().map(field).collect();
    if fields.is_empty() { "no arguments".to_owned() } else { fields.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_are_integers_however_they_are_written() {
        let given = json!({"a": 10.0, "b": [3.0, 2.5, -1.0], "c": 7, "d": 1e300, "e": "5.0"});
        let taken = json!({"a": 10, "b": [3, 2.5, -1], "c": 7, "d": 1e300, "e": "5.0"});
        assert_eq!(with_integers(given), taken);
    }

    #[test]
    fn every_argument_of_every_tool_is_explained() {
        for tool in TOOLS {
            let schema = Value::Object((*(tool.schema)()).clone());
            let nested = schema["$defs"].as_object().into_iter().flatten().map(|(_, form)| form);
            for form in nested.chain([&schema]) {
                for (name, field) in form["properties"].as_object().into_iter().flatten() {
                    let is_told = field["description"].is_string() || field["$ref"].is_string();
                    assert!(is_told, "{}: `{name}` is not explained", tool.name);
                }
            }
        }
    }

    #[test]
    fn what_a_tool_takes_is_said_in_words() {
        let hint = fields(&schema(agents::read_screen));
        assert!(hint.contains("`agent` (string, required)"), "{hint}");
        assert!(hint.contains("`lines` (integer)"), "{hint}");
        assert_eq!(fields(&schema(shared::whoami)), "no arguments");
    }
}
