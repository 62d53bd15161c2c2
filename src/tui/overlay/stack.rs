//! The stack of overlays: the top one sees a key or a click first.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::dialog::Hit;
use super::{Confirm, Help, Launcher, Newcomer};
use crate::model::{AgentName, Key, Mouse, MouseButton, MouseKind};
use crate::tui::action::{Action, Choice, Scope};
use crate::tui::app::{App, Purpose, Target};
use crate::tui::keymap::is_text;
use crate::wire::Request;

/// One thing that lies over the panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overlay {
    Help(Help),
    Launcher(Launcher),
    Confirm(Confirm),
    Newcomer(Newcomer),
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
    let writes = matches!(overlay, Overlay::Newcomer(_)) && is_text(key);
    let asks_for_help = !writes && app.keymap.action(Scope::Overview, key) == Some(Action::Help);
    let fate = match &mut overlay {
        Overlay::Help(_) if asks_for_help => Fate::Close,
        Overlay::Newcomer(form) => form.press(app, key),
        Overlay::Help(_) | Overlay::Launcher(_) | Overlay::Confirm(_) => {
            let choice = app.keymap.choice(key);
            choice.map_or(Fate::Stay, |choice| overlay.choose(app, choice))
        }
    };
    let opens_help = asks_for_help && !matches!(overlay, Overlay::Help(_));
    if fate == Fate::Stay {
        app.overlays.push(overlay);
        app.overlays.extend(opens_help.then(|| Overlay::Help(Help::default())));
    }
    Handled::Consumed
}

/// Gives a pasted text to the top overlay, if it takes any.
pub(crate) fn paste(app: &mut App, text: &str) -> Handled {
    let Some(mut overlay) = app.overlays.pop() else { return Handled::Ignored };
    let handled = match &mut overlay {
        Overlay::Newcomer(form) => {
            form.write(app, text);
            app.damage.is_all = true;
            Handled::Consumed
        }
        Overlay::Help(_) | Overlay::Launcher(_) | Overlay::Confirm(_) => Handled::Ignored,
    };
    app.overlays.push(overlay);
    handled
}

/// Gives an event of the mouse to the top overlay: the wheel turns it, a click chooses, a double
/// click accepts, and a click beside it closes it.
pub(crate) fn point(app: &mut App, mouse: Mouse) {
    let Some(mut overlay) = app.overlays.pop() else { return };
    let at = Position { x: mouse.col, y: mouse.row };
    let fate = match mouse.kind {
        MouseKind::ScrollUp => overlay.turn(app, false),
        MouseKind::ScrollDown => overlay.turn(app, true),
        MouseKind::Press(MouseButton::Left) => overlay.click(app, at),
        MouseKind::Press(_)
        | MouseKind::Release(_)
        | MouseKind::Drag(_)
        | MouseKind::Move
        | MouseKind::ScrollLeft
        | MouseKind::ScrollRight => Fate::Stay,
    };
    app.damage.is_all |= mouse.kind != MouseKind::Move;
    if fate == Fate::Stay {
        app.overlays.push(overlay);
    }
}

impl Overlay {
    /// Draws itself over what is there.
    pub(crate) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        match self {
            Self::Help(help) => help.draw(app, area, buffer),
            Self::Launcher(launcher) => launcher.draw(app, area, buffer),
            Self::Confirm(confirm) => confirm.draw(app, area, buffer),
            Self::Newcomer(form) => form.draw(app, area, buffer),
        }
    }

    /// Returns what it has to know from the hub, and why.
    pub(crate) fn needs(&self, app: &App) -> Option<(Purpose, Request)> {
        let environment = app.settings.environment.clone();
        match self {
            Self::Launcher(_) => Some((Purpose::Teams, Request::Teams { environment })),
            Self::Newcomer(_) => Some((Purpose::Clis, Request::Clis { environment })),
            Self::Help(_) | Self::Confirm(_) => None,
        }
    }

    /// Takes note that what was asked of the hub may never be answered.
    pub(crate) fn lose_hub(&mut self) {
        match self {
            Self::Launcher(launcher) => launcher.starting = None,
            Self::Newcomer(form) => form.starting = None,
            Self::Help(_) | Self::Confirm(_) => {}
        }
    }

    /// Says whether it is the form that asked for an agent.
    pub(crate) fn is_form_of(&self, agent: &AgentName) -> bool {
        matches!(self, Self::Newcomer(form) if form.starting.as_ref() == Some(agent))
    }

    fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match self {
            Self::Help(help) => help.choose(app, choice),
            Self::Launcher(launcher) => launcher.choose(app, choice),
            Self::Confirm(confirm) => confirm.choose(app, choice),
            Self::Newcomer(form) => form.choose(app, choice),
        }
    }

    fn turn(&mut self, app: &App, is_down: bool) -> Fate {
        match self {
            Self::Help(help) => help.turn(app, is_down),
            Self::Launcher(launcher) => launcher.turn(app, is_down),
            Self::Newcomer(form) => form.turn(app, is_down),
            Self::Confirm(_) => {}
        }
        Fate::Stay
    }

    fn click(&mut self, app: &mut App, at: Position) -> Fate {
        let area = app.body();
        let hit = match self {
            Self::Help(_) => Help::hit(app, area, at),
            Self::Launcher(launcher) => launcher.hit(app, area, at),
            Self::Confirm(confirm) => confirm.hit(app, area, at),
            Self::Newcomer(form) => form.hit(app, area, at),
        };
        match hit {
            Hit::Outside => self.choose(app, Choice::Cancel),
            Hit::Button(choice) => self.choose(app, choice),
            Hit::Item(index) => {
                self.pick(index);
                let is_double = app.is_double_click(Target::Item(index));
                if is_double { self.choose(app, Choice::Accept) } else { Fate::Stay }
            }
            Hit::Inside => Fate::Stay,
        }
    }

    fn pick(&mut self, index: usize) {
        match self {
            Self::Launcher(launcher) => launcher.pick(index),
            Self::Newcomer(form) => form.pick(index),
            Self::Help(_) | Self::Confirm(_) => {}
        }
    }
}
