//! The tasks: where each stands, who has it, and what it waits for.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::dialog::{Button, Dialog, Hit, buttons};
use super::list::{first_shown, item_at, stepped, turned};
use super::stack::{Fate, Overlay};
use super::{Confirm, Prompt, TaskForm, TaskView};
use crate::model::{AgentName, Key, TaskId, TaskState};
use crate::tui::action::{Action, Choice, Tasking};
use crate::tui::app::{App, Purpose};
use crate::tui::look::{Tone, as_of_agent, sign};
use crate::tui::text::{clean, clip, width};
use crate::wire::{Request, TaskRequest, TaskStatus};

/// The list; what is in it is looked up each time, since tasks come and move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tasks {
    /// By its name, so that no key meant for one task reaches another; at first the topmost.
    chosen: Option<TaskId>,
}

const WIDTH: u16 = 110;
const HEADING_ROWS: u16 = 1;
const ID_COLS: usize = 5;
const STATE_COLS: usize = 11;
const AGENT_COLS: usize = 12;
const TRY_COLS: usize = 3;
/// A narrower list does without who tries a task and how often: its title says more.
const WHO_ROOM_MIN: usize = 64;

impl Tasks {
    pub(super) fn press(&mut self, app: &mut App, key: Key) -> Fate {
        if let Some(tasking) = app.keymap.tasking(key) {
            return self.act(app, tasking);
        }
        app.keymap.choice(key).map_or(Fate::Stay, |choice| self.choose(app, choice))
    }

    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match choice {
            Choice::Up => self.pick(app, stepped(self.at(app), app.tasks.len(), false)),
            Choice::Down => self.pick(app, stepped(self.at(app), app.tasks.len(), true)),
            Choice::Toggle => {}
            Choice::Accept => {
                return self.chosen(app).map_or(Fate::Stay, |id| open(app, id));
            }
            Choice::Cancel => return Fate::Close,
        }
        Fate::Stay
    }

    /// Does something with the chosen task, or adds one.
    pub(super) fn act(&self, app: &mut App, tasking: Tasking) -> Fate {
        match (tasking, self.chosen(app)) {
            (Tasking::Add, _) => add(app),
            (_, Some(task)) => act_on(app, task, tasking),
            (_, None) => Fate::Stay,
        }
    }

    /// Chooses a task that may not be in the list yet.
    pub(crate) fn choose_task(&mut self, task: TaskId) {
        self.chosen = Some(task);
    }

    fn chosen(&self, app: &App) -> Option<TaskId> {
        app.tasks.get(self.at(app)).and_then(|task| task.id.parse().ok())
    }

    /// Returns the place of the chosen one, wherever it has moved.
    fn at(&self, app: &App) -> usize {
        let name = self.chosen.map(|task| task.to_string());
        let place = name.and_then(|name| app.tasks.iter().position(|task| task.id == name));
        place.unwrap_or(0)
    }

    pub(super) fn turn(&mut self, app: &App, is_down: bool) {
        self.pick(app, turned(self.at(app), app.tasks.len(), is_down));
    }

    pub(super) fn pick(&mut self, app: &App, index: usize) {
        self.chosen = app.tasks.get(index).and_then(|task| task.id.parse().ok());
    }

    fn dialog(app: &App) -> Dialog {
        let mut edge = buttons(app, &[(Choice::Accept, "show")]);
        edge.extend(deed(app, Tasking::Add, "add"));
        edge.extend(deeds_on_one(app));
        edge.extend(buttons(app, &[(Choice::Cancel, "close")]));
        let rows = u16::try_from(app.tasks.len().max(1)).unwrap_or(u16::MAX);
        Dialog {
            title: "Tasks".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: rows.saturating_add(HEADING_ROWS),
            buttons: edge,
        }
    }

    /// Returns the room of the list, under its heading.
    fn list(inner: Rect) -> Rect {
        let height = inner.height.saturating_sub(HEADING_ROWS);
        Rect { y: inner.y + HEADING_ROWS, height, ..inner }.intersection(inner)
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = Self::dialog(app);
        let item = item_at(self.at(app), app.tasks.len(), Self::list(dialog.inner(area)), at);
        item.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    /// Draws the list.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = Self::dialog(app).draw(app, area, buffer);
        let (dim, room) = (app.theme.tone(Tone::Dim), usize::from(inner.width));
        let list = Self::list(inner);
        let who = who(room, "AGENT", "TRY");
        let heading = format!("    {:ID_COLS$} {:STATE_COLS$} {who} TITLE", "TASK", "STATE");
        if app.tasks.is_empty() {
            let hint = app.keymap.hint(Action::Task(Tasking::Add)).unwrap_or_default();
            let text = format!("No tasks yet: {hint} adds one");
            buffer.set_stringn(inner.x, inner.y, text, room, dim);
        } else if inner.height > 0 {
            buffer.set_stringn(inner.x, inner.y, heading, room, dim);
        }
        let shown = app.tasks.iter().enumerate().skip(first_shown(self.at(app), list));
        for (row, (index, task)) in list.rows().zip(shown) {
            let line = list_line(app, task, index == self.at(app), usize::from(row.width));
            buffer.set_line(row.x, row.y, &line, row.width);
        }
    }
}

/// Returns the button for something that can be done with a task.
fn deed(app: &App, tasking: Tasking, what: &'static str) -> Option<Button> {
    Button::new(app, Action::Task(tasking), what)
}

/// Returns the buttons for what can be done with the task that is chosen or shown.
pub(super) fn deeds_on_one(app: &App) -> impl Iterator<Item = Button> {
    let all = [
        deed(app, Tasking::Write, "write"),
        deed(app, Tasking::Retry, "retry"),
        deed(app, Tasking::GiveUp, "give up"),
        deed(app, Tasking::Give, "to the selected"),
    ];
    all.into_iter().flatten()
}

/// Shows one task in full.
fn open(app: &mut App, id: TaskId) -> Fate {
    Fate::Open(Box::new(Overlay::TaskView(TaskView::open(app, id))))
}

/// Opens the form for one more task, with what was left in it the last time.
fn add(app: &mut App) -> Fate {
    let form = app.task_draft.take().unwrap_or_else(TaskForm::for_new);
    Fate::Open(Box::new(Overlay::TaskForm(form)))
}

/// Does something with one task.
pub(super) fn act_on(app: &mut App, task: TaskId, tasking: Tasking) -> Fate {
    let known = app.tasks.iter().find(|known| known.id == task.to_string());
    let state = known.map(|known| known.state);
    match tasking {
        Tasking::Add => return add(app),
        Tasking::Retry => {
            return Fate::Open(Box::new(Overlay::TaskForm(TaskForm::for_retry(task))));
        }
        Tasking::GiveUp if state.is_some_and(TaskState::is_final) => {
            app.say(Tone::Dim, format!("{task} is over already"));
        }
        Tasking::GiveUp => return Fate::Open(Box::new(Overlay::Confirm(Confirm::Task { task }))),
        Tasking::Give => give(app, task),
        Tasking::Write => return write_to(app, task),
    }
    Fate::Stay
}

/// Opens the line for a prompt to the agent that has a task, or had it last: what it asked a person
/// for is answered there.
fn write_to(app: &mut App, task: TaskId) -> Fate {
    let known = app.tasks.iter().find(|known| known.id == task.to_string());
    let agent = known.and_then(|known| known.agent.as_ref()).and_then(|name| name.parse().ok());
    let Some(agent) = agent.filter(|name: &AgentName| app.agent(name).is_some()) else {
        app.say(Tone::Warning, format!("No agent that is here has {task}"));
        return Fate::Stay;
    };
    app.selected = Some(agent.clone());
    Fate::Open(Box::new(Overlay::Prompt(Prompt::for_pane(app, agent))))
}

/// Gives a task to the agent that is selected.
fn give(app: &mut App, task: TaskId) {
    let Some(agent) = app.selected.clone() else {
        return app.say(Tone::Warning, "There is no agent to give it to");
    };
    if !app.is_connected() {
        return app.say(Tone::Danger, format!("{task} was given to nobody: the hub is away"));
    }
    app.say(Tone::Dim, format!("Giving {task} to {agent}…"));
    let ask = TaskRequest::Claim { task: task.to_string(), agent: agent.to_string() };
    app.ask(Purpose::Order, Request::Task { ask });
}

/// Returns the columns about who tries a task, where there is room for them.
fn who(room: usize, agent: &str, attempt: &str) -> String {
    let columns = format!("{} {attempt:>TRY_COLS$} ", padded(agent, AGENT_COLS));
    if room < WHO_ROOM_MIN { String::new() } else { columns }
}

fn padded(text: &str, columns: usize) -> String {
    let text = clip(text, columns);
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(&text))))
}

fn list_line(app: &App, task: &TaskStatus, is_chosen: bool, room: usize) -> Line<'static> {
    let (arrow, kin) = (if is_chosen { "▸" } else { " " }, as_of_agent(task.state));
    let agent = task.agent.as_deref().map_or("—".to_owned(), clean);
    let attempt = if task.attempt == 0 { String::new() } else { task.attempt.to_string() };
    let head = format!(
        "{arrow} {} {} {} {} ",
        sign(kin),
        padded(&clean(&task.id), ID_COLS),
        padded(&task.state.to_string(), STATE_COLS),
        who(room, &agent, &attempt),
    );
    let rest = room.saturating_sub(width(&head));
    let title = clean(&task.title);
    let (title, wait) = match task.waits_for(&app.tasks).map(|wait| clean(&wait)) {
        // What it waits for matters as much as what it is.
        Some(wait) => {
            let title = clip(&title, (rest / 2).max(rest.saturating_sub(width(&wait) + 3)));
            (title.into_owned(), format!(" · {wait}"))
        }
        None => (title, String::new()),
    };
    let text = padded(&format!("{title}{wait}"), rest);
    if is_chosen {
        return Line::styled(format!("{head}{text}"), app.theme.block(Tone::Accent));
    }
    let tone = if task.state.is_final() { Tone::Dim } else { Tone::Text };
    Line::from(vec![
        Span::styled(head, app.theme.state(kin)),
        Span::styled(text, app.theme.tone(tone)),
    ])
}
