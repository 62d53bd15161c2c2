//! A run without a dashboard: tells what happens, helps where it can, and says how it ended.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::super::args::RunArgs;
use super::super::context::{Context, caller_environment};
use super::perform::{ask, runs};
use crate::api::{AgentStatus, Request, Response, RunRequest, RunStatus};
use crate::client::{self, Connection};
use crate::config::{Paths, plain, plain_json};
use crate::model::{AgentName, AgentState, Ending, PlayId, PlayState, Stage};
use crate::store::{Journal, Query, Recorded};

/// How it ended, for scripts.
const EXIT_PARTIAL: u8 = 10;
const EXIT_FAILED: u8 = 11;
const EXIT_NEEDS_PERSON: u8 = 12;
/// Whoever looked on was interrupted; shells say it so.
const EXIT_INTERRUPTED: u8 = 130;

/// What is read of the journal at once.
const PAGE: usize = 1000;

/// The hub tells of news before they are on the disk: they are looked for again after this long.
const PAUSE: Duration = Duration::from_millis(100);

/// Agents that are lost this often are not lost by accident.
const REVIVALS_MAX: u32 = 5;

/// Someone who looks on at a run.
pub(super) struct Follow {
    run: RunStatus,
    agents: BTreeSet<String>,
    is_json: bool,
    keep: bool,
    began: Instant,
    revivals: u32,
    /// An agent has ended since they were last looked at.
    has_loss: bool,
    /// Where the run stands, and why.
    state: PlayState,
    note: Option<String>,
}

/// Follows a run to its end, or until it needs a person.
pub(super) fn follow(
    context: &mut Context,
    mut follow: Follow,
    after: u64,
    timeout: Option<Duration>,
) -> anyhow::Result<ExitCode> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&is_interrupted))?;
    }
    let journal = Journal::open(&context.paths.record())?;
    let id: PlayId = follow.run.id.parse()?;
    let mut query = Query { after, limit: PAGE, ..Query::default() };
    let mut news = None;
    loop {
        let found = journal.entries(&query)?;
        for entry in &found {
            query.after = entry.id;
            follow.take(context, entry)?;
        }
        context.out.flush()?;
        if found.len() == PAGE {
            continue;
        }
        if follow.state.is_over() {
            return follow.end(context, id);
        }
        if is_interrupted.load(Ordering::Relaxed) {
            return follow.leave(context, id);
        }
        if follow.revive(context, id)? {
            continue;
        }
        if follow.state == PlayState::NeedsPerson {
            return follow.end(context, id);
        }
        if timeout.is_some_and(|timeout| follow.began.elapsed() >= timeout) {
            let limit = timeout.unwrap_or_default().as_secs();
            (follow.state, follow.note) =
                (PlayState::NeedsPerson, Some(format!("it had not ended after {limit} seconds")));
            return follow.end(context, id);
        }
        wait_for_news(&mut news, &context.paths);
    }
}

impl Follow {
    pub(super) fn new(run: RunStatus, args: &RunArgs) -> Self {
        Self {
            agents: run.agents.iter().cloned().collect(),
            is_json: args.format.json,
            keep: args.keep,
            began: now(),
            revivals: 0,
            has_loss: false,
            state: run.state,
            note: run.note.clone(),
            run,
        }
    }

    /// Tells one thing that happened, if it has to do with the run.
    fn take(&mut self, context: &mut Context, recorded: &Recorded) -> anyhow::Result<()> {
        let entry = &recorded.entry;
        let run = entry.data["run"].as_str();
        let is_agents = entry.agent.as_ref().is_some_and(|one| self.agents.contains(one.as_str()));
        let is_ours = run == Some(&self.run.id) || run.is_none() && is_agents;
        if !is_ours {
            return Ok(());
        }
        self.has_loss |= is_agents && entry.kind == "agent.ended";
        let (subject, what) = entry.kind.split_once('.').unwrap_or((&entry.kind, ""));
        if subject == "run" {
            let state = serde_json::from_value(Value::from(what));
            if let Ok(state) = state {
                (self.state, self.note) = (state, Some(entry.text.clone()));
            }
        }
        if self.is_json {
            let line = self.line(recorded, subject, what);
            writeln!(context.out, "{}", plain_json(&line.to_string()))?;
            return Ok(());
        }
        if !is_worth_a_line(&entry.kind) {
            return Ok(());
        }
        let at = self.began.elapsed().as_secs_f64();
        let key = entry.data["key"].as_str().or(entry.task.as_deref()).unwrap_or("");
        let agent = entry.agent.as_ref().map_or("", AgentName::as_str);
        let text = entry.text.lines().next().unwrap_or_default();
        let words = format!("{key:<16} {:<18} {agent:<12} {text}", entry.kind);
        writeln!(context.out, "{at:6.1} s  {}", plain(words.trim_end()))?;
        Ok(())
    }

    fn line(&self, recorded: &Recorded, subject: &str, what: &str) -> Value {
        let entry = &recorded.entry;
        // How a run stands is told by the last line; what happens to it until then is news.
        let kind = if subject == "run" { "news" } else { subject };
        let state = if entry.kind == "agent.state" { &entry.text } else { what };
        let mut line = json!({
            "type": kind,
            "seq": recorded.id,
            "at": recorded.at.to_rfc3339(),
            "run": self.run.id,
            "event": entry.kind,
            "text": entry.text,
        });
        if matches!(subject, "task" | "agent" | "run" | "gate" | "lock") {
            line["state"] = state.into();
        }
        for (name, value) in [
            ("agent", entry.agent.as_ref().map(ToString::to_string)),
            ("task", entry.task.clone()),
            ("key", entry.data["key"].as_str().map(str::to_owned)),
        ] {
            if let Some(value) = value {
                line[name] = value.into();
            }
        }
        line
    }

    /// Starts agents again that were lost or that nothing reaches any more, and says whether there
    /// were any.
    fn revive(&mut self, context: &Context, id: PlayId) -> anyhow::Result<bool> {
        let is_due = std::mem::take(&mut self.has_loss) || self.state == PlayState::NeedsPerson;
        if !is_due || self.revivals >= REVIVALS_MAX {
            return Ok(false);
        }
        let Response::Status(status) = context.ask(Request::Status)? else { return Ok(false) };
        let stopped = Ending::Stopped.to_string();
        let is_lost = |agent: &AgentStatus| {
            agent.state == AgentState::Exited && agent.ending.as_ref() != Some(&stopped)
        };
        // The hub died while it typed: what became of the prompt nobody knows.
        let is_hung = |agent: &AgentStatus| {
            let receipt = agent.receipt.as_ref().map(|receipt| receipt.state);
            agent.state != AgentState::Working
                && matches!(receipt, Some(Stage::Stalled | Stage::Unknown))
        };
        let needs_help = |agent: &AgentStatus| {
            let is_ours = self.agents.contains(&agent.name);
            is_ours && (is_lost(agent) || is_hung(agent))
        };
        let is_open = status.runs.iter().any(|run| run.id == self.run.id && !run.state.is_over());
        if !is_open || !status.agents.iter().any(needs_help) {
            return Ok(false);
        }
        self.revivals += 1;
        let (run, environment) = (id.to_string(), caller_environment());
        ask(context, None, RunRequest::Resume { run, environment })?;
        // What stood still does so no more; if it does, that will be told anew.
        self.state = PlayState::Running;
        Ok(true)
    }

    /// Ends what the run started, and says how it ended.
    pub(super) fn end(&mut self, context: &mut Context, id: PlayId) -> anyhow::Result<ExitCode> {
        if self.state.is_over() && !self.keep {
            self.stop_own(context)?;
        }
        let (word, code) = match self.state {
            PlayState::Done => ("done", 0),
            PlayState::Partial => ("partial", EXIT_PARTIAL),
            PlayState::Cancelled if !self.is_json => ("cancelled", EXIT_FAILED),
            PlayState::Failed | PlayState::Cancelled => ("failed", EXIT_FAILED),
            PlayState::Running | PlayState::NeedsPerson => ("needs_person", EXIT_NEEDS_PERSON),
        };
        let needs_person = code == EXIT_NEEDS_PERSON;
        let hint = format!("See `wheelhouse attention`, then `wheelhouse run --resume {id}`");
        let note = self.note.clone().filter(|_| self.state != PlayState::Done);
        if self.is_json {
            let mut line = json!({ "type": "run", "state": word, "run": id });
            if let Some(note) = note {
                line["text"] = note.into();
            }
            if needs_person {
                line["hint"] = hint.into();
            }
            writeln!(context.out, "{}", plain_json(&line.to_string()))?;
        } else {
            let why = note.map(|note| format!(": {}", plain(&note))).unwrap_or_default();
            let word = if needs_person { "needs a person" } else { word };
            writeln!(context.out, "Run {id} {}{word}{why}", if needs_person { "" } else { "is " })?;
            if needs_person {
                writeln!(context.out, "{hint}")?;
            }
        }
        Ok(ExitCode::from(code))
    }

    /// Looks on no longer; the run goes on, since it is the hub's and not ours.
    fn leave(&self, context: &mut Context, id: PlayId) -> anyhow::Result<ExitCode> {
        let text = "no longer watched; it goes on";
        let hint = format!(
            "Watch it with `wheelhouse run --resume {id} --headless`, cancel it with `wheelhouse run --cancel {id}`"
        );
        if self.is_json {
            let line = json!({
                "type": "run", "state": "needs_person", "run": id, "text": text, "hint": hint,
            });
            writeln!(context.out, "{}", plain_json(&line.to_string()))?;
        } else {
            writeln!(context.out, "Run {id}: {text}\n{hint}")?;
        }
        Ok(ExitCode::from(EXIT_INTERRUPTED))
    }

    fn stop_own(&self, context: &Context) -> anyhow::Result<()> {
        let found = runs(context)?.into_iter().find(|run| run.id == self.run.id);
        let own = found.map(|run| run.own).unwrap_or_default();
        let Response::Status(status) = context.ask(Request::Status)? else { return Ok(()) };
        let lives = |name: &String| {
            let agent = status.agents.iter().find(|agent| agent.name == *name);
            agent.is_some_and(|agent| agent.state != AgentState::Exited)
        };
        let agents: Vec<String> = own.into_iter().filter(lives).collect();
        if !agents.is_empty() {
            context.ask(Request::Stop { agents, grace_ms: None })?;
        }
        Ok(())
    }
}

/// Says whether a person who reads along wants to know.
fn is_worth_a_line(kind: &str) -> bool {
    let is_noise = ["dispatch.", "agent.s", "agent.conversation", "report.ignored"]
        .iter()
        .any(|prefix| kind.starts_with(prefix));
    !is_noise && kind != "task.added"
}

/// Waits until the hub says that something has changed; starts it where it is gone for good.
fn wait_for_news(news: &mut Option<Connection>, paths: &Paths) {
    if let Some(connection) = news {
        match connection.receive() {
            Err(error) if !error.is_timeout() => *news = None,
            _ => return,
        }
    }
    thread::sleep(PAUSE);
    *news = subscribe(paths);
}

fn subscribe(paths: &Paths) -> Option<Connection> {
    let mut connection = client::connect(paths).ok()?;
    connection.set_patience(PAUSE).ok()?;
    connection.send(Request::Subscribe).ok()?;
    Some(connection)
}

#[expect(clippy::disallowed_methods, reason = "a story tells when things happen")]
fn now() -> Instant {
    Instant::now()
}
