//! The mouse: selects tiles, turns the past, or goes to the application that asked for it.

use ratatui::layout::Position;

use super::{actions, keys, scrollback};
use crate::api::{KeyInput, MouseWish, Request};
use crate::model::{AgentName, Key, KeyCode, Mouse, MouseButton, MouseKind};
use crate::tui::app::{App, Mode, Pane, Purpose, Target};
use crate::tui::grid::TileSlot;
use crate::tui::overlay;

/// Lines that one notch of the wheel turns.
const WHEEL_LINES: i64 = 3;

/// Takes an event of the mouse, in cells of the window.
pub(super) fn handle(app: &mut App, mouse: Mouse) {
    app.is_leading = true;
    if !app.overlays.is_empty() {
        overlay::point(app, mouse);
        return;
    }
    let slots = app.slots();
    let at = Position { x: mouse.col, y: mouse.row };
    let Some(slot) = slots.iter().find(|slot| slot.area.contains(at)) else { return };
    let name = app.agents[slot.index].name.clone();
    match mouse.kind {
        MouseKind::ScrollUp => wheel(app, slot, &name, mouse, -WHEEL_LINES),
        MouseKind::ScrollDown => wheel(app, slot, &name, mouse, WHEEL_LINES),
        _ if app.is_typing() && app.selected.as_ref() == Some(&name) => {
            forward(app, slot, &name, mouse);
        }
        MouseKind::Press(MouseButton::Left) => click(app, name),
        MouseKind::Press(_)
        | MouseKind::Release(_)
        | MouseKind::Drag(_)
        | MouseKind::Move
        | MouseKind::ScrollLeft
        | MouseKind::ScrollRight => {}
    }
}

fn click(app: &mut App, name: AgentName) {
    let is_double = app.is_double_click(Target::Pane(name.clone()));
    actions::select(app, name);
    if is_double {
        actions::begin_typing(app);
    }
}

fn wheel(app: &mut App, slot: &TileSlot, name: &AgentName, mouse: Mouse, lines: i64) {
    let is_reading = matches!(&app.mode, Mode::Scrolling(scroll) if scroll.agent == *name);
    let Some(pane) = app.panes.get(name) else { return };
    if is_reading {
        scrollback::wheel(app, lines);
    } else if pane.mouse != MouseWish::Nothing && !slot.is_card {
        forward(app, slot, name, mouse);
    } else if pane.is_alternate && app.is_typing() && app.selected.as_ref() == Some(name) {
        // What terminals do for programs on the full screen that know no mouse.
        let code = if lines < 0 { KeyCode::Up } else { KeyCode::Down };
        keys::send(app, vec![KeyInput::Key(Key::plain(code)); 3]);
    } else if lines < 0 && !slot.is_card && scrollback::has_past(app, name) {
        actions::select(app, name.clone());
        actions::leave_typing(app);
        scrollback::begin(app, name, Some(lines));
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
