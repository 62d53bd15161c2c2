//! Writes a run's history as Markdown.

use std::fmt::Write as _;

use super::graph::ordered;
use super::outline::{OutlineBlock, OutlineCard, OutlineLine, OutlineSection, sections, summary};
use super::run_history::RunHistory;
use super::timeline::{Axis, LEGEND, bars, cells, labels};
use crate::model::plain;

/// Columns of the timeline: a line of code that no page breaks.
const COLUMNS: usize = 72;
/// Lines of a prompt or of a gate's output; all of them are in the page and in JSON.
const QUOTE_LINES_MAX: usize = 40;

/// Writes a history.
pub fn markdown(story: &RunHistory) -> String {
    let mut out = format!("# Run {}\n", escape(&story.run.id));
    for line in summary(story) {
        let _ = write!(out, "\n{}\n", escape(&line));
    }
    for section in sections(story) {
        tell(&mut out, story, &section);
    }
    out
}

fn tell(out: &mut String, story: &RunHistory, section: &OutlineSection) {
    let _ = write!(out, "\n## {}\n\n", section.heading);
    match &section.block {
        OutlineBlock::Graph => graph(out, story),
        OutlineBlock::Timeline => timeline(out, story),
        OutlineBlock::Table { head, rows } => table(out, head, rows),
        OutlineBlock::Cards(cards) => cards.iter().for_each(|one| card(out, one)),
        OutlineBlock::Log { head, rows, remark } => {
            if let Some(remark) = remark {
                let _ = writeln!(out, "{remark}\n");
            }
            table(out, head, rows);
        }
    }
}

fn graph(out: &mut String, story: &RunHistory) {
    for (depth, task) in ordered(&story.tasks) {
        let needs: Vec<String> = task.needs.iter().map(ToString::to_string).collect();
        let after =
            if needs.is_empty() { String::new() } else { format!(" (needs {})", needs.join(", ")) };
        let indent = "  ".repeat(depth);
        let (id, title, state) = (task.id, escape(&task.title), task.state);
        let _ = writeln!(out, "{indent}- **{id}** {title}{after}: {state}");
    }
}

fn timeline(out: &mut String, story: &RunHistory) {
    let axis = Axis::of(story);
    let names = story.agents.iter().map(|agent| agent.name.as_str().len());
    let label = names.max().unwrap_or(0);
    let _ = writeln!(out, "```text");
    for agent in &story.agents {
        let line: String = cells(agent, axis, COLUMNS).iter().map(|cell| cell.sign()).collect();
        let _ = writeln!(out, "{:label$}  {}", agent.name.as_str(), line.trim_end());
        let tasks = labels(&bars(story, agent, axis), axis, COLUMNS);
        if !tasks.is_empty() {
            let _ = writeln!(out, "{:label$}  {tasks}", "");
        }
    }
    let _ = writeln!(out, "```\n\n{LEGEND}");
}

fn card(out: &mut String, card: &OutlineCard) {
    let _ = write!(out, "### {}: {}\n\n", escape(&card.title), card.state);
    for line in &card.lines {
        match line {
            OutlineLine::Head { text, state } => {
                let _ = write!(out, "\n**{}: {state}**\n\n", escape(text));
            }
            OutlineLine::Words(words) => {
                let _ = writeln!(out, "- {}", escape(words));
            }
            OutlineLine::Quote { about, text } => quote(out, about, text),
        }
    }
    out.push('\n');
}

/// Someone else's words, as code: nothing in a block that is indented is read as Markdown, and no
/// fence can end it.
fn quote(out: &mut String, about: &str, text: &str) {
    let _ = write!(out, "- {about}:\n\n");
    for line in text.lines().take(QUOTE_LINES_MAX) {
        let _ = writeln!(out, "      {}", plain(line));
    }
    let more = text.lines().count().saturating_sub(QUOTE_LINES_MAX);
    if more > 0 {
        let _ = writeln!(out, "      … {more} more lines");
    }
    out.push('\n');
}

fn table(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "| {} |", head.join(" | "));
    let _ = writeln!(out, "|{}", " --- |".repeat(head.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

/// Returns the text so that it shows as it is: no markup, no links, no rows of its own.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '!' | '~' | '$' | '@' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}
