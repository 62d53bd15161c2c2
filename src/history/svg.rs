//! Draws the page's timelines and graph.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::details::{AgentHistory, TaskHistory};
use super::fit::{clip, span};
use super::graph::ordered;
use super::html::escape;
use super::timeline::{Axis, Bar};
use crate::model::{AgentState, TaskId, plain};

/// Places on a line of time: nobody sees finer ones on any screen.
const PLACES: u64 = 4000;

/// What the colours mean.
pub(super) const KEYS: [(&str, &str); 9] = [
    ("s-working", "working"),
    ("s-idle", "idle"),
    ("s-waiting", "waits for a person"),
    ("s-blocked", "blocked"),
    ("s-stuck", "stuck"),
    ("s-limited", "limited"),
    ("s-error", "error"),
    ("s-unknown", "starting or unknown"),
    ("s-unseen", "nobody saw it"),
];

/// Draws what an agent did, and under it what it worked on.
pub(super) fn lane(agent: &AgentHistory, bars: &[Bar<'_>], axis: Axis) -> String {
    let name = escape(agent.name.as_str());
    let mut out = format!(
        "<svg class=\"lane\" width=\"100%\" height=\"44\" role=\"img\" \
         aria-label=\"What {name} did\"><rect class=\"s-absent\" width=\"100%\" height=\"18\"/>"
    );
    let mut drawn: Option<(u64, u64, &str)> = None;
    for stretch in &agent.stretches {
        let Some(class) = class_of(stretch.state) else { continue };
        let place = (axis.place(stretch.from, PLACES), axis.place(stretch.to, PLACES), class);
        // What is thinner than a place goes into what comes before it.
        match &mut drawn {
            Some(last) if last.2 == class && last.1 >= place.0 => last.1 = last.1.max(place.1),
            Some(last) if place.0 == place.1 && last.1 >= place.0 => {}
            _ => {
                if let Some(last) = drawn.replace(place) {
                    stretch_at(&mut out, last);
                }
            }
        }
    }
    if let Some(last) = drawn {
        stretch_at(&mut out, last);
    }
    for (from, to) in &agent.stuck {
        let (from, to) = (axis.place(*from, PLACES), axis.place(*to, PLACES));
        let (x, width) = (percent(from), percent((to - from).max(4)));
        let _ = write!(
            out,
            "<rect class=\"s-stuck\" x=\"{x}%\" y=\"14\" width=\"{width}%\" height=\"4\"/>"
        );
    }
    for bar in bars {
        attempt(&mut out, bar, axis);
    }
    out.push_str("</svg>");
    out
}

fn stretch_at(out: &mut String, (from, to, class): (u64, u64, &str)) {
    let (x, width) = (percent(from), percent((to - from).max(2)));
    let _ = write!(out, "<rect class=\"{class}\" x=\"{x}%\" width=\"{width}%\" height=\"18\"/>");
}

/// Draws an attempt with its task's number, which is cut where it does not fit.
fn attempt(out: &mut String, bar: &Bar<'_>, axis: Axis) {
    let (from, to) = (axis.place(bar.from, PLACES), axis.place(bar.to, PLACES));
    let (x, width) = (percent(from), percent((to - from).max(8)));
    let class: String = bar.outcome.chars().filter(char::is_ascii_alphabetic).collect();
    let lasted = span(bar.to.since(bar.from));
    let about = format!("{} {}: {}, {lasted}", bar.task, bar.title, bar.outcome);
    let _ = write!(
        out,
        "<svg x=\"{x}%\" y=\"22\" width=\"{width}%\" height=\"20\"><title>{}</title>\
         <rect class=\"bar b-{class}\" width=\"100%\" height=\"20\" rx=\"3\"/>\
         <text x=\"4\" y=\"14\">{} {}</text></svg>",
        escape(&about),
        bar.task,
        escape(bar.title),
    );
}

/// Returns a place in hundredths of the width.
fn percent(place: u64) -> String {
    let hundredths = place * 10_000 / PLACES;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn class_of(state: Option<AgentState>) -> Option<&'static str> {
    Some(match state {
        None => "s-unseen",
        Some(AgentState::Working) => "s-working",
        Some(AgentState::Idle | AgentState::Done) => "s-idle",
        Some(AgentState::Waiting) => "s-waiting",
        Some(AgentState::Blocked) => "s-blocked",
        Some(AgentState::Limited) => "s-limited",
        Some(AgentState::Error) => "s-error",
        Some(AgentState::Starting | AgentState::Unknown) => "s-unknown",
        Some(AgentState::Exited) => return None,
    })
}

const BOX_WIDTH: usize = 190;
const BOX_HEIGHT: usize = 46;
const GAP_ACROSS: usize = 46;
const GAP_DOWN: usize = 14;
/// Letters of a title that fit into a box.
const TITLE_COLUMNS: usize = 24;

/// Draws which task needs which.
pub(super) fn graph(tasks: &[TaskHistory]) -> String {
    let mut places: BTreeMap<TaskId, (usize, usize)> = BTreeMap::new();
    let mut filled: Vec<usize> = Vec::new();
    for (depth, task) in ordered(tasks) {
        if filled.len() <= depth {
            filled.resize(depth + 1, 0);
        }
        let place = (depth * (BOX_WIDTH + GAP_ACROSS), filled[depth] * (BOX_HEIGHT + GAP_DOWN));
        filled[depth] += 1;
        places.insert(task.id, place);
    }
    // The boxes' edges are drawn half outside of them.
    let width = (filled.len() * (BOX_WIDTH + GAP_ACROSS)).saturating_sub(GAP_ACROSS) + 2;
    let height = filled.iter().max().unwrap_or(&0) * (BOX_HEIGHT + GAP_DOWN);
    let mut out = format!(
        "<svg class=\"graph\" width=\"{width}\" height=\"{height}\" viewBox=\"-1 -1 {width} {height}\" \
         role=\"img\" aria-label=\"Which task needs which\">"
    );
    for task in tasks {
        for need in task.needs.iter().chain(&task.verifies) {
            let (Some(from), Some(to)) = (places.get(need), places.get(&task.id)) else { continue };
            edge(&mut out, *from, *to);
        }
    }
    for task in tasks {
        node(&mut out, task, places[&task.id]);
    }
    out.push_str("</svg>");
    out
}

fn edge(out: &mut String, from: (usize, usize), to: (usize, usize)) {
    let (x1, y1) = (from.0 + BOX_WIDTH, from.1 + BOX_HEIGHT / 2);
    let (x2, y2) = (to.0, to.1 + BOX_HEIGHT / 2);
    let (near, far) = (x1 + GAP_ACROSS / 2, x2.saturating_sub(GAP_ACROSS / 2));
    let _ = write!(out, "<path class=\"edge\" d=\"M{x1} {y1}C{near} {y1} {far} {y2} {x2} {y2}\"/>");
}

fn node(out: &mut String, task: &TaskHistory, (x, y): (usize, usize)) {
    let state = task.state.to_string();
    let title = plain(&task.title);
    let who = task.attempts.last().map(|last| format!(" · {}", last.agent)).unwrap_or_default();
    let _ = write!(
        out,
        "<g><title>{}</title><rect class=\"node b-{state}\" x=\"{x}\" y=\"{y}\" \
         width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"6\"/>\
         <text x=\"{}\" y=\"{}\"><tspan class=\"strong\">{}</tspan> {}</text>\
         <text class=\"small\" x=\"{}\" y=\"{}\">{}</text></g>",
        escape(&task.title),
        x + 10,
        y + 19,
        task.id,
        escape(&clip(&title, TITLE_COLUMNS - task.id.to_string().len())),
        x + 10,
        y + 36,
        escape(&clip(&format!("{state}{who}"), TITLE_COLUMNS + 2)),
    );
}
