//! A tile: an agent's pane in a frame that tells its state.

use std::ops::RangeInclusive;

use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Widget};

use super::cells::{draw_centred, draw_row};
use crate::model::AgentState;
use crate::tui::app::{AgentView, App, Mode, PaneOffset, has_failed, receipt_line, state_word};
use crate::tui::grid::TileSlot;
use crate::tui::reading::{PaneReading, TextSpan};
use crate::tui::style::{Tone, sign};
use crate::tui::text::{clip, elapsed, width};

/// Draws the frame around a pane or a card.
pub(super) fn draw_frame(app: &App, slot: &TileSlot, buffer: &mut Buffer) {
    let agent = &app.agents[slot.index];
    let is_selected = app.selected_index() == Some(slot.index);
    let is_typing = is_selected && app.is_typing();
    let border = match (is_selected, is_typing) {
        (_, true) => BorderType::Double,
        (true, false) => BorderType::Thick,
        (false, false) => BorderType::Rounded,
    };
    let room = usize::from(slot.area.width.saturating_sub(2));
    let (left, right) = title(app, agent, slot.index, room);
    let mut block = Block::bordered()
        .border_type(border)
        .border_style(frame_style(app, agent, is_selected, is_typing))
        .title_top(left)
        .title_top(right.alignment(Alignment::Right));
    if let Some(bottom) = bottom(app, agent, slot, room) {
        block = block.title_bottom(bottom);
    }
    block.render(slot.area, buffer);
}

fn frame_style(app: &App, agent: &AgentView, is_selected: bool, is_typing: bool) -> Style {
    let style = if is_typing { app.theme.tone(Tone::Typing) } else { state_style(app, agent) };
    let calls = agent.calls() || matches!(agent.state, AgentState::Waiting | AgentState::Blocked);
    if is_selected || calls { style.add_modifier(Modifier::BOLD) } else { style }
}

/// Returns both ends of a frame's upper edge; what matters least goes first where room is short.
fn title<'a>(app: &App, agent: &'a AgentView, index: usize, room: usize) -> (Line<'a>, Line<'a>) {
    let style = state_style(app, agent).add_modifier(Modifier::BOLD);
    let (number, time) = number_and_time(app, agent, index);
    let fixed = width(&number) + width(&time) + AROUND_NAME;
    let under = if agent.is_led { "↳ " } else { "" };
    let name = format!("{under}{}", agent.name);
    let name = clip(&name, room.saturating_sub(fixed).max(3)).into_owned();
    let mut left = vec![
        Span::styled(number, app.theme.tone(Tone::Dim)),
        Span::styled(sign(agent.state), style),
        Span::styled(format!(" {name} "), app.theme.tone(Tone::Text).add_modifier(Modifier::BOLD)),
    ];
    let mut right = vec![Span::styled(time, app.theme.tone(Tone::Dim))];
    if let Some(left_over) = room_beside_state(app, agent, index, room) {
        right.insert(0, Span::styled(format!(" {}", state_word(agent)), style));
        if left_over > width(&agent.cli) {
            left.push(Span::styled(format!("{} ", agent.cli), app.theme.tone(Tone::Faint)));
        }
    }
    (Line::from(left), Line::from(right))
}

fn number_and_time(app: &App, agent: &AgentView, index: usize) -> (String, String) {
    (format!(" {} ", index + 1), format!(" {} ", elapsed(app.now.since(agent.since))))
}

/// The sign and the blanks around a name.
const AROUND_NAME: usize = 3;

/// Returns what is left of a frame's edge beside the state's word, if that has room at all.
pub(crate) fn room_beside_state(
    app: &App,
    agent: &AgentView,
    index: usize,
    room: usize,
) -> Option<usize> {
    let (number, time) = number_and_time(app, agent, index);
    let words = width(agent.name.as_str()) + 1 + width(&state_word(agent));
    room.checked_sub(width(&number) + width(&time) + AROUND_NAME + words)
}

/// Returns the colour in which the agent's state is told.
pub(crate) fn state_style(app: &App, agent: &AgentView) -> Style {
    if agent.calls() { app.theme.tone(Tone::Warning) } else { app.theme.state(agent.state) }
}

/// Returns what stands on a frame's lower edge.
fn bottom<'a>(
    app: &'a App,
    agent: &'a AgentView,
    slot: &TileSlot,
    room: usize,
) -> Option<Line<'a>> {
    if let Mode::Reading(reading) = &app.mode
        && reading.agent == agent.name
    {
        return Some(position(app, reading, slot));
    }
    if slot.is_card || room < 10 {
        return None;
    }
    let dim = app.theme.tone(Tone::Dim);
    let caption = || {
        let told = agent.caption().into_iter().chain(agent.workspace.as_deref());
        let told = told.collect::<Vec<_>>().join(" · ");
        (!told.is_empty()).then_some((told, dim))
    };
    let (text, style) = progress(app, agent).or_else(caption)?;
    let text = format!(" {} ", clip(&text, room.saturating_sub(4)));
    Some(Line::from(Span::styled(text, style)))
}

/// Returns how far the agent's last prompt has come, while that matters.
pub(super) fn progress(app: &App, agent: &AgentView) -> Option<(String, Style)> {
    let receipt = app.receipt(agent)?;
    let line = receipt_line(receipt);
    // What has gone wrong wants a person, as a dialog does.
    let (mark, style) = if has_failed(receipt) {
        ("! ", app.theme.state(AgentState::Waiting).add_modifier(Modifier::BOLD))
    } else {
        ("", app.theme.tone(Tone::Accent))
    };
    let more = if agent.queued > 1 { format!(" · {} wait", agent.queued) } else { String::new() };
    Some((format!("{mark}{line}{more}"), style))
}

/// Says where in the past a pane is read, and what was found there.
fn position<'a>(app: &App, reading: &PaneReading, slot: &TileSlot) -> Line<'a> {
    let last = reading.end();
    let seen = (reading.top + u64::from(slot.inner().height)).min(last);
    let below = last.saturating_sub(seen);
    let mut text = format!(" {seen} of {last} lines · {below} below ");
    let news = app.panes.get(&reading.agent).map_or(0, |pane| reading.news(pane));
    if news > 0 {
        text = format!("{text}· {news} new since ");
    }
    if let Some(search) = &reading.search {
        let number = reading.hit_number().map_or(String::new(), |number| format!("{number}/"));
        let more = if reading.is_loaded() { "" } else { "+" };
        text = format!("{text}· {number}{}{more} hits ", search.hits.len());
    }
    Line::from(Span::styled(text, app.theme.block(Tone::Warning))).alignment(Alignment::Right)
}

/// Draws rows of a pane, or all of it, and returns what of the picture that touched.
pub(super) fn draw_pane(
    app: &App,
    slot: &TileSlot,
    view: PaneOffset,
    rows: Option<&[u16]>,
    buffer: &mut Buffer,
) -> Vec<Rect> {
    let agent = &app.agents[slot.index];
    let inner = slot.inner();
    let Some(pane) = app.panes.get(&agent.name) else {
        draw_absent(app, agent, inner, buffer);
        return vec![inner];
    };
    let line = |y: u16| Rect { y: inner.y + y, height: 1, ..inner };
    if let Mode::Reading(reading) = &app.mode
        && reading.agent == agent.name
    {
        for y in 0..inner.height {
            draw_read(app, reading, y, line(y), buffer);
        }
        return vec![inner];
    }
    let shown = |row: &u16| *row >= view.row && row - view.row < inner.height;
    let mut draw = |row: u16| {
        let line = line(row - view.row);
        draw_row(buffer, line, pane.rows.get(usize::from(row)), view.col, &app.theme);
        line
    };
    if let Some(rows) = rows {
        return rows.iter().copied().filter(shown).map(draw).collect();
    }
    for row in view.row..view.row + inner.height {
        draw(row);
    }
    vec![inner]
}

/// Draws a line of what is read: its links, its hits and what is selected stand out.
fn draw_read(app: &App, reading: &PaneReading, y: u16, row: Rect, buffer: &mut Buffer) {
    let number = reading.top + u64::from(y);
    let line = reading.line(number);
    draw_row(buffer, row, line, reading.left, &app.theme);
    if line.is_none() {
        if number < reading.end() {
            buffer.set_stringn(row.x, row.y, "…", 1, app.theme.tone(Tone::Faint));
        }
        return;
    }
    let mut mark = |columns: RangeInclusive<u16>, style: Style| {
        let from = columns.start().max(&reading.left).saturating_sub(reading.left);
        let beyond = columns.end().saturating_add(1).saturating_sub(reading.left);
        let (from, beyond) = (from.min(row.width), beyond.min(row.width));
        let area = Rect { x: row.x + from, width: beyond.saturating_sub(from), ..row };
        buffer.set_style(area, style);
    };
    let on_line = |span: &TextSpan| {
        let from = if span.from.line < number { 0 } else { span.from.col };
        let to = if span.to.line > number { u16::MAX } else { span.to.col };
        (span.from.line <= number && span.to.line >= number).then_some(from..=to)
    };
    let hits = reading.search.as_ref().map_or(&[][..], |search| &search.hits);
    let first = hits.partition_point(|hit| hit.to.line < number);
    for hit in hits[first..].iter().take_while(|hit| hit.from.line <= number) {
        let is_current = hit.from <= reading.cursor && reading.cursor <= hit.to;
        let tone = if is_current { Tone::Accent } else { Tone::Warning };
        if let Some(columns) = on_line(hit) {
            mark(columns, marked(app, tone));
        }
    }
    if let Some(columns) = reading.selected_on(number) {
        mark(columns, marked(app, Tone::Typing));
    }
}

/// Returns the style of text that stands out, whatever it looked like before.
fn marked(app: &App, tone: Tone) -> Style {
    let before = Modifier::DIM | Modifier::HIDDEN | Modifier::ITALIC;
    app.theme.block(tone).bg(Color::Reset).remove_modifier(before)
}

fn draw_absent(app: &App, agent: &AgentView, inner: Rect, buffer: &mut Buffer) {
    for row in inner.rows() {
        draw_row(buffer, row, None, 0, &app.theme);
    }
    let text = match (agent.has_ended(), &agent.remark) {
        (true, Some(remark)) => remark.clone(),
        (true, None) => "This agent has ended".to_owned(),
        (false, _) => "Nothing shown yet".to_owned(),
    };
    draw_centred(&[text], app.theme.tone(Tone::Faint), inner, buffer);
}
