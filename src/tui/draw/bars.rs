//! The line above the panes and the line below: what is going on, and which keys work now.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::cells::draw_row;
use super::tile::{position_text, state_style};
use crate::model::{AgentState, Stage};
use crate::tui::app::{AgentView, App, HubState, Mode, has_failed, state_word};
use crate::tui::grid::Layout;
use crate::tui::keys::{Action, ReadAction};
use crate::tui::reading::{PaneReading, SearchInput};
use crate::tui::style::{Tone, sign, urgency};
use crate::tui::text::{clean, clip, width};

/// Draws the header: the project, the states counted, the layout; or that the hub is away.
pub(super) fn draw_header(app: &App, line: Rect, buffer: &mut Buffer) {
    draw_row(buffer, line, None, 0, &app.theme);
    if let HubState::Away { reason } = &app.connection {
        draw_banner(app, reason, line, buffer);
        return;
    }
    let room = usize::from(line.width);
    let accent = app.theme.tone(Tone::Accent).add_modifier(Modifier::BOLD);
    let mut left = vec![Span::styled(" wheelhouse ", accent)];
    let project = app.project.as_deref().unwrap_or("…");
    left.push(Span::styled(format!(" {project} "), app.theme.tone(Tone::Text)));
    let zoomed = app.selected_agent().filter(|_| app.layout == Layout::Single);
    let about = if let Some(agent) = zoomed {
        // A zoomed pane has no frame that says whose it is.
        let text = format!(" {} {} ", agent.name, state_word(agent));
        Span::styled(text, state_style(app, agent).add_modifier(Modifier::BOLD))
    } else {
        let text = format!(" {} · {} layout ", app.session, app.layout.name());
        Span::styled(text, app.theme.tone(Tone::Faint))
    };
    let long = if app.layout == Layout::Single { everyone(app) } else { counts(app) };
    let has_room = room > spans_width(&left) + spans_width(&long);
    let right = if has_room { long } else { short_counts(app) };
    let run = app.run.iter();
    let run = run.map(|run| Span::styled(format!(" {} ", run.text), app.theme.tone(run.tone)));
    for span in run.chain([about]) {
        if room > spans_width(&left) + spans_width(&right) + span.width() {
            left.push(span);
        }
    }
    let right_width = u16::try_from(spans_width(&right)).unwrap_or(u16::MAX).min(line.width);
    let left_room = line.width - right_width;
    buffer.set_line(line.x, line.y, &Line::from(left), left_room);
    buffer.set_line(line.right() - right_width, line.y, &Line::from(right), right_width);
}

fn draw_banner(app: &App, reason: &str, line: Rect, buffer: &mut Buffer) {
    let text = if reason.is_empty() {
        " Connecting to the hub… ".to_owned()
    } else {
        format!(" Hub disconnected ({reason}). Agents keep running; reconnecting… ")
    };
    let style = app.theme.block(Tone::Warning);
    buffer.set_style(line, style);
    buffer.set_stringn(
        line.x,
        line.y,
        clip(&text, usize::from(line.width)),
        usize::from(line.width),
        style,
    );
}

fn tally(app: &App) -> Vec<(AgentState, usize)> {
    let mut counted: BTreeMap<u8, (AgentState, usize)> = BTreeMap::new();
    for agent in &app.agents {
        counted.entry(urgency(agent.state)).or_insert((agent.state, 0)).1 += 1;
    }
    counted.into_values().collect()
}

fn counts<'a>(app: &App) -> Vec<Span<'a>> {
    let mut spans = stuck(app, "! ", " stuck  ");
    for (state, count) in tally(app) {
        let text = format!("{} {count} {state}  ", sign(state));
        spans.push(Span::styled(text, app.theme.state(state).add_modifier(Modifier::BOLD)));
    }
    spans
}

fn short_counts<'a>(app: &App) -> Vec<Span<'a>> {
    let mut spans = stuck(app, "!", " ");
    for (state, count) in tally(app) {
        let text = format!("{}{count} ", sign(state));
        spans.push(Span::styled(text, app.theme.state(state).add_modifier(Modifier::BOLD)));
    }
    spans
}

/// Returns how many should be moving and are not, if any.
fn stuck<'a>(app: &App, before: &str, after: &str) -> Vec<Span<'a>> {
    let count = app.agents.iter().filter(|agent| agent.is_stuck).count();
    let style = app.theme.tone(Tone::Warning).add_modifier(Modifier::BOLD);
    let span = (count > 0).then(|| Span::styled(format!("{before}{count}{after}"), style));
    span.into_iter().collect()
}

/// Returns the number and sign of each agent, for when their tiles are out of sight.
fn everyone<'a>(app: &App) -> Vec<Span<'a>> {
    let selected = app.selected_index();
    let agents = app.agents.iter().enumerate().map(|(index, agent)| {
        let style = state_style(app, agent).add_modifier(Modifier::BOLD);
        let is_selected = selected == Some(index);
        let style = if is_selected { style.add_modifier(Modifier::REVERSED) } else { style };
        Span::styled(format!(" {} {} ", index + 1, sign(agent.state)), style)
    });
    agents.collect()
}

fn spans_width(spans: &[Span<'_>]) -> usize {
    spans.iter().map(Span::width).sum()
}

/// Draws the footer: what just happened, or the keys that work right now.
pub(super) fn draw_footer(app: &App, line: Rect, buffer: &mut Buffer) {
    draw_row(buffer, line, None, 0, &app.theme);
    let mut x = line.x;
    if let Some((chip, tone)) = chip(app) {
        let chip = format!(" {chip} ");
        (x, _) =
            buffer.set_stringn(x, line.y, &chip, usize::from(line.width), app.theme.block(tone));
    }
    let room = usize::from(line.right().saturating_sub(x));
    if let Some(input) = search_input(app) {
        let text = search_line(input);
        let shown = text.chars().rev().take(room).collect::<Vec<_>>().into_iter().rev();
        let style = app.theme.tone(Tone::Text).add_modifier(Modifier::BOLD);
        buffer.set_stringn(x, line.y, shown.collect::<String>(), room, style);
        return;
    }
    if let Some(message) = &app.message {
        let style = app.theme.tone(message.tone).add_modifier(Modifier::BOLD);
        let text = format!(" {}", clip(&message.text, room.saturating_sub(1)));
        buffer.set_stringn(x, line.y, text, room, style);
        return;
    }
    let spans = hints(app, room);
    buffer.set_line(x, line.y, &Line::from(spans), line.right() - x);
}

fn search_input(app: &App) -> Option<&SearchInput> {
    match &app.mode {
        Mode::Reading(reading) => reading.input.as_ref(),
        Mode::Overview { .. } | Mode::Typing => None,
    }
}

fn search_line(input: &SearchInput) -> String {
    let sign = if input.is_backward { '?' } else { '/' };
    format!(" {sign}{}", clean(&input.text))
}

/// Returns where the cursor is while a pattern is typed.
pub(super) fn search_cursor(app: &App, input: &SearchInput) -> Option<(u16, u16)> {
    let chip = chip(app).map_or(0, |(chip, _)| width(&chip) + 2);
    let x = u16::try_from(chip + width(&search_line(input))).ok()?;
    Some((x.min(app.window.cols.saturating_sub(1)), app.window.rows.saturating_sub(1)))
}

fn reading_key(app: &App, action: ReadAction) -> Option<String> {
    app.keymap.hint(Action::Reading(action))
}

/// Returns the label of a mode in which keys do not mean what they usually do.
fn chip(app: &App) -> Option<(String, Tone)> {
    let name = app.selected.as_ref().map_or("", |name| name.as_str());
    match &app.mode {
        Mode::Typing => Some((format!("TYPING → {name}"), Tone::Typing)),
        Mode::Reading(reading) => {
            let way = if reading.was_typing { "LOOKING BACK" } else { "READING" };
            let unframed = app.slot_of(&reading.agent).filter(|slot| !slot.has_frame);
            let place = unframed.map(|slot| format!(" · {}", position_text(app, reading, &slot)));
            Some((format!("{way} {}{}", reading.agent, place.unwrap_or_default()), Tone::Warning))
        }
        Mode::Overview { .. } => None,
    }
}

/// Returns as many hints as fit, the important ones first.
fn hints<'a>(app: &App, room: usize) -> Vec<Span<'a>> {
    let mut spans = Vec::new();
    let mut taken = 0;
    for (key, what) in worthwhile(app) {
        let needed = width(&key) + width(what) + 4;
        if taken + needed > room {
            break;
        }
        taken += needed;
        let style = app.theme.tone(Tone::Accent).add_modifier(Modifier::BOLD);
        spans.push(Span::styled(format!(" {key}"), style));
        spans.push(Span::styled(format!(" {what}  "), app.theme.tone(Tone::Dim)));
    }
    spans
}

/// Returns the keys that do something while a pane is read.
fn worthwhile_in_reading(app: &App, reading: &PaneReading) -> Vec<(Option<String>, &'static str)> {
    vec![
        (reading_key(app, ReadAction::Leave), "leave"),
        (reading_key(app, ReadAction::Copy).filter(|_| reading.selection.is_some()), "copy"),
        (reading_key(app, ReadAction::NextHit).filter(|_| reading.search.is_some()), "next hit"),
        (reading_key(app, ReadAction::SearchBackward), "search up"),
        (reading_key(app, ReadAction::SelectChars), "select"),
        (reading_key(app, ReadAction::SelectLines), "lines"),
        (reading_key(app, ReadAction::LastError), "last error"),
        (reading_key(app, ReadAction::PageUp), "page up"),
        (app.keymap.hint(Action::Links), "links"),
        (reading_key(app, ReadAction::Editor), "editor"),
        (reading_key(app, ReadAction::Type), "type"),
    ]
}

/// Returns the keys that do something right now.
fn worthwhile(app: &App) -> Vec<(String, &'static str)> {
    let key = |action| app.keymap.hint(action);
    let twice = |key: Option<String>| key.map(|key| format!("{key} {key}"));
    let has_ended = app.selected_agent().is_some_and(AgentView::has_ended);
    let receipt = app.selected_agent().and_then(|agent| app.receipt(agent));
    let is_queued = receipt.is_some_and(|receipt| receipt.state == Stage::Queued);
    let has_failed = receipt.is_some_and(has_failed);
    let is_working = app.selected_agent().is_some_and(|one| one.state == AgentState::Working);
    let calls = !app.attention().is_empty();
    let zoom = if app.layout == Layout::Single { "zoom out" } else { "zoom" };
    let candidates: Vec<(Option<String>, &'static str)> = match &app.mode {
        // An overlay tells its own keys on its edge.
        _ if !app.overlays.is_empty() => Vec::new(),
        Mode::Typing => vec![
            (key(Action::LeaveTyping), "leave"),
            (twice(key(Action::LeaveTyping)), "goes to the pane"),
        ],
        Mode::Reading(reading) if reading.was_typing => vec![
            (Some("type".to_owned()), "goes on live"),
            (key(Action::Reading(ReadAction::PageUp)), "page up"),
            (Some("drag".to_owned()), "copies"),
            (key(Action::LeaveTyping), "keys to read with"),
        ],
        Mode::Reading(reading) => worthwhile_in_reading(app, reading),
        Mode::Overview { .. } if app.agents.is_empty() => vec![
            (key(Action::Teams), "start a team"),
            (key(Action::Help), "help"),
            (key(Action::Detach), "leave"),
        ],
        Mode::Overview { .. } => vec![
            (key(Action::Type).filter(|_| !has_ended), "type"),
            (key(Action::Resume).filter(|_| !app.interrupted.is_empty()), "resume what was lost"),
            (key(Action::Start).filter(|_| has_ended), "start"),
            (key(Action::Attend).filter(|_| calls), "attend"),
            (key(Action::Withdraw).filter(|_| is_queued), "withdraw"),
            (key(Action::Dismiss).filter(|_| has_failed), "dismiss"),
            (key(Action::Dispatch).filter(|_| !has_ended), "dispatch"),
            (key(Action::Zoom), zoom),
            (key(Action::Help), "help"),
            (key(Action::Detach), "detach"),
            (key(Action::Broadcast), "broadcast"),
            (key(Action::Interrupt).filter(|_| is_working), "interrupt"),
            (key(Action::Tasks), "tasks"),
            (key(Action::NextLayout), "layout"),
            (key(Action::Read), "read and copy"),
            (key(Action::Search), "search"),
            (key(Action::Diff), "diff"),
            (key(Action::Restart).filter(|_| !has_ended), "restart"),
            (key(Action::Stop).filter(|_| !has_ended), "stop"),
            (key(Action::Remove).filter(|_| has_ended), "remove"),
            (key(Action::Add), "new agent"),
            (key(Action::Teams), "teams"),
            (key(Action::Playbooks), "playbooks"),
        ],
    };
    candidates.into_iter().filter_map(|(key, what)| Some((key?, what))).collect()
}
