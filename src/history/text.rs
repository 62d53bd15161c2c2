//! Writes a history, and the list of runs, for a terminal.

use std::fmt::Write as _;

use super::fit::{clip, clock, span, time, width, wrap};
use super::graph::ordered;
use super::outline::{OutlineBlock, OutlineCard, OutlineLine, OutlineSection, sections, summary};
use super::run_history::RunHistory;
use super::run_summary::RunSummary;
use super::timeline::{Axis, Cell, LEGEND, bars, cells, labels};
use crate::model::{AgentName, plain};

/// How a text is to look.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// Columns; lines are broken there, and what is cut has a mark.
    pub width: usize,
    pub has_color: bool,
}

/// A narrower terminal gets lines that are too long rather than words in pieces.
pub(super) const WIDTH_MIN: usize = 40;
/// Lines of a prompt or of a gate's output; all of them are in the page and in JSON.
const QUOTE_LINES_MAX: usize = 6;
/// A name on the timeline gets no more columns.
const NAME_MAX: usize = 16;

/// Writes a history.
pub fn text(story: &RunHistory, look: TextStyle) -> String {
    let page = Page { story, width: look.width.max(WIDTH_MIN), has_color: look.has_color };
    let mut out = String::new();
    line_of(&mut out, 0, &page.bold(&format!("Run {}", story.run.id)));
    for line in summary(story) {
        page.wrapped(&mut out, 0, &plain(&line));
    }
    for section in sections(story) {
        page.section(&mut out, &section);
    }
    let id = &story.run.id;
    page.wrapped(&mut out, 0, "");
    page.wrapped(
        &mut out,
        0,
        &format!("Each step: `wheelhouse events --run {id}`. Any moment: `wheelhouse replay {id}`"),
    );
    out
}

/// Lists runs, newest last.
pub fn list(chapters: &[RunSummary]) -> String {
    let row = |chapter: &RunSummary| {
        let agents: Vec<&str> = chapter.agents.iter().map(AgentName::as_str).collect();
        vec![
            chapter.id.clone(),
            clock(chapter.began),
            span(chapter.until.since(chapter.began)),
            chapter.ending().to_owned(),
            agents.join(", "),
            chapter.task_counts(),
        ]
    };
    let rows: Vec<Vec<String>> = chapters.iter().map(row).collect();
    let head = ["RUN", "BEGAN", "LASTED", "END", "AGENTS", "TASKS"];
    let mut out = String::new();
    for line in table(&head, &rows) {
        let _ = writeln!(out, "{line}");
    }
    out
}

struct Page<'a> {
    story: &'a RunHistory,
    width: usize,
    has_color: bool,
}

impl Page<'_> {
    fn section(&self, out: &mut String, section: &OutlineSection) {
        // A terminal has `wheelhouse events` for it.
        if matches!(section.block, OutlineBlock::Log { .. }) {
            return;
        }
        line_of(out, 0, "");
        line_of(out, 0, &self.bold(section.heading));
        match &section.block {
            OutlineBlock::Graph => self.graph(out),
            OutlineBlock::Timeline => self.timeline(out),
            OutlineBlock::Table { head, rows } => self.table(out, head, rows),
            OutlineBlock::Cards(cards) => cards.iter().for_each(|card| self.card(out, card)),
            OutlineBlock::Log { .. } => {}
        }
    }

    /// Writes a table; where it is too wide for the terminal, row by row.
    fn table(&self, out: &mut String, head: &[&str], rows: &[Vec<String>]) {
        let lines = table(head, rows);
        if lines.iter().all(|line| width(line) + 2 <= self.width) {
            return lines.iter().for_each(|line| line_of(out, 2, line));
        }
        for row in rows {
            let mut cells = row.iter().zip(head);
            let first = cells.next().map(|(cell, _)| plain(cell)).unwrap_or_default();
            let told = cells.filter(|(cell, _)| !cell.is_empty());
            let told = told.map(|(cell, head)| format!("{} {}", head.to_lowercase(), plain(cell)));
            let told = told.collect::<Vec<_>>().join(" · ");
            self.wrapped(out, 2, &format!("{first}: {told}"));
        }
    }

    fn graph(&self, out: &mut String) {
        for (depth, task) in ordered(&self.story.tasks) {
            let needs: Vec<String> = task.needs.iter().map(ToString::to_string).collect();
            let after =
                if needs.is_empty() { String::new() } else { format!(" ← {}", needs.join(", ")) };
            let state = task.state.to_string();
            let name = format!("{} {}{after}", task.id, plain(&task.title));
            let indent = 2 + (depth * 2).min(self.width / 3);
            let room = self.width.saturating_sub(indent + state.len() + 2);
            let name = clip(&name, room);
            let pad = " ".repeat(room - width(&name) + 2);
            line_of(out, indent, &format!("{name}{pad}{state}"));
        }
    }

    fn timeline(&self, out: &mut String) {
        let axis = Axis::of(self.story);
        let names = self.story.agents.iter().map(|agent| agent.name.as_str().len());
        let label = names.max().unwrap_or(0).min(NAME_MAX);
        let columns = self.width.saturating_sub(label + 4);
        let is_short = columns < 2 * clock(axis.from).len() + 1;
        let ends = [axis.from, axis.to];
        let [from, to] = if is_short { ends.map(time) } else { ends.map(clock) };
        let gap = columns.saturating_sub(from.len() + to.len());
        line_of(out, label + 4, &format!("{from}{}{to}", " ".repeat(gap.max(1))));
        for agent in &self.story.agents {
            let name = clip(agent.name.as_str(), label).into_owned();
            let line = self.colored(&cells(agent, axis, columns));
            line_of(out, 2, &format!("{name:label$}  {line}"));
            let tasks = labels(&bars(self.story, agent, axis), axis, columns);
            if !tasks.is_empty() {
                line_of(out, label + 4, &tasks);
            }
        }
        self.wrapped(out, 2, LEGEND);
    }

    fn colored(&self, cells: &[Cell]) -> String {
        let mut line = String::new();
        for stretch in cells.chunk_by(PartialEq::eq) {
            let signs: String = stretch.iter().map(|cell| cell.sign()).collect();
            match stretch[0].color().filter(|_| self.has_color) {
                Some(color) => {
                    let _ = write!(line, "\x1b[{color}m{signs}\x1b[m");
                }
                None => line.push_str(&signs),
            }
        }
        line
    }

    fn card(&self, out: &mut String, card: &OutlineCard) {
        self.wrapped(out, 2, &format!("{}: {}", plain(&card.title), card.state));
        let mut indent = 4;
        for line in &card.lines {
            match line {
                OutlineLine::Head { text, state } => {
                    self.wrapped(out, 4, &format!("{}: {state}", plain(text)));
                    indent = 6;
                }
                OutlineLine::Words(words) => self.wrapped(out, indent, &plain(words)),
                OutlineLine::Quote { text, .. } => self.quote(out, indent, text),
            }
        }
    }

    fn quote(&self, out: &mut String, indent: usize, text: &str) {
        let room = self.width.saturating_sub(indent + 2);
        for (count, line) in text.lines().enumerate() {
            if count == QUOTE_LINES_MAX {
                let more = text.lines().count() - count;
                return line_of(out, indent, &format!("| … {more} more lines"));
            }
            line_of(out, indent, &format!("| {}", clip(&plain(line), room)));
        }
    }

    fn wrapped(&self, out: &mut String, indent: usize, words: &str) {
        for line in wrap(words, self.width.saturating_sub(indent)) {
            line_of(out, indent, &line);
        }
    }

    fn bold(&self, words: &str) -> String {
        if self.has_color { format!("\x1b[1m{words}\x1b[m") } else { words.to_owned() }
    }
}

fn line_of(out: &mut String, indent: usize, line: &str) {
    let line = format!("{}{line}", " ".repeat(indent));
    let _ = writeln!(out, "{}", line.trim_end());
}

/// Lines columns up.
fn table(head: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let head: Vec<String> = head.iter().map(|cell| cell.to_uppercase()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head)
        .chain(rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()))
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (cell, widest) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(widest - width(cell) + 2));
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
