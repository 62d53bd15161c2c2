//! Links: looked for when someone asks, and shown with where they lead before anything is opened.

use super::from_hub::words;
use crate::api::{Fault, Request, Response};
use crate::model::{AgentName, ScreenLink};
use crate::tui::app::{App, Mode, Purpose};
use crate::tui::overlay::LinkList;
use crate::tui::reading::{PaneLink, PaneReading, TextPlace, find_links};
use crate::tui::style::Tone;

/// Lines of the past in which links are looked for.
const LINES_MAX: u64 = 2000;

/// Asks what the selected pane shows, for the links in it; for the one at a place, if one is named.
pub(super) fn open(app: &mut App, at: Option<TextPlace>) {
    let Some(agent) = app.selected.clone() else { return };
    if app.is_connected() {
        let request = Request::Screen { agent: agent.to_string() };
        app.ask(Purpose::Links { agent, at }, request);
    } else {
        app.say(Tone::Danger, "Links have to wait: the hub is away");
    }
}

/// Takes what a pane shows, and lists the links in it.
pub(super) fn take(
    app: &mut App,
    agent: AgentName,
    at: Option<TextPlace>,
    outcome: Result<Response, Fault>,
) {
    let (first, rows, set) = match outcome {
        Ok(Response::Screen { first, rows, links }) => (first, rows, links),
        Ok(_) => return,
        Err(fault) => return app.say(Tone::Danger, words(&fault)),
    };
    let screen = PaneReading::of_rows(agent.clone(), first, rows);
    let read = match &app.mode {
        Mode::Reading(reading) if reading.agent == agent => reading,
        Mode::Reading(_) | Mode::Overview { .. } | Mode::Typing => &screen,
    };
    // A line that shows something else by now has another link, or none.
    let numbered = set.into_iter().map(|link| (first + u64::from(link.row), link));
    let is_shown = |(line, _): &(u64, ScreenLink)| read.line(*line) == screen.line(*line);
    let set: Vec<(u64, ScreenLink)> = numbered.filter(is_shown).collect();
    let oldest = read.end().saturating_sub(LINES_MAX);
    let links = find_links(read, oldest..read.end(), &set);
    let cursor = at.or(matches!(app.mode, Mode::Reading(_)).then_some(read.cursor));
    let is_at = |link: &PaneLink| {
        cursor.is_some_and(|place| link.span.from <= place && place <= link.span.to)
    };
    let chosen = links.iter().position(is_at);
    if links.is_empty() || (at.is_some() && chosen.is_none()) {
        let what = if at.is_some() { "No link is there" } else { "No links in what it shows" };
        return app.say(Tone::Dim, format!("{agent}: {what}"));
    }
    app.overlays.push(LinkList::new(agent, links, chosen.unwrap_or(0)));
    app.damage.is_all = true;
}
