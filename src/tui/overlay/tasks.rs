//! The tasks: where each stands, who has it, and what it waits for.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::dialog_box::{Button, DialogBox, Hit, buttons};
use super::list::List;
use super::stack::{Next, Overlay};
use super::{Confirm, PromptBox, TaskForm, TaskView};
use crate::api::{Request, TaskRequest, TaskStatus};
use crate::model::{AgentName, Key, TaskId, TaskState};
use crate::tui::app::{App, Purpose};
use crate::tui::keys::{Action, ListAction, TaskAction};
use crate::tui::style::{Tone, as_of_agent, sign};
use crate::tui::text::{clean, clip, padded, width};

/// The list; what is in it is looked up each time, since tasks come and move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskList {
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

impl TaskList {
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

    fn dialog(app: &App) -> DialogBox {
        let mut edge = buttons(app, &[(ListAction::Accept, "show")]);
        edge.extend(button(app, TaskAction::Add, "add"));
        edge.extend(task_buttons(app));
        edge.extend(buttons(app, &[(ListAction::Cancel, "close")]));
        let rows = u16::try_from(app.tasks.len().max(1)).unwrap_or(u16::MAX);
        DialogBox {
            title: "Tasks".to_owned(),
            tone: Tone::Accent,
            width: WIDTH,
            height: rows.saturating_add(HEADING_ROWS),
            buttons: edge,
        }
    }

    /// Returns the room of the list, under its heading.
    fn list_room(inner: Rect) -> Rect {
        let height = inner.height.saturating_sub(HEADING_ROWS);
        Rect { y: inner.y + HEADING_ROWS, height, ..inner }.intersection(inner)
    }
}

impl Overlay for TaskList {
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        if let Some(tasking) = app.keymap.task_action(key) {
            return self.act(app, Action::Task(tasking));
        }
        app.keymap.list_action(key).map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    /// Does something with the chosen task, or adds one.
    fn act(&mut self, app: &mut App, action: Action) -> Next {
        match (action, self.chosen(app)) {
            (Action::Task(TaskAction::Add), _) => add(app),
            (Action::Task(tasking), Some(task)) => act_on(app, task, tasking),
            (_, _) => Next::Stay,
        }
    }

    fn list(&self, app: &App) -> List {
        List { chosen: self.at(app), count: app.tasks.len() }
    }

    fn pick(&mut self, app: &App, index: usize) {
        self.chosen = app.tasks.get(index).and_then(|task| task.id.parse().ok());
    }

    fn accept(&mut self, app: &mut App) -> Next {
        self.chosen(app).map_or(Next::Stay, |id| Next::open(TaskView::open(app, id)))
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = Self::dialog(app);
        let task = self.list(app).entry_at(Self::list_room(dialog.inner(area)), at);
        task.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = Self::dialog(app).draw(app, area, buffer);
        let (dim, room) = (app.theme.tone(Tone::Dim), usize::from(inner.width));
        let list = Self::list_room(inner);
        let who = who(room, "AGENT", "TRY");
        let heading = format!("    {:ID_COLS$} {:STATE_COLS$} {who} TITLE", "TASK", "STATE");
        if app.tasks.is_empty() {
            let hint = app.keymap.hint(Action::Task(TaskAction::Add)).unwrap_or_default();
            let text = format!("No tasks yet. Press {hint} to add one");
            buffer.set_stringn(inner.x, inner.y, text, room, dim);
        } else if inner.height > 0 {
            buffer.set_stringn(inner.x, inner.y, heading, room, dim);
        }
        self.list(app).draw(list, buffer, |index, is_chosen, room| {
            list_line(app, &app.tasks[index], is_chosen, room)
        });
    }
}

/// Returns the button for something that can be done with a task.
fn button(app: &App, tasking: TaskAction, what: &'static str) -> Option<Button> {
    Button::new(app, Action::Task(tasking), what)
}

/// Returns the buttons for what can be done with the task that is chosen or shown.
pub(super) fn task_buttons(app: &App) -> impl Iterator<Item = Button> {
    let all = [
        button(app, TaskAction::Write, "write"),
        button(app, TaskAction::Retry, "retry"),
        button(app, TaskAction::GiveUp, "give up"),
        button(app, TaskAction::Give, "to the selected"),
    ];
    all.into_iter().flatten()
}

/// Opens the form for one more task, with what was left in it the last time.
fn add(app: &mut App) -> Next {
    Next::open(app.task_draft.take().unwrap_or_else(TaskForm::for_new))
}

/// Does something with one task.
pub(super) fn act_on(app: &mut App, task: TaskId, tasking: TaskAction) -> Next {
    let state = app.task(task).map(|known| known.state);
    match tasking {
        TaskAction::Add => return add(app),
        TaskAction::Retry => return Next::open(TaskForm::for_retry(task)),
        TaskAction::GiveUp if state.is_some_and(TaskState::is_final) => {
            app.say(Tone::Dim, format!("{task} has ended"));
        }
        TaskAction::GiveUp => return Next::open(Confirm::Task { task }),
        TaskAction::Give => give(app, task),
        TaskAction::Write => return write_to(app, task),
    }
    Next::Stay
}

/// Opens the line for a prompt to the agent that has a task, or had it last: what it asked a person
/// for is answered there.
fn write_to(app: &mut App, task: TaskId) -> Next {
    let agent =
        app.task(task).and_then(|known| known.agent.as_ref()).and_then(|name| name.parse().ok());
    let Some(agent) = agent.filter(|name: &AgentName| app.agent(name).is_some()) else {
        app.say(Tone::Warning, format!("No agent in this team has {task}"));
        return Next::Stay;
    };
    app.selected = Some(agent.clone());
    Next::open(PromptBox::for_pane(app, agent))
}

/// Gives a task to the agent that is selected.
fn give(app: &mut App, task: TaskId) {
    let Some(agent) = app.selected.clone() else {
        return app.say(Tone::Warning, "There is no agent to assign it to");
    };
    if !app.is_connected() {
        return app.say(Tone::Danger, format!("{task} was not assigned: no connection to the hub"));
    }
    app.say(Tone::Dim, format!("Assigning {task} to {agent}…"));
    let ask = TaskRequest::Claim { task: task.to_string(), agent: agent.to_string() };
    app.ask(Purpose::Order, Request::Task { ask });
}

/// Returns the columns about who tries a task, where there is room for them.
fn who(room: usize, agent: &str, attempt: &str) -> String {
    let columns = format!("{} {attempt:>TRY_COLS$} ", cell(agent, AGENT_COLS));
    if room < WHO_ROOM_MIN { String::new() } else { columns }
}

/// Returns the text in so many columns.
fn cell(text: &str, columns: usize) -> String {
    padded(&clip(text, columns), columns)
}

fn list_line(app: &App, task: &TaskStatus, is_chosen: bool, room: usize) -> Line<'static> {
    let (arrow, kin) = (if is_chosen { "▸" } else { " " }, as_of_agent(task.state));
    let agent = task.agent.as_deref().map_or("—".to_owned(), clean);
    let attempt = if task.attempt == 0 { String::new() } else { task.attempt.to_string() };
    let head = format!(
        "{arrow} {} {} {} {} ",
        sign(kin),
        cell(&clean(&task.id), ID_COLS),
        cell(&task.state.to_string(), STATE_COLS),
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
    let text = cell(&format!("{title}{wait}"), rest);
    if is_chosen {
        return Line::styled(format!("{head}{text}"), app.theme.block(Tone::Accent));
    }
    let tone = if task.state.is_final() { Tone::Dim } else { Tone::Text };
    Line::from(vec![
        Span::styled(head, app.theme.state(kin)),
        Span::styled(text, app.theme.tone(tone)),
    ])
}
