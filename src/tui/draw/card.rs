//! A card: what matters of an agent whose pane would not fit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::cells::draw_row;
use super::tile::{draw_frame, progress, room_beside_state, state_style};
use crate::tui::app::{App, state_word};
use crate::tui::grid::TileSlot;
use crate::tui::style::{Tone, sign};
use crate::tui::text::{clean, clip, elapsed};

/// Below this height a frame would leave no room for words.
const FRAME_ROWS_MIN: u16 = 3;
const FRAME_COLS_MIN: u16 = 12;

/// Draws a card, with a frame if there is room for one.
pub(super) fn draw_card(app: &App, slot: &TileSlot, buffer: &mut Buffer) {
    let area = slot.area;
    if area.height < FRAME_ROWS_MIN || area.width < FRAME_COLS_MIN {
        draw_bare(app, slot, buffer);
        return;
    }
    draw_frame(app, slot, buffer);
    draw_lines(app, slot, buffer);
}

/// Draws what is inside a card's frame.
fn draw_lines(app: &App, slot: &TileSlot, buffer: &mut Buffer) {
    let inner = slot.inner();
    let agent = &app.agents[slot.index];
    // One column of air on both sides reads better than two more letters.
    let room = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let mut lines = heading(app, slot);
    let left = usize::from(inner.height).saturating_sub(lines.len());
    let pane = app.panes.get(&agent.name);
    let last = pane.map(|pane| pane.last_lines(left)).unwrap_or_default();
    let dim = app.theme.tone(Tone::Dim);
    lines.extend(last.iter().map(|line| (clean(line), dim)));
    for (row, at) in inner.rows().zip(0..) {
        draw_row(buffer, row, None, 0, &app.theme);
        if let Some((text, style)) = lines.get(at) {
            let text = clip(text, usize::from(room.width));
            buffer.set_stringn(room.x, row.y, &text, usize::from(room.width), *style);
        }
    }
}

/// Returns the lines that come before what the pane shows.
fn heading(app: &App, slot: &TileSlot) -> Vec<(String, Style)> {
    let agent = &app.agents[slot.index];
    let room = usize::from(slot.inner().width);
    let mut lines = Vec::new();
    if room_beside_state(app, agent, slot.index, room).is_none() {
        let text = format!("{} · {}", state_word(agent), agent.cli);
        lines.push((text, state_style(app, agent)));
    }
    lines.extend(progress(app, agent));
    if let Some(caption) = agent.caption() {
        lines.push((caption.to_owned(), app.theme.tone(Tone::Text)));
    }
    lines
}

/// Draws a card of one or two lines.
fn draw_bare(app: &App, slot: &TileSlot, buffer: &mut Buffer) {
    let agent = &app.agents[slot.index];
    let is_selected = app.selected_index() == Some(slot.index);
    let mark = if is_selected { "▌" } else { " " };
    let state = state_style(app, agent);
    let dim = app.theme.tone(Tone::Dim);
    let caption = agent.caption().unwrap_or_default();
    let (about, style) = progress(app, agent).unwrap_or_else(|| (caption.to_owned(), dim));
    let first = Line::from(vec![
        Span::styled(mark, app.theme.tone(Tone::Accent)),
        Span::styled(format!("{} ", slot.index + 1), dim),
        Span::styled(format!("{} ", sign(agent.state)), state.add_modifier(Modifier::BOLD)),
        Span::styled(agent.name.to_string(), app.theme.tone(Tone::Text)),
        Span::styled(format!(" {}", state_word(agent)), state),
        Span::styled(format!(" {} ", elapsed(app.now.since(agent.since))), dim),
        Span::styled(about, style),
    ]);
    let last = app.panes.get(&agent.name).and_then(|pane| pane.last_lines(1).pop());
    let second = Line::from(Span::styled(format!("    {}", clean(&last.unwrap_or_default())), dim));
    for (row, line) in slot.area.rows().zip([first, second]) {
        draw_row(buffer, row, None, 0, &app.theme);
        buffer.set_line(row.x, row.y, &line, row.width);
    }
}
