//! Rebuilds one past moment: agents, tasks, and what needed a person.

use std::fmt::Write as _;

use serde::Serialize;

use super::details::HistoryEvent;
use super::fit::{clip, clock, wrap};
use super::text::{TextStyle, WIDTH_MIN};
use crate::api::{AttentionStatus, TaskStatus};
use crate::engine::{Phase, Record, Seat};
use crate::model::{AgentName, AgentState, Moment, Role, Row, plain};

/// A moment.
#[derive(Clone, Debug, Serialize)]
pub struct PastMoment {
    pub run: String,
    /// The last entry of the journal by then.
    pub seq: u64,
    pub at: Moment,
    /// What had just happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<HistoryEvent>,
    pub agents: Vec<PastAgent>,
    pub tasks: Vec<TaskStatus>,
    pub attention: Vec<AttentionStatus>,
}

/// An agent at that moment.
#[derive(Clone, Debug, Serialize)]
pub struct PastAgent {
    pub name: AgentName,
    pub cli: String,
    pub role: Role,
    pub state: AgentState,
    pub since: Moment,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(flatten)]
    pub footage: PastScreen,
}

/// What its terminal showed, as far as the recording tells.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PastScreen {
    #[serde(skip)]
    pub rows: Vec<Row>,
    #[serde(rename = "screen")]
    pub lines: Vec<String>,
    /// Why there is nothing to see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl PastScreen {
    /// Returns what a screen showed; blank lines at its end say nothing.
    pub fn of(rows: Vec<Row>) -> Self {
        let mut lines: Vec<String> =
            rows.iter().map(|row| row.text().trim_end().to_owned()).collect();
        lines.truncate(lines.iter().rposition(|line| !line.is_empty()).map_or(0, |at| at + 1));
        Self { rows, lines, missing: None }
    }

    pub fn missing(reason: impl Into<String>) -> Self {
        Self { missing: Some(reason.into()), ..Self::default() }
    }
}

impl PastMoment {
    /// Returns a moment as the rows of that moment tell it; `run` is only named.
    pub fn of(
        run: &str,
        record: &Record,
        (seq, at): (u64, Moment),
        event: Option<HistoryEvent>,
    ) -> Self {
        let work = &record.work;
        let hand = |agent: &AgentName| {
            let has =
                |task: &&crate::model::Task| task.open().is_some_and(|open| open.agent == *agent);
            work.tasks.iter().find(has).map(|task| task.id.to_string())
        };
        let agent = |seat: &Seat| PastAgent {
            name: seat.member.name.clone(),
            cli: seat.member.cli.clone(),
            role: seat.member.role,
            state: seat.state,
            since: seat.since,
            ending: match seat.phase {
                Phase::Leaving(ending) | Phase::Ended(ending) => Some(ending.to_string()),
                Phase::Starting | Phase::Running | Phase::Stopping | Phase::Sweeping(_) => None,
            },
            task: hand(&seat.member.name),
            footage: PastScreen::default(),
        };
        let mut seats: Vec<&Seat> = record.agents.iter().collect();
        seats.sort_by_key(|seat| (&seat.member.team, seat.member.place));
        let waits = work.attention.iter().filter(|item| !item.is_resolved);
        Self {
            run: run.to_owned(),
            seq,
            at,
            event,
            agents: seats.into_iter().map(agent).collect(),
            tasks: work.tasks.iter().map(TaskStatus::from).collect(),
            attention: waits.map(AttentionStatus::from).collect(),
        }
    }
}

/// Tells a moment.
pub fn moment_text(scene: &PastMoment, look: TextStyle) -> String {
    let mut page = Page { out: String::new(), room: look.width.max(WIDTH_MIN) };
    page.say(0, &format!("Run {} at {} UTC, entry {}", scene.run, clock(scene.at), scene.seq));
    if let Some(event) = &scene.event {
        page.say(0, &event_line(event));
    }
    if !scene.tasks.is_empty() {
        page.heading("Tasks");
    }
    for task in &scene.tasks {
        let by = task.agent.as_ref().map(|agent| format!(" by {agent}")).unwrap_or_default();
        let note = task.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        let (id, title, state) = (&task.id, &task.title, task.state);
        page.say(2, &plain(&format!("{id} {title} ({state}{by}){note}")));
    }
    if !scene.attention.is_empty() {
        page.heading("Needs you");
    }
    for item in &scene.attention {
        let about: Vec<&str> = item.agent.iter().chain(&item.task).map(String::as_str).collect();
        let (id, kind, about) = (&item.id, item.kind, about.join(" "));
        page.say(2, &plain(&format!("{id} {kind} {about}: {}", item.text)));
    }
    for agent in &scene.agents {
        page.heading(&agent_line(agent));
        if let Some(missing) = &agent.footage.missing {
            page.say(2, &plain(missing));
        }
        for line in &agent.footage.lines {
            page.line(&clip(&format!("  | {}", plain(line)), page.room));
        }
    }
    page.out
}

struct Page {
    out: String,
    room: usize,
}

impl Page {
    fn heading(&mut self, words: &str) {
        self.line("");
        self.say(0, words);
    }

    fn say(&mut self, indent: usize, words: &str) {
        for line in wrap(words, self.room - indent) {
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.out, "{}", line.trim_end());
    }
}

/// Returns what happened, in a line that is safe to print.
fn event_line(event: &HistoryEvent) -> String {
    let agent = event.agent.as_ref().map(|agent| format!("{agent} ")).unwrap_or_default();
    let task = event.task.as_ref().map(|task| format!("{task} ")).unwrap_or_default();
    plain(&format!("{agent}{task}{} {}", event.kind, event.text)).trim_end().to_owned()
}

/// Returns what an agent did, in a line that is safe to print.
fn agent_line(agent: &PastAgent) -> String {
    let task = agent.task.as_ref().map(|task| format!(", at {task}")).unwrap_or_default();
    let ending = agent.ending.as_ref().map(|ending| format!(" ({ending})")).unwrap_or_default();
    let (name, state, since) = (&agent.name, agent.state, clock(agent.since));
    plain(&format!("{name}: {state}{ending} since {since}{task}"))
}
