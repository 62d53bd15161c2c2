//! The stack of overlays: the top one sees a key or a click first.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::dialog::Hit;
use super::{
    Attention, Confirm, DiffView, Help, Launcher, Newcomer, Playbooks, Prompt, Question, TaskForm,
    TaskView, Tasks,
};
use crate::model::{AgentName, Key, KeyCode, Moment, Mouse, MouseButton, MouseKind};
use crate::tui::action::{Action, Choice, Scope, Tasking};
use crate::tui::app::{App, Lead, Purpose, Target};
use crate::tui::keymap::is_text;
use crate::tui::reviewing::Reviewing;
use crate::wire::Request;

/// One thing that lies over the panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overlay {
    Help(Help),
    Launcher(Launcher),
    Playbooks(Playbooks),
    Confirm(Confirm),
    Newcomer(Newcomer),
    Prompt(Prompt),
    Question(Question),
    Attention(Attention),
    Tasks(Tasks),
    TaskView(TaskView),
    TaskForm(TaskForm),
    Diff(Box<DiffView>),
}

/// Whether a key was meant for an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    Consumed,
    Ignored,
}

/// What an overlay wants to become of itself after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Stay,
    Close,
    /// It stays, under this one.
    Open(Box<Overlay>),
}

/// Gives a key to the top overlay, if there is one.
pub(crate) fn press(app: &mut App, key: Key) -> Handled {
    let Some(mut overlay) = app.overlays.pop() else { return Handled::Ignored };
    app.damage.is_all = true;
    let writes = overlay.writes() && is_text(key);
    let asks_for_help = !writes && app.keymap.action(Scope::Overview, key) == Some(Action::Help);
    let fate = match &mut overlay {
        Overlay::Help(_) if asks_for_help => Fate::Close,
        Overlay::Newcomer(form) => form.press(app, key),
        Overlay::Playbooks(list) => list.press(app, key),
        Overlay::Prompt(prompt) => prompt.press(app, key),
        Overlay::Tasks(list) => list.press(app, key),
        Overlay::TaskView(view) => view.press(app, key),
        Overlay::TaskForm(form) => form.press(app, key),
        Overlay::Diff(view) => view.press(app, key),
        Overlay::Question(_) if leads_on(app, key) => {
            app.lead = Some(Lead::Next);
            Fate::Close
        }
        Overlay::Question(question) => question.press(app, key),
        Overlay::Confirm(confirm) if is_dispatch(app, key) => confirm.write(app),
        Overlay::Help(_) | Overlay::Launcher(_) | Overlay::Confirm(_) | Overlay::Attention(_) => {
            let choice = app.keymap.choice(key);
            choice.map_or(Fate::Stay, |choice| overlay.choose(app, choice))
        }
    };
    let opens_help = asks_for_help && !matches!(overlay, Overlay::Help(_));
    let helps = opens_help && fate == Fate::Stay;
    settle(app, overlay, fate);
    app.overlays.extend(helps.then(|| Overlay::Help(Help::default())));
    Handled::Consumed
}

/// Puts an overlay back in its place, unless it closes.
fn settle(app: &mut App, overlay: Overlay, fate: Fate) {
    match fate {
        Fate::Stay => app.overlays.push(overlay),
        Fate::Close => {}
        Fate::Open(next) => app.overlays.extend([overlay, *next]),
    }
}

fn is_dispatch(app: &App, key: Key) -> bool {
    app.keymap.action(Scope::Overview, key) == Some(Action::Dispatch)
}

/// Says whether a key goes on to the next thing that waits.
fn leads_on(app: &App, key: Key) -> bool {
    key == Key::plain(KeyCode::Tab)
        || app.keymap.action(Scope::Overview, key) == Some(Action::Attend)
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
        Overlay::Playbooks(list) => {
            list.write(text);
            app.damage.is_all = true;
            Handled::Consumed
        }
        Overlay::Prompt(prompt) => {
            prompt.insert(text);
            app.damage.is_all = true;
            Handled::Consumed
        }
        Overlay::TaskForm(form) => {
            form.insert(text);
            app.damage.is_all = true;
            Handled::Consumed
        }
        Overlay::Diff(view) => {
            app.damage.is_all = true;
            if view.insert(text) { Handled::Consumed } else { Handled::Ignored }
        }
        Overlay::Help(_)
        | Overlay::Launcher(_)
        | Overlay::Confirm(_)
        | Overlay::Question(_)
        | Overlay::Attention(_)
        | Overlay::Tasks(_)
        | Overlay::TaskView(_) => Handled::Ignored,
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
    settle(app, overlay, fate);
}

impl Overlay {
    /// Draws itself over what is there.
    pub(crate) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        match self {
            Self::Help(help) => help.draw(app, area, buffer),
            Self::Launcher(launcher) => launcher.draw(app, area, buffer),
            Self::Playbooks(list) => list.draw(app, area, buffer),
            Self::Confirm(confirm) => confirm.draw(app, area, buffer),
            Self::Newcomer(form) => form.draw(app, area, buffer),
            Self::Prompt(prompt) => prompt.draw(app, area, buffer),
            Self::Question(question) => question.draw(app, area, buffer),
            Self::Attention(list) => list.draw(app, area, buffer),
            Self::Tasks(list) => list.draw(app, area, buffer),
            Self::TaskView(view) => view.draw(app, area, buffer),
            Self::TaskForm(form) => form.draw(app, area, buffer),
            Self::Diff(view) => view.draw(app, area, buffer),
        }
    }

    /// Says whether letters are written into it.
    fn writes(&self) -> bool {
        match self {
            Self::Newcomer(_) | Self::TaskForm(_) => true,
            Self::Playbooks(list) => list.writes(),
            Self::Prompt(prompt) => prompt.writes(),
            Self::Diff(view) => view.writing.is_some(),
            Self::Help(_)
            | Self::Launcher(_)
            | Self::Confirm(_)
            | Self::Question(_)
            | Self::Attention(_)
            | Self::Tasks(_)
            | Self::TaskView(_) => false,
        }
    }

    /// Says whether what lies under it loses its colour: whoever writes to an agent looks at it.
    pub(crate) fn wants_dimness(&self) -> bool {
        !matches!(self, Self::Prompt(_))
    }

    /// Returns what it has to know from the hub, and why.
    pub(crate) fn needs(&self, app: &App) -> Option<(Purpose, Request)> {
        let environment = app.settings.environment.clone();
        match self {
            Self::Launcher(_) => Some((Purpose::Teams, Request::Teams { environment })),
            Self::Newcomer(_) => Some((Purpose::Clis, Request::Clis { environment })),
            Self::TaskView(view) => Some(view.wish()),
            Self::Diff(view) => Some(view.wish()),
            Self::Help(_)
            | Self::Playbooks(_)
            | Self::Confirm(_)
            | Self::Prompt(_)
            | Self::Question(_)
            | Self::Attention(_)
            | Self::Tasks(_)
            | Self::TaskForm(_) => None,
        }
    }

    /// Takes note that what was asked of the hub may never be answered.
    pub(crate) fn lose_hub(&mut self) {
        match self {
            Self::Launcher(launcher) => launcher.starting = None,
            Self::Newcomer(form) => form.starting = None,
            Self::Question(question) => question.is_sent = false,
            Self::TaskForm(form) => form.lose_hub(),
            Self::Diff(view) => view.lose_hub(),
            Self::Help(_)
            | Self::Playbooks(_)
            | Self::Confirm(_)
            | Self::Prompt(_)
            | Self::Attention(_)
            | Self::Tasks(_)
            | Self::TaskView(_) => {}
        }
    }

    /// Returns when it wants to look again at what it shows.
    pub(crate) fn due(&self) -> Option<Moment> {
        if let Self::Diff(view) = self { view.due() } else { None }
    }

    /// Says whether it is the form that asked for an agent.
    pub(crate) fn is_form_of(&self, agent: &AgentName) -> bool {
        matches!(self, Self::Newcomer(form) if form.starting.as_ref() == Some(agent))
    }

    fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match self {
            Self::Help(help) => help.choose(app, choice),
            Self::Launcher(launcher) => launcher.choose(app, choice),
            Self::Playbooks(list) => list.choose(app, choice),
            Self::Confirm(confirm) => confirm.choose(app, choice),
            Self::Newcomer(form) => form.choose(app, choice),
            Self::Prompt(prompt) => prompt.choose(app, choice),
            Self::Question(question) => question.choose(app, choice),
            Self::Attention(list) => list.choose(app, choice),
            Self::Tasks(list) => list.choose(app, choice),
            Self::TaskView(view) => view.choose(app, choice),
            Self::TaskForm(form) => form.choose(app, choice),
            Self::Diff(view) => view.choose(app, choice),
        }
    }

    fn turn(&mut self, app: &App, is_down: bool) -> Fate {
        match self {
            Self::Help(help) => help.turn(app, is_down),
            Self::Launcher(launcher) => launcher.turn(app, is_down),
            Self::Playbooks(list) => list.turn(app, is_down),
            Self::Newcomer(form) => form.turn(app, is_down),
            Self::Prompt(prompt) => prompt.turn(app, is_down),
            Self::Question(question) => question.turn(app, is_down),
            Self::Attention(list) => list.turn(app, is_down),
            Self::Tasks(list) => list.turn(app, is_down),
            Self::TaskView(view) => view.turn(app, is_down),
            Self::Diff(view) => view.turn(app, is_down),
            Self::Confirm(_) | Self::TaskForm(_) => {}
        }
        Fate::Stay
    }

    fn click(&mut self, app: &mut App, at: Position) -> Fate {
        let area = app.body();
        let hit = match self {
            Self::Help(_) => Help::hit(app, area, at),
            Self::Launcher(launcher) => launcher.hit(app, area, at),
            Self::Playbooks(list) => list.hit(app, area, at),
            Self::Confirm(confirm) => confirm.hit(app, area, at),
            Self::Newcomer(form) => form.hit(app, area, at),
            Self::Prompt(prompt) => prompt.hit(app, area, at),
            Self::Question(question) => question.hit(app, area, at),
            Self::Attention(list) => list.hit(app, area, at),
            Self::Tasks(list) => list.hit(app, area, at),
            Self::TaskView(view) => view.hit(app, area, at),
            Self::TaskForm(form) => form.hit(app, area, at),
            Self::Diff(view) => view.hit(app, area, at),
        };
        match hit {
            Hit::Outside => self.choose(app, Choice::Cancel),
            Hit::Button(Action::Choose(choice)) => self.choose(app, choice),
            Hit::Button(Action::Task(tasking)) => self.task(app, tasking),
            Hit::Button(Action::Review(reviewing)) => self.review(app, reviewing),
            Hit::Button(Action::Dispatch) => self.write(app),
            Hit::Button(Action::Help) => Fate::Open(Box::new(Self::Help(Help::default()))),
            Hit::Button(_) | Hit::Inside => Fate::Stay,
            Hit::Item(index) => {
                if let Self::Prompt(prompt) = self {
                    prompt.toggle(app, index);
                    return Fate::Stay;
                }
                if let Self::Diff(view) = self {
                    let is_double = app.is_double_click(Target::Item(index));
                    view.clicked(app, index, is_double);
                    return Fate::Stay;
                }
                self.pick(app, index);
                let is_field = match self {
                    Self::TaskForm(_) => true,
                    Self::Newcomer(_) => !Newcomer::is_cli(app, index),
                    Self::Help(_)
                    | Self::Launcher(_)
                    | Self::Playbooks(_)
                    | Self::Confirm(_)
                    | Self::Prompt(_)
                    | Self::Question(_)
                    | Self::Attention(_)
                    | Self::Tasks(_)
                    | Self::TaskView(_)
                    | Self::Diff(_) => false,
                };
                if is_field {
                    return Fate::Stay;
                }
                let is_double = app.is_double_click(Target::Item(index));
                if is_double { self.choose(app, Choice::Accept) } else { Fate::Stay }
            }
        }
    }

    /// Answers with a prompt instead.
    fn write(&self, app: &mut App) -> Fate {
        if let Self::Confirm(confirm) = self { confirm.write(app) } else { Fate::Stay }
    }

    fn review(&mut self, app: &mut App, reviewing: Reviewing) -> Fate {
        if let Self::Diff(view) = self { view.act(app, reviewing) } else { Fate::Stay }
    }

    fn task(&self, app: &mut App, tasking: Tasking) -> Fate {
        match self {
            Self::Tasks(list) => list.act(app, tasking),
            Self::TaskView(view) => view.act(app, tasking),
            Self::Help(_)
            | Self::Launcher(_)
            | Self::Playbooks(_)
            | Self::Confirm(_)
            | Self::Newcomer(_)
            | Self::Prompt(_)
            | Self::Question(_)
            | Self::Attention(_)
            | Self::Diff(_)
            | Self::TaskForm(_) => Fate::Stay,
        }
    }

    fn pick(&mut self, app: &App, index: usize) {
        match self {
            Self::Launcher(launcher) => launcher.pick(index),
            Self::Playbooks(list) => list.pick(index),
            Self::Newcomer(form) => form.pick(app, index),
            Self::Question(question) => question.pick(index),
            Self::Attention(list) => list.pick(app, index),
            Self::Tasks(list) => list.pick(app, index),
            Self::TaskForm(form) => form.pick(index),
            Self::Help(_)
            | Self::Confirm(_)
            | Self::Prompt(_)
            | Self::TaskView(_)
            | Self::Diff(_) => {}
        }
    }
}
