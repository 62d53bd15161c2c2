//! The mouse: selects tiles and text, turns the past, or goes to the application that asked for it.

use std::time::Duration;

use ratatui::layout::Position;

use super::{actions, keys, links, reading};
use crate::api::{KeyInput, MouseWish, Request};
use crate::model::{AgentName, Key, KeyCode, Mouse, MouseButton, MouseKind};
use crate::tui::app::{App, Mode, MousePress, Pane, Purpose, Target};
use crate::tui::grid::TileSlot;
use crate::tui::overlay;
use crate::tui::reading::{Drag, SelectionShape, TextPlace};

/// Lines that one notch of the wheel turns.
const WHEEL_LINES: i64 = 3;

/// The pause between two lines of a selection that is held beyond its tile's edge.
pub(super) const DRAG_PAUSE: Duration = Duration::from_millis(40);

/// Takes an event of the mouse, in cells of the window.
pub(super) fn handle(app: &mut App, mouse: Mouse) {
    app.is_leading = true;
    if !app.overlays.is_empty() {
        app.pressed = None;
        overlay::point(app, mouse);
        return;
    }
    match (mouse.kind, app.pressed.clone()) {
        (MouseKind::Drag(MouseButton::Left), Some(pressed)) => return drag(app, &pressed, mouse),
        (MouseKind::Release(MouseButton::Left), Some(pressed)) => return release(app, &pressed),
        _ => app.pressed = None,
    }
    let slots = app.slots();
    let at = Position { x: mouse.col, y: mouse.row };
    let Some(slot) = slots.iter().find(|slot| slot.area.contains(at)) else { return };
    let name = app.agents[slot.index].name.clone();
    match mouse.kind {
        MouseKind::ScrollUp => wheel(app, slot, &name, mouse, -WHEEL_LINES),
        MouseKind::ScrollDown => wheel(app, slot, &name, mouse, WHEEL_LINES),
        // With alt the mouse is ours, whatever the application wants of it.
        _ if app.is_typing()
            && app.selected.as_ref() == Some(&name)
            && wants_mouse(app, &name)
            && !mouse.modifiers.alt =>
        {
            forward(app, slot, &name, mouse);
        }
        MouseKind::Press(MouseButton::Left) => press(app, slot, name, mouse),
        MouseKind::Press(_)
        | MouseKind::Release(_)
        | MouseKind::Drag(_)
        | MouseKind::Move
        | MouseKind::ScrollLeft
        | MouseKind::ScrollRight => {}
    }
}

fn wants_mouse(app: &App, name: &AgentName) -> bool {
    app.panes.get(name).is_some_and(|pane| pane.mouse != MouseWish::Nothing)
}

/// Returns the cell of a pane under the mouse, as reading counts lines; beyond its tile, the nearest.
fn place(app: &App, slot: &TileSlot, name: &AgentName, mouse: Mouse) -> Option<TextPlace> {
    let inner = slot.inner();
    let row = mouse.row.clamp(inner.y, inner.bottom().saturating_sub(1).max(inner.y)) - inner.y;
    let col = mouse.col.clamp(inner.x, inner.right().saturating_sub(1).max(inner.x)) - inner.x;
    if let Mode::Reading(reading) = &app.mode
        && reading.agent == *name
    {
        let line = reading.top + u64::from(row);
        return Some(TextPlace { line, col: reading.left + col });
    }
    let pane = app.panes.get(name)?;
    let offset = pane.view(inner.width, inner.height);
    let line = pane.committed + u64::from(row + offset.row);
    Some(TextPlace { line, col: offset.col + col })
}

fn press(app: &mut App, slot: &TileSlot, name: AgentName, mouse: Mouse) {
    let clicks = app.count_clicks(Target::Pane(name.clone()));
    let is_inside = slot.inner().contains(Position { x: mouse.col, y: mouse.row });
    let place = place(app, slot, &name, mouse).filter(|_| is_inside && !slot.is_card);
    let Some(place) = place else {
        actions::select(app, name);
        if clicks == 2 {
            actions::begin_typing(app);
        }
        return;
    };
    if mouse.modifiers.control {
        actions::select(app, name);
        return links::open(app, Some(place));
    }
    let is_read = matches!(&app.mode, Mode::Reading(reading) if reading.agent == name);
    app.pressed = Some(MousePress { agent: name.clone(), place, clicks });
    app.damage.is_all = true;
    match clicks {
        1 if is_read => reading::with(app, |reading, view| {
            reading.selection = None;
            reading.move_to(place, view);
        }),
        1 => actions::select(app, name),
        _ => click_again(app, &name, place, clicks, is_read),
    }
}

/// Takes the word or the line under the mouse; where there is none, a double click types.
fn click_again(app: &mut App, name: &AgentName, place: TextPlace, clicks: u8, is_read: bool) {
    if !is_read {
        actions::select(app, name.clone());
        let can_type = app.is_connected() && app.agent(name).is_some_and(|one| !one.has_ended());
        if !app.is_typing() && can_type {
            actions::begin_typing(app);
        }
        if !reading::begin(app, name) {
            return;
        }
    }
    let Mode::Reading(reading) = &mut app.mode else { return };
    let span = match clicks {
        2 => reading.word_at(place),
        _ => Some(reading.line_at(place)).filter(|_| !reading.cells(place.line).is_blank()),
    };
    match span {
        Some(span) => reading.select_span(span),
        None if !is_read => reading::leave(app),
        None => reading.selection = None,
    }
}

/// Selects from where the button was pressed to where the mouse is, inside of the tile; beyond its
/// edge, what is seen goes along.
fn drag(app: &mut App, pressed: &MousePress, mouse: Mouse) {
    let Some(slot) = app.slot_of(&pressed.agent).filter(|slot| !slot.is_card) else { return };
    let Some(place) = place(app, &slot, &pressed.agent, mouse) else { return };
    let is_read = matches!(&app.mode, Mode::Reading(reading) if reading.agent == pressed.agent);
    if !is_read && (place == pressed.place || !reading::begin(app, &pressed.agent)) {
        return;
    }
    let (inner, now) = (slot.inner(), app.now);
    reading::with(app, |reading, view| {
        if reading.selection.is_none() && place != pressed.place {
            let is_block = mouse.modifiers.alt && !reading.was_typing;
            reading.move_to(pressed.place, view);
            reading.select(if is_block { SelectionShape::Block } else { SelectionShape::Chars });
        }
        if reading.selection.is_none() {
            return;
        }
        reading.move_to(place, view);
        let lines = match mouse.row {
            row if row < inner.y => -1,
            row if row >= inner.bottom() => 1,
            _ => 0,
        };
        // One that is held there already keeps its time.
        let due = reading.drag.map_or(now, |drag| drag.due);
        reading.drag = (lines != 0).then_some(Drag { lines, due });
    });
}

/// Copies what was selected, or shows where the link leads that was clicked on.
fn release(app: &mut App, pressed: &MousePress) {
    app.pressed = None;
    let Mode::Reading(reading) = &mut app.mode else { return };
    if reading.agent != pressed.agent {
        return;
    }
    reading.drag = None;
    if reading.selection.is_some() {
        reading::copy(app, false);
    } else if reading.link_at(pressed.place).is_some() {
        links::open(app, Some(pressed.place));
    }
}

fn wheel(app: &mut App, slot: &TileSlot, name: &AgentName, mouse: Mouse, lines: i64) {
    let is_reading = matches!(&app.mode, Mode::Reading(reading) if reading.agent == *name);
    let Some(pane) = app.panes.get(name) else { return };
    if is_reading {
        reading::wheel(app, lines);
    } else if pane.mouse != MouseWish::Nothing && !slot.is_card {
        forward(app, slot, name, mouse);
    } else if pane.is_alternate && app.is_typing() && app.selected.as_ref() == Some(name) {
        // What terminals do for programs on the full screen that know no mouse.
        let code = if lines < 0 { KeyCode::Up } else { KeyCode::Down };
        keys::send(app, vec![KeyInput::Key(Key::plain(code)); 3]);
    } else if lines < 0 && !slot.is_card && reading::has_past(app, name) {
        actions::select(app, name.clone());
        if reading::begin(app, name) {
            reading::wheel(app, lines);
        }
    }
}

/// Passes an event on to the application, in its own cells.
fn forward(app: &mut App, slot: &TileSlot, name: &AgentName, mouse: Mouse) {
    let wants_it = |pane: &&Pane| pane.mouse != MouseWish::Nothing;
    let Some(pane) = app.panes.get(name).filter(wants_it) else { return };
    let inner = slot.inner();
    let view = pane.view(inner.width, inner.height);
    let is_inside = inner.contains(Position { x: mouse.col, y: mouse.row });
    if slot.is_card || !is_inside || !app.is_connected() {
        return;
    }
    let own =
        Mouse { row: mouse.row - inner.y + view.row, col: mouse.col - inner.x + view.col, ..mouse };
    let keys = vec![KeyInput::Mouse(own)];
    app.ask(Purpose::Order, Request::Keys { agent: name.to_string(), keys });
}
