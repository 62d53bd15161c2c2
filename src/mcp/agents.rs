//! Tools about agents: who there is, what they show, starting and stopping them.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::door::Door;
use super::failure::Failure;
use super::page::{ANSWER_BYTES_MAX, Page, page};
use super::prompts::send;
use super::tools::Outcome;
use crate::api::{AgentStatus, NewAgent, Request, Response, WantedPosting};
use crate::config::environment_of;
use crate::model::{Environment, Role};

/// Lines of a pane in one answer, unless more are asked for.
const LINES_USUAL: usize = 60;
const LINES_MAX: usize = 400;

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(default, deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct OneAgent {
    /// The agent's name, as `list_agents` tells it.
    pub(super) agent: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct SomeAgents {
    /// The agents' names, as `list_agents` tells them.
    pub(super) agents: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ReadScreen {
    /// The agent's name.
    agent: String,
    /// How many lines at most, counted from the last one; 60 if not given, 400 at most.
    #[serde(default)]
    lines: Option<usize>,
    /// Read what has scrolled away instead of what the screen shows now.
    #[serde(default)]
    scrollback: bool,
    /// Of what has scrolled away, only lines before this one, to page backwards.
    #[serde(default)]
    before: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct AddAgent {
    /// Its name: a lower-case letter, then up to 31 of a-z, 0-9, _ and -.
    name: String,
    /// What it runs: one of those that the team lets you start (`whoami` names them).
    cli: String,
    /// worker (the usual), lead or verifier.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    role: Role,
    /// Where it runs, relative to the project.
    #[serde(default)]
    cwd: Option<String>,
    /// What to tell it once it is ready.
    #[serde(default)]
    prompt: Option<String>,
}

pub(super) fn list_agents(door: &Door, wanted: Page) -> Outcome {
    let Response::Status(status) = door.ask(Request::Status)? else {
        return Err(Failure::unexpected());
    };
    Ok(page("agents", status.agents.iter().map(at_a_glance).collect(), wanted))
}

pub(super) fn at_a_glance(agent: &AgentStatus) -> Value {
    let mut told = json!({
        "name": agent.name,
        "role": agent.role,
        "cli": agent.cli,
        "team": agent.team,
        "state": agent.state,
        "since": agent.since,
    });
    let more = [
        ("task", agent.task.clone()),
        ("note", agent.note.clone()),
        ("progress", agent.progress.clone()),
        ("started_by", agent.started_by.clone()),
        ("ending", agent.ending.clone()),
        ("dialog", agent.dialog.as_ref().map(|dialog| dialog.text.clone())),
    ];
    for (name, value) in more {
        if let Some(value) = value {
            told[name] = value.into();
        }
    }
    if agent.stuck {
        told["stuck"] = true.into();
    }
    if agent.queued > 0 {
        told["prompts_waiting"] = agent.queued.into();
    }
    told
}

pub(super) fn read_screen(door: &Door, wanted: ReadScreen) -> Outcome {
    let ReadScreen { agent, lines, scrollback, before } = wanted;
    let lines = lines.unwrap_or(LINES_USUAL).clamp(1, LINES_MAX);
    if !scrollback && before.is_none() {
        let request = Request::Read { agent, lines: Some(lines), scrollback: false };
        let Response::Text { lines } = door.ask(request)? else {
            return Err(Failure::unexpected());
        };
        let shown = last_fitting(&lines);
        let left_out = lines.len() - shown.len();
        let head = format!("[{left_out} lines above these are left out: they are too long]\n");
        let head = if left_out == 0 { String::new() } else { head };
        return Ok(Value::String(head + &shown.join("\n")));
    }
    let count = u16::try_from(lines).unwrap_or(u16::MAX);
    let request = Request::History { agent, before, count };
    let Response::History { first, kept_from, committed, rows } = door.ask(request)? else {
        return Err(Failure::unexpected());
    };
    let texts: Vec<String> = rows.iter().map(|row| row.text().trim_end().to_owned()).collect();
    let shown = last_fitting(&texts);
    let kept = shown.len();
    let first = first + u64::try_from(texts.len() - kept).unwrap_or_default();
    let older = if first > kept_from {
        format!("older: read_screen with scrollback and before={first}")
    } else {
        "nothing older is kept".to_owned()
    };
    let end = first + u64::try_from(kept).unwrap_or_default();
    let head = format!("[lines {first} to {end} of {committed}; {older}]");
    Ok(Value::String(format!("{head}\n{}", shown.join("\n"))))
}

/// Returns the last lines that fit into an answer: the newest are what is wanted most.
fn last_fitting(lines: &[String]) -> &[String] {
    let mut used = 0;
    let kept = lines.iter().rev().take_while(|line| {
        let is_first = used == 0;
        used += line.len() + 1;
        is_first || used <= ANSWER_BYTES_MAX
    });
    &lines[lines.len() - kept.count()..]
}

pub(super) fn explain_agent(door: &Door, wanted: OneAgent) -> Outcome {
    let request = Request::Explain { agent: wanted.agent };
    let Response::Explanation(told) = door.ask(request)? else {
        return Err(Failure::unexpected());
    };
    Ok(json!({
        "state": told.state,
        "source": told.source,
        "rule": told.rule,
        "line": told.line,
        "age_ms": told.age_ms,
        "stuck": told.stuck,
    }))
}

fn some(wanted: SomeAgents) -> Result<Vec<String>, Failure> {
    if wanted.agents.is_empty() {
        return Err(Failure::new("No agent is named", "`list_agents` names those there are"));
    }
    Ok(wanted.agents)
}

pub(super) fn start_agents(door: &Door, wanted: SomeAgents) -> Outcome {
    let agents = some(wanted)?;
    let environment = environment_of(std::env::vars_os());
    told(door.ask(Request::Start { agents, environment })?)
}

pub(super) fn stop_agents(door: &Door, wanted: SomeAgents) -> Outcome {
    let agents = some(wanted)?;
    told(door.ask(Request::Stop { agents, grace_ms: None })?)
}

pub(super) fn restart_agents(door: &Door, wanted: SomeAgents) -> Outcome {
    let agents = some(wanted)?;
    let environment = environment_of(std::env::vars_os());
    let request = Request::Restart { agents, environment, grace_ms: None };
    told(door.ask(request)?)
}

pub(super) fn remove_agents(door: &Door, wanted: SomeAgents) -> Outcome {
    let agents = some(wanted)?;
    door.ask(Request::Forget { agents: agents.clone(), abandon: false })?;
    Ok(json!({ "removed": Value::from(agents) }))
}

pub(super) fn add_agent(door: &Door, wanted: AddAgent) -> Outcome {
    let AddAgent { name, cli, role, cwd, prompt } = wanted;
    let agent = NewAgent {
        name: name.clone(),
        cli,
        role,
        team: None,
        cwd: cwd.map(Into::into),
        env: Environment::default(),
        command: Vec::new(),
        posting: WantedPosting::default(),
    };
    let environment = environment_of(std::env::vars_os());
    let mut answer = told(door.ask(Request::Add { agent, environment })?)?;
    if let Some(prompt) = prompt {
        answer["receipts"] = send(door, vec![name], prompt, None)?;
    }
    Ok(answer)
}

pub(super) fn interrupt_agent(door: &Door, wanted: OneAgent) -> Outcome {
    let Response::Deed { state, reason } = door.ask(Request::Interrupt { agent: wanted.agent })?
    else {
        return Err(Failure::unexpected());
    };
    Ok(json!({ "state": state, "reason": reason }))
}

fn told(response: Response) -> Outcome {
    let Response::Done(done) = response else { return Err(Failure::unexpected()) };
    Ok(json!({ "started": done.started, "stopped": done.stopped, "unchanged": done.unchanged }))
}
