//! What lies over the panes: one trait, and the stack whose top sees a key, a click or a paste first.

use std::any::Any;
use std::fmt::Debug;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::Help;
use super::dialog_box::Hit;
use super::list::List;
use crate::api::{Request, Status};
use crate::model::{Key, Moment, Mouse, MouseButton, MouseKind};
use crate::tui::app::{App, Purpose, Target};
use crate::tui::keys::is_text;
use crate::tui::keys::{Action, KeyScope, ListAction};

/// One thing that lies over the panes. What an overlay does not say of itself is what most of them
/// do: a list of which an entry is chosen, and nothing to ask of the hub.
pub(crate) trait Overlay: Any + Debug {
    /// Draws itself over what is there.
    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer);

    /// Returns what lies under the mouse.
    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit;

    /// Does what it is there for.
    fn accept(&mut self, app: &mut App) -> Next;

    /// Takes a key.
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        app.keymap.list_action(key).map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    /// Does what a key or a button means that means the same in every list and question.
    fn choose(&mut self, app: &mut App, choice: ListAction) -> Next {
        match choice {
            ListAction::Up | ListAction::Down => self.step(app, choice == ListAction::Down),
            ListAction::Toggle => return self.toggle(app),
            ListAction::Accept => return self.accept(app),
            ListAction::Cancel => return self.cancel(app),
        }
        Next::Stay
    }

    /// Does what another button means.
    fn act(&mut self, _app: &mut App, _action: Action) -> Next {
        Next::Stay
    }

    /// Returns the entries to choose from.
    fn list(&self, _app: &App) -> List {
        List::default()
    }

    /// Chooses an entry.
    fn pick(&mut self, _app: &App, _index: usize) {}

    /// Takes a click on an entry: the first chooses, the second accepts.
    fn click(&mut self, app: &mut App, index: usize) -> Next {
        self.pick(app, index);
        if app.is_double_click(Target::Item(index)) { self.accept(app) } else { Next::Stay }
    }

    /// Goes to the entry above or below.
    fn step(&mut self, app: &App, is_down: bool) {
        self.pick(app, self.list(app).stepped(is_down));
    }

    /// Follows the wheel of the mouse.
    fn scroll(&mut self, app: &App, is_down: bool) {
        self.pick(app, self.list(app).scrolled(is_down));
    }

    fn toggle(&mut self, _app: &mut App) -> Next {
        Next::Stay
    }

    fn cancel(&mut self, _app: &mut App) -> Next {
        Next::Close
    }

    /// Says whether letters are written into it.
    fn writes(&self) -> bool {
        false
    }

    /// Takes a pasted text, if it takes any.
    fn paste(&mut self, _app: &App, _text: &str) -> Handled {
        Handled::Ignored
    }

    /// Takes what came back from the person's own editor.
    fn edited(&mut self, _app: &mut App, _outcome: Result<String, String>) {}

    /// Says whether what lies under it loses its colour.
    fn dims(&self) -> bool {
        true
    }

    /// Returns what it has to know from a hub that has just come, and why.
    fn request(&self, _app: &App) -> Option<(Purpose, Request)> {
        None
    }

    /// Takes note that what was asked of the hub may never be answered.
    fn lose_hub(&mut self) {}

    /// Takes note of a new status, of which the dashboard knows already.
    fn follow(&mut self, _app: &mut App, _news: &Status) {}

    /// Says whether what it is about is still there.
    fn still_stands(&self, _app: &App) -> bool {
        true
    }

    /// Returns when it wants to look again at what it shows.
    fn due(&self) -> Option<Moment> {
        None
    }

    /// Looks again at what it shows.
    fn refresh(&mut self, _app: &mut App) {}
}

/// Whether a key or a paste was meant for an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    Consumed,
    Ignored,
}

/// What becomes of an overlay after a key.
#[derive(Debug)]
pub(crate) enum Next {
    Stay,
    Close,
    /// It stays, under this one.
    Open(Box<dyn Overlay>),
}

impl Next {
    pub(super) fn open(overlay: impl Overlay) -> Self {
        Self::Open(Box::new(overlay))
    }
}

/// The overlays that are open, the one on top last.
#[derive(Debug, Default)]
pub(crate) struct OverlayStack(Vec<Box<dyn Overlay>>);

impl OverlayStack {
    pub(crate) fn push(&mut self, overlay: impl Overlay) {
        self.0.push(Box::new(overlay));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Overlay> {
        self.0.iter().map(Box::as_ref)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn Overlay>> {
        self.0.iter_mut()
    }

    /// Returns the one on top, for tests.
    #[cfg(test)]
    pub(crate) fn last(&self) -> Option<&dyn Any> {
        self.0.last().map(|overlay| overlay.as_ref() as &dyn Any)
    }

    /// Returns the overlays of one kind.
    pub(crate) fn all_mut<T: Overlay>(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().filter_map(|overlay| (overlay.as_mut() as &mut dyn Any).downcast_mut())
    }

    /// Takes the first of its kind that is meant off the stack.
    pub(crate) fn take<T: Overlay>(&mut self, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        let own =
            |overlay: &dyn Overlay| (overlay as &dyn Any).downcast_ref().is_some_and(&is_meant);
        let at = self.0.iter().position(|overlay| own(overlay.as_ref()))?;
        let overlay: Box<dyn Any> = self.0.remove(at);
        overlay.downcast().ok().map(|own| *own)
    }

    /// Puts an overlay back in its place, unless it closes.
    fn settle(&mut self, overlay: Box<dyn Overlay>, next: Next) {
        match next {
            Next::Stay => self.0.push(overlay),
            Next::Close => {}
            Next::Open(above) => self.0.extend([overlay, above]),
        }
    }
}

/// Gives a key to the top overlay, if there is one.
pub(crate) fn press(app: &mut App, key: Key) -> Handled {
    let Some(mut overlay) = app.overlays.0.pop() else { return Handled::Ignored };
    app.damage.is_all = true;
    let asks_for_help = means(app, key, Action::Help) && !(overlay.writes() && is_text(key));
    let mut next = overlay.press(app, key);
    if asks_for_help && matches!(next, Next::Stay) {
        next = Next::open(Help::default());
    }
    app.overlays.settle(overlay, next);
    Handled::Consumed
}

/// Says whether a key has a meaning that holds over the panes too.
pub(super) fn means(app: &App, key: Key, action: Action) -> bool {
    app.keymap.action(KeyScope::Overview, key) == Some(action)
}

/// Gives a pasted text to the top overlay, if it takes any.
pub(crate) fn paste(app: &mut App, text: &str) -> Handled {
    let Some(mut overlay) = app.overlays.0.pop() else { return Handled::Ignored };
    let handled = overlay.paste(app, text);
    app.damage.is_all |= handled == Handled::Consumed;
    app.overlays.0.push(overlay);
    handled
}

/// Gives an event of the mouse to the top overlay: the wheel turns it, a click chooses, a double
/// click accepts, and a click beside it closes it.
pub(crate) fn point(app: &mut App, mouse: Mouse) {
    let Some(mut overlay) = app.overlays.0.pop() else { return };
    let mut next = Next::Stay;
    match mouse.kind {
        MouseKind::ScrollUp => overlay.scroll(app, false),
        MouseKind::ScrollDown => overlay.scroll(app, true),
        MouseKind::Press(MouseButton::Left) => {
            let at = Position { x: mouse.col, y: mouse.row };
            next = match overlay.hit(app, app.body(), at) {
                Hit::Outside => overlay.cancel(app),
                Hit::Button(Action::Choose(choice)) => overlay.choose(app, choice),
                Hit::Button(Action::Help) => Next::open(Help::default()),
                Hit::Button(action) => overlay.act(app, action),
                Hit::Item(index) => overlay.click(app, index),
                Hit::Inside => Next::Stay,
            };
        }
        MouseKind::Press(_)
        | MouseKind::Release(_)
        | MouseKind::Drag(_)
        | MouseKind::Move
        | MouseKind::ScrollLeft
        | MouseKind::ScrollRight => {}
    }
    app.damage.is_all |= mouse.kind != MouseKind::Move;
    app.overlays.settle(overlay, next);
}

/// Gives what came back from the person's own editor to the overlay that asked for it: nothing
/// opened or closed while the editor had the terminal.
pub(crate) fn edited(app: &mut App, outcome: Result<String, String>) {
    app.damage.is_all = true;
    if let Some(mut overlay) = app.overlays.0.pop() {
        overlay.edited(app, outcome);
        app.overlays.0.push(overlay);
    }
}

/// Does something to each overlay, from the bottom up; none opens or closes another meanwhile.
fn each(app: &mut App, mut act: impl FnMut(&mut App, &mut dyn Overlay)) {
    let mut overlays = std::mem::take(&mut app.overlays);
    for overlay in overlays.iter_mut() {
        act(app, overlay.as_mut());
    }
    app.overlays = overlays;
}

/// Does something to each overlay of one kind.
pub(crate) fn each_of<T: Overlay>(app: &mut App, mut act: impl FnMut(&mut App, &mut T)) {
    each(app, |app, overlay| {
        if let Some(own) = (overlay as &mut dyn Any).downcast_mut() {
            act(app, own);
        }
    });
}

/// Closes what is about something that is gone, and tells the others of a new status.
pub(crate) fn follow(app: &mut App, news: &Status) {
    let mut overlays = std::mem::take(&mut app.overlays);
    overlays.0.retain(|overlay| overlay.still_stands(app));
    app.overlays = overlays;
    each(app, |app, overlay| overlay.follow(app, news));
}

/// Lets those look again whose time has come.
pub(crate) fn tick(app: &mut App) {
    each(app, |app, overlay| {
        if overlay.due().is_some_and(|due| due <= app.now) {
            overlay.refresh(app);
        }
    });
}
