//! The stack of overlays: the top one sees a key first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Confirm, Help, Launcher};
use crate::model::Key;
use crate::tui::action::{Action, Scope};
use crate::tui::app::App;

/// One thing that lies over the panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overlay {
    Help(Help),
    Launcher(Launcher),
    Confirm(Confirm),
}

/// Whether a key was meant for an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    Consumed,
    Ignored,
}

/// What an overlay wants to become of itself after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Stay,
    Close,
}

/// Gives a key to the top overlay, if there is one.
pub(crate) fn press(app: &mut App, key: Key) -> Handled {
    let Some(mut overlay) = app.overlays.pop() else { return Handled::Ignored };
    app.damage.is_all = true;
    let choice = app.keymap.choice(key);
    let asks_for_help = app.keymap.action(Scope::Overview, key) == Some(Action::Help);
    let fate = match &mut overlay {
        Overlay::Help(_) if asks_for_help => Fate::Close,
        Overlay::Help(help) => help.press(choice),
        Overlay::Launcher(launcher) => launcher.press(app, choice),
        Overlay::Confirm(confirm) => confirm.press(app, choice),
    };
    if fate == Fate::Stay {
        app.overlays.push(overlay);
    }
    if fate == Fate::Stay && asks_for_help && !matches!(app.overlays.last(), Some(Overlay::Help(_)))
    {
        app.overlays.push(Overlay::Help(Help::default()));
    }
    Handled::Consumed
}

impl Overlay {
    /// Draws itself over what is there.
    pub(crate) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        match self {
            Self::Help(help) => help.draw(app, area, buffer),
            Self::Launcher(launcher) => launcher.draw(app, area, buffer),
            Self::Confirm(confirm) => confirm.draw(app, area, buffer),
        }
    }
}
