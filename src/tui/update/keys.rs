//! Keys and pastes: to the pane while typing, to the dashboard otherwise.

use super::{actions, reading};
use crate::api::{KeyInput, Request};
use crate::model::Key;
use crate::tui::app::{App, Mode, Purpose};
use crate::tui::keys::normal;
use crate::tui::keys::{Action, KeyScope};
use crate::tui::overlay::{self, Handled};
use crate::tui::style::Tone;

/// Takes a key.
pub(super) fn press(app: &mut App, key: Key) {
    app.is_leading = true;
    if app.message.take().is_some() {
        app.damage.is_all = true;
    }
    let named = normal(key);
    if overlay::press(app, named) == Handled::Consumed {
        return;
    }
    match app.mode {
        Mode::Typing => type_key(app, key, named),
        Mode::Reading(_) => reading::press(app, key, named),
        Mode::Overview { has_just_left } => in_overview(app, named, has_just_left),
    }
}

fn in_overview(app: &mut App, key: Key, has_just_left: bool) {
    app.mode = Mode::Overview { has_just_left: false };
    let leaves_typing = app.keymap.action(KeyScope::Typing, key) == Some(Action::LeaveTyping);
    if has_just_left && leaves_typing {
        actions::begin_typing(app);
        if app.is_typing() {
            send(app, vec![KeyInput::Key(key)]);
        }
        return;
    }
    if let Some(action) = app.keymap.action(KeyScope::Overview, key) {
        actions::act(app, action);
    }
}

fn type_key(app: &mut App, key: Key, named: Key) {
    if app.keymap.action(KeyScope::Typing, named) == Some(Action::LeaveTyping) {
        actions::leave_typing(app);
        app.mode = Mode::Overview { has_just_left: true };
    } else {
        send(app, vec![KeyInput::Key(key)]);
    }
}

/// Takes a pasted text.
pub(super) fn paste(app: &mut App, text: String) {
    app.is_leading = true;
    if app.overlays.is_empty() {
        if reading::paste(app, &text) {
            return;
        }
        if matches!(&app.mode, Mode::Reading(reading) if reading.was_typing) {
            reading::leave(app);
        }
    }
    if app.is_typing() && app.overlays.is_empty() {
        send(app, vec![KeyInput::Paste(text)]);
        return;
    }
    if overlay::paste(app, &text) == Handled::Consumed {
        return;
    }
    let hint = app.keymap.hint(Action::Type).unwrap_or_default();
    app.say(Tone::Warning, format!("Not pasted. Press {hint} to type into a pane first"));
}

/// Takes note that the window gained or lost the person's attention.
pub(super) fn focus(app: &mut App, has_focus: bool) {
    app.is_leading |= has_focus;
    app.has_focus = has_focus;
    if app.is_typing() && app.is_connected() {
        send(app, vec![KeyInput::Focus(has_focus)]);
    }
}

/// Sends input to the selected pane, or says that it was not sent.
pub(super) fn send(app: &mut App, keys: Vec<KeyInput>) {
    let Some(agent) = app.selected.clone() else { return };
    if app.is_connected() {
        app.ask(Purpose::Order, Request::Keys { agent: agent.to_string(), keys });
    } else {
        app.say(Tone::Danger, format!("Not sent to {agent}: no connection to the hub"));
    }
}
