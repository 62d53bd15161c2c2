//! `wheelhouse search PATTERN`: lines of every pane and its history, and of what was recorded of
//! agents that have ended.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;

use clap::Args;
use serde_json::json;

use super::agent::{pane_lines, text_only};
use super::args::Format;
use super::context::Context;
use super::failure::{Hinted, note};
use super::recorded;
use crate::api::{Request, Response};
use crate::client::ClientError;
use crate::model::{AgentName, Moment, Row};
use crate::recording::recorded_lines;
use crate::tui::SearchPattern;

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// A regular expression; without capital letters it finds them, too
    pattern: String,
    /// Only of these agents
    #[arg(long = "agent", value_name = "NAME", value_delimiter = ',')]
    agents: Vec<AgentName>,
    #[command(flatten)]
    format: Format,
}

/// A line that has the pattern.
struct FoundLine {
    agent: AgentName,
    /// In a pane: the number of the line, counted from the first that ever scrolled off.
    line: Option<u64>,
    /// In a recording: when it was printed.
    at: Option<Moment>,
    text: String,
}

pub(super) fn search(context: &mut Context, args: &SearchArgs) -> anyhow::Result<()> {
    let pattern = SearchPattern::new(&args.pattern).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim();
        let reason = reason.strip_prefix("error: ").unwrap_or(reason).to_owned();
        let hint = "Write `\\` before signs that shall be found as they stand";
        Hinted::error(format!("`{}` is no regular expression: {reason}", args.pattern), hint)
    })?;
    let live = live_agents(context)?;
    let mut agents: BTreeSet<AgentName> = live.union(&recorded_agents(context)).cloned().collect();
    agents.retain(|agent| args.agents.is_empty() || args.agents.contains(agent));
    let mut found = Vec::new();
    for agent in agents {
        let mut shown = Vec::new();
        if live.contains(&agent) {
            match pane_lines(context, agent.as_str(), true, usize::MAX) {
                Ok(lines) => shown.extend((lines.first..).zip(texts(lines.rows))),
                Err(error) => note(&format!("{agent} cannot be read: {error}")),
            }
            // An agent may not ask for it; what is not in the file yet is in the pane.
            drop(recorded::flush(context, agent.as_str()));
        }
        shown.retain(|(_, text)| pattern.matches(text).next().is_some());
        let cast = recorded::recording(context, &agent).unwrap_or_else(|error| {
            note(&format!("{error:#}"));
            None
        });
        for (at, text) in cast.as_ref().map(recorded_lines).unwrap_or_default() {
            // What the pane still has is found there.
            let is_shown = || shown.iter().any(|(_, other)| *other == text);
            if pattern.matches(&text).next().is_some() && !is_shown() {
                found.push(FoundLine { agent: agent.clone(), line: None, at: Some(at), text });
            }
        }
        found.extend(shown.into_iter().map(|(line, text)| FoundLine {
            agent: agent.clone(),
            line: Some(line),
            at: None,
            text,
        }));
    }
    print(context, args, &found)
}

fn print(context: &mut Context, args: &SearchArgs, found: &[FoundLine]) -> anyhow::Result<()> {
    if args.format.json {
        let told = found.iter().map(|one| {
            let at = one.at.map(Moment::to_rfc3339);
            json!({ "agent": one.agent, "line": one.line, "at": at, "text": one.text })
        });
        return context.print_json(&json!({ "lines": told.collect::<Vec<_>>() }));
    }
    for FoundLine { agent, line, at, text } in found {
        let place = line.map(|line| line.to_string()).or(at.map(Moment::to_rfc3339));
        let place = place.unwrap_or_default();
        writeln!(context.out, "{agent}:{place}: {}", text_only(text))?;
    }
    Ok(())
}

/// Returns the agents that the hub knows; without a hub, none.
fn live_agents(context: &Context) -> anyhow::Result<BTreeSet<AgentName>> {
    let mut hub = match context.connect_running() {
        Ok(hub) => hub,
        Err(ClientError::NotRunning { .. }) => return Ok(BTreeSet::new()),
        Err(error) => return Err(error.into()),
    };
    let Response::Status(status) = hub.ask(Request::Status)? else {
        return Err(ClientError::Unexpected.into());
    };
    Ok(status.agents.iter().filter_map(|agent| agent.name.parse().ok()).collect())
}

/// Returns the agents of which something is recorded.
fn recorded_agents(context: &Context) -> BTreeSet<AgentName> {
    let Ok(files) = fs::read_dir(context.paths.casts()) else { return BTreeSet::new() };
    let names = files.filter_map(Result::ok).filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let stem = name.strip_suffix(".cast")?;
        stem.strip_suffix(".1").unwrap_or(stem).parse().ok()
    });
    names.collect()
}

/// Returns the text of each row; one that the terminal broke has all of its line.
fn texts(rows: Vec<Row>) -> Vec<String> {
    let mut whole = String::new();
    let mut texts: Vec<String> = Vec::with_capacity(rows.len());
    let mut parts = 0;
    for row in rows {
        whole.push_str(&row.text());
        parts += 1;
        if !row.wrapped {
            texts.push(whole.trim_end().to_owned());
            // Rows keep their numbers: what follows the first of a line is blank.
            texts.extend(std::iter::repeat_n(String::new(), parts - 1));
            whole.clear();
            parts = 0;
        }
    }
    texts.extend((parts > 0).then_some(whole));
    texts
}
