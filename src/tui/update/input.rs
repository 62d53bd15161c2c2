//! Takes whatever happens, one thing at a time.

use super::{attend, diffs, keys, mouse, news, prompts, upkeep};
use crate::model::{Key, Moment, Mouse, Size};
use crate::tui::app::App;
use crate::tui::look::is_light;
use crate::wire::{Ask, FromHub};

/// Something that happened.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a frame is moved once, from the reader to the update"
)]
pub(crate) enum Input {
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
    /// A label that tells a time may have changed.
    TimePassed,
}

/// Changes the dashboard and returns what to ask of the hub. Inputs that arrive together are taken
/// together, so that a burst of keys travels as one.
#[must_use]
pub(crate) fn update(
    app: &mut App,
    inputs: impl IntoIterator<Item = Input>,
    now: Moment,
) -> Vec<Ask> {
    app.now = now;
    let led = app.is_leading;
    for input in inputs {
        take(app, input);
    }
    if app.is_connected() && (app.damage.is_all || app.is_leading != led) {
        upkeep::watch(app);
        upkeep::resize(app);
    }
    app.take_asks()
}

fn take(app: &mut App, input: Input) {
    match input {
        Input::Key(key) => keys::press(app, key),
        Input::Paste(text) => keys::paste(app, text),
        Input::Mouse(mouse) => mouse::handle(app, mouse),
        Input::Focus(has_focus) => keys::focus(app, has_focus),
        Input::Resized(window) => {
            app.window = window;
            app.is_leading = true;
            app.damage.is_all = true;
        }
        Input::Background(rgb) => use_background(app, rgb),
        Input::Connected => news::connected(app),
        Input::Lost { reason } => news::lost(app, &reason),
        Input::Hub(frame) => news::take(app, frame),
        Input::Edited(outcome) => prompts::edited(app, outcome),
        Input::TimePassed => {
            app.damage.has_labels = true;
            diffs::tick(app);
        }
    }
    if let Some(lead) = app.lead.take() {
        attend::follow(app, lead);
    }
}

fn use_background(app: &mut App, rgb: [u8; 3]) {
    if let Some(light) = app.theme_if_light.take().filter(|_| is_light(rgb)) {
        app.theme = light;
        app.damage.is_all = true;
    }
}
