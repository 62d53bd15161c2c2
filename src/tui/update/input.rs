//! Takes whatever happens, one thing at a time, and tells the hub what this window shows and how
//! large.

use super::{attention, from_hub, keys, mouse, reading};
use crate::api::{Ask, FromHub, Request};
use crate::model::{AgentName, Key, Moment, Mouse, Size};
use crate::tui::app::{App, Purpose, SentSize};
use crate::tui::grid::TileSlot;
use crate::tui::overlay;
use crate::tui::style::{Tone, is_light};

/// Something that happened.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a frame is moved once, from the reader to the update"
)]
pub(crate) enum AppInput {
    Key(Key),
    Paste(String),
    /// In cells of the window.
    Mouse(Mouse),
    Focus(bool),
    Resized(Size),
    /// The colour of the terminal's background.
    Background([u8; 3]),
    Connected,
    Lost {
        reason: String,
    },
    Hub(FromHub),
    /// What came back from the person's own editor, or why nothing did.
    Edited(Result<String, String>),
    /// What came of something that was done for the person outside of here.
    Said(Tone, String),
    /// A label that tells a time may have changed.
    TimePassed,
}

/// Changes the dashboard and returns what to ask of the hub. Inputs that arrive together are taken
/// together, so that a burst of keys travels as one.
#[must_use]
pub(crate) fn update(
    app: &mut App,
    inputs: impl IntoIterator<Item = AppInput>,
    now: Moment,
) -> Vec<Ask> {
    app.now = now;
    let led = app.is_leading;
    for input in inputs {
        take(app, input);
    }
    if app.is_connected() && (app.damage.is_all || app.is_leading != led) {
        watch(app);
        resize(app);
    }
    app.take_asks()
}

fn take(app: &mut App, input: AppInput) {
    match input {
        AppInput::Key(key) => keys::press(app, key),
        AppInput::Paste(text) => keys::paste(app, text),
        AppInput::Mouse(mouse) => mouse::handle(app, mouse),
        AppInput::Focus(has_focus) => keys::focus(app, has_focus),
        AppInput::Resized(window) => {
            app.window = window;
            app.is_leading = true;
            app.damage.is_all = true;
        }
        AppInput::Background(rgb) => use_background(app, rgb),
        AppInput::Connected => from_hub::connected(app),
        AppInput::Lost { reason } => from_hub::lost(app, &reason),
        AppInput::Hub(frame) => from_hub::take(app, frame),
        AppInput::Edited(outcome) => overlay::edited(app, outcome),
        AppInput::Said(tone, text) => app.say(tone, text),
        AppInput::TimePassed => {
            app.damage.has_labels = true;
            reading::tick(app);
            overlay::tick(app);
        }
    }
    if let Some(lead) = app.lead.take() {
        attention::follow(app, lead);
    }
    if let Some(goal) = app.goal.take() {
        reading::go_to(app, &goal.agent, goal.line, goal.pattern);
    }
}

fn use_background(app: &mut App, rgb: [u8; 3]) {
    if let Some(light) = app.theme_if_light.take().filter(|_| is_light(rgb)) {
        app.theme = light;
        app.damage.is_all = true;
    }
}

/// Tells the hub which panes are shown, if that has changed.
fn watch(app: &mut App) {
    let slots = app.slots();
    let shown = slots.iter().map(|slot| app.agents[slot.index].name.clone());
    let shown: Vec<AgentName> = shown.collect();
    let sees = |agent: &AgentName| app.has_focus && shown.contains(agent);
    let is_attended = app.selected.as_ref().is_some_and(sees);
    let wanted = (shown, app.selected.clone(), is_attended);
    if app.watched.as_ref() != Some(&wanted) && (app.watched.is_some() || !wanted.0.is_empty()) {
        let (agents, focused, is_attended) = wanted.clone();
        app.ask(Purpose::Upkeep, Request::Watch { agents, focused, is_attended });
        app.watched = Some(wanted);
    }
}

/// Gives the panes the size of their tiles, if this dashboard was used last.
fn resize(app: &mut App) {
    if !app.is_leading {
        return;
    }
    for (name, size) in wanted_sizes(app) {
        if app.sizes.get(&name).is_none_or(|sent| sent.size != size) {
            let is_confirmed = app.panes.get(&name).is_some_and(|pane| pane.size == size);
            if !is_confirmed {
                app.ask(Purpose::Upkeep, Request::Resize { agent: name.to_string(), size });
            }
            app.sizes.insert(name, SentSize { size, is_confirmed });
        }
    }
}

/// Returns the size that each pane should have: exactly that of its tile if it is selected or zoomed,
/// and otherwise no less than what programs can work with.
fn wanted_sizes(app: &App) -> Vec<(AgentName, Size)> {
    let selected = app.selected_index();
    let live = |slot: &TileSlot| !slot.is_card && !app.agents[slot.index].has_ended();
    let wanted = app.slots().into_iter().filter(live).map(|slot| {
        let inner = slot.inner();
        let is_exact = selected == Some(slot.index);
        let least = if is_exact { Size { rows: 0, cols: 0 } } else { app.settings.min_size };
        let size = Size { rows: inner.height.max(least.rows), cols: inner.width.max(least.cols) };
        (app.agents[slot.index].name.clone(), size.clamped())
    });
    wanted.collect()
}
