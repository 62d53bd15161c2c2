//! The form for one more task, or for another try at one.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use super::dialog::{Button, Dialog, Hit};
use super::list::stepped;
use super::stack::Fate;
use super::wrapped::wrapped;
use crate::model::{AgentName, Key, KeyCode, TaskId, TaskSpec, Terms};
use crate::tui::action::{Action, Choice, Writing};
use crate::tui::app::{App, Purpose, Wish};
use crate::tui::keymap::{is_text, off_the_pad};
use crate::tui::look::Tone;
use crate::tui::prompt::{Editor, completion};
use crate::wire::{Request, TaskRequest};

/// A task that is being described, or what is said about the next try at one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskForm {
    /// The task that is tried again; a new one otherwise.
    retried: Option<TaskId>,
    fields: Vec<Field>,
    /// The field that is written into.
    at: usize,
    /// The hub was asked and has not answered.
    pub is_sent: bool,
    fault: Option<String>,
}

/// One thing that the form asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    kind: Kind,
    editor: Editor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Title,
    Prompt,
    Agent,
    Needs,
    Gates,
    Advice,
}

/// What is wrong, and in which field.
type Objection = (Kind, String);

const WIDTH: u16 = 84;
const LABEL_COLS: u16 = 9;
/// The blank under the fields, and the remark.
const BELOW_ROWS: u16 = 3;

impl TaskForm {
    pub(super) fn for_new() -> Self {
        Self::new(None, &[Kind::Title, Kind::Prompt, Kind::Agent, Kind::Needs, Kind::Gates])
    }

    pub(super) fn for_retry(task: TaskId) -> Self {
        Self::new(Some(task), &[Kind::Advice, Kind::Agent])
    }

    fn new(retried: Option<TaskId>, kinds: &[Kind]) -> Self {
        let field = |kind: &Kind| Field { kind: *kind, editor: Editor::default() };
        let fields = kinds.iter().map(field).collect();
        Self { retried, fields, at: 0, is_sent: false, fault: None }
    }

    pub(super) fn press(&mut self, app: &mut App, key: Key) -> Fate {
        let key = off_the_pad(key);
        let writing = app.keymap.writing(key);
        if self.is_sent && writing != Some(Writing::Leave) {
            return Fate::Stay;
        }
        self.fault = None;
        if is_text(key) {
            if let KeyCode::Char(c) = key.code {
                self.insert(c.encode_utf8(&mut [0; 4]));
            }
            return Fate::Stay;
        }
        if let Some(writing) = writing {
            return self.write(app, writing);
        }
        if let Some(choice) = app.keymap.choice_beside_text(key) {
            return self.choose(app, choice);
        }
        self.editor().press(key);
        Fate::Stay
    }

    fn write(&mut self, app: &mut App, writing: Writing) -> Fate {
        match writing {
            Writing::Send | Writing::SendAnyway => self.send(app),
            Writing::Leave => return self.leave(app),
            Writing::OpenEditor => app.wishes.push(Wish::Edit(self.editor().text().to_owned())),
            Writing::Complete => self.complete(app),
            Writing::Older if !self.editor().go_up() => self.step(false),
            Writing::Newer if !self.editor().go_down() => self.step(true),
            Writing::NewLine => self.insert("\n"),
            Writing::Older
            | Writing::Newer
            | Writing::WordLeft
            | Writing::WordRight
            | Writing::LineStart
            | Writing::LineEnd
            | Writing::KillWord
            | Writing::KillStart
            | Writing::KillEnd => {
                self.editor().write(writing);
            }
        }
        Fate::Stay
    }

    pub(super) fn choose(&mut self, app: &mut App, choice: Choice) -> Fate {
        match choice {
            Choice::Up => self.step(false),
            Choice::Down => self.step(true),
            Choice::Toggle => {}
            Choice::Accept => self.send(app),
            Choice::Cancel => return self.leave(app),
        }
        Fate::Stay
    }

    fn step(&mut self, is_down: bool) {
        self.at = stepped(self.at, self.fields.len(), is_down);
    }

    /// Goes to a field.
    pub(super) fn pick(&mut self, index: usize) {
        self.at = index.min(self.fields.len().saturating_sub(1));
    }

    fn editor(&mut self) -> &mut Editor {
        &mut self.fields[self.at].editor
    }

    /// Writes at the cursor; where there is one line, there stays one.
    pub(super) fn insert(&mut self, text: &str) {
        if self.is_sent {
            return;
        }
        if self.fields[self.at].kind.rows() > 1 {
            self.editor().insert(text);
        } else {
            self.editor().insert(&text.replace(['\n', '\r'], " "));
        }
    }

    /// Goes on with the name of an agent, or to the next field if there is nothing to go on with.
    fn complete(&mut self, app: &App) {
        let field = &self.fields[self.at];
        let typed = field.editor.before_cursor();
        let is_name = field.kind == Kind::Agent && !typed.is_empty();
        let rest = is_name.then(|| completion(&format!("@{typed}"), &app.names())).flatten();
        match rest.as_deref().map(str::trim_end).filter(|rest| !rest.is_empty()) {
            Some(rest) => self.editor().insert(rest),
            None => self.step(true),
        }
    }

    /// Takes over what came back from the person's own editor.
    pub(crate) fn edited(&mut self, outcome: Result<String, String>) {
        match outcome {
            Ok(text) if !text.trim().is_empty() => {
                *self.editor() = Editor::default();
                self.insert(text.trim_end());
            }
            Ok(_) => {}
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// Closes; a new task that was not sent is there the next time.
    fn leave(&self, app: &mut App) -> Fate {
        let has_text = self.fields.iter().any(|field| !field.editor.is_blank());
        if self.retried.is_none() && has_text && !self.is_sent {
            app.task_draft = Some(Self { fault: None, ..self.clone() });
        }
        Fate::Close
    }

    /// Says whether it is about a task that is there already.
    pub(crate) fn is_retry(&self) -> bool {
        self.retried.is_some()
    }

    /// Takes note of why the hub refused; what was written stays.
    pub(crate) fn fail(&mut self, fault: String) {
        self.is_sent = false;
        self.fault = Some(fault);
    }

    /// Takes note that the hub may have done what was asked, and has not said so.
    pub(super) fn lose_hub(&mut self) {
        if self.is_sent {
            let what = "The hub went away before it answered";
            self.fail(format!("{what}: see in the list whether it was done, then send it again"));
        }
    }

    fn send(&mut self, app: &mut App) {
        if self.is_sent {
            return;
        }
        if !app.is_connected() {
            self.fault = Some("The hub is away. What you wrote stays here".to_owned());
            return;
        }
        match self.described(app) {
            Ok(ask) => {
                self.is_sent = true;
                app.ask(Purpose::TaskForm, Request::Task { ask });
            }
            Err((kind, fault)) => {
                self.at = self.fields.iter().position(|f| f.kind == kind).unwrap_or(self.at);
                self.fault = Some(fault);
            }
        }
    }

    /// Returns what is asked for, or what is wrong with it.
    fn described(&self, app: &App) -> Result<TaskRequest, Objection> {
        let agent = self.agent(app)?;
        if let Some(task) = self.retried {
            let advice = Some(self.text(Kind::Advice).to_owned()).filter(|text| !text.is_empty());
            let agent = agent.map(|agent| agent.to_string());
            return Ok(TaskRequest::Retry { task: task.to_string(), advice, agent });
        }
        let (title, prompt) = (self.text(Kind::Title), self.text(Kind::Prompt));
        if title.is_empty() {
            return Err((Kind::Title, "It needs a title".to_owned()));
        }
        if prompt.is_empty() {
            return Err((Kind::Prompt, "Say what is to be done".to_owned()));
        }
        let gates = self.text(Kind::Gates).lines().map(str::trim).filter(|gate| !gate.is_empty());
        let gates = gates.map(str::to_owned).collect();
        let spec = TaskSpec {
            title: title.to_owned(),
            prompt: prompt.to_owned(),
            needs: self.needs()?,
            terms: Terms { agent, gates, ..Terms::default() },
            ..TaskSpec::default()
        };
        Ok(TaskRequest::Add { specs: vec![spec] })
    }

    fn text(&self, kind: Kind) -> &str {
        let field = self.fields.iter().find(|field| field.kind == kind);
        field.map_or("", |field| field.editor.text().trim())
    }

    fn agent(&self, app: &App) -> Result<Option<AgentName>, Objection> {
        let (name, names) = (self.text(Kind::Agent), app.names());
        if name.is_empty() {
            return Ok(None);
        }
        let known = names.iter().find(|known| known.as_str() == name);
        known.cloned().map(Some).ok_or_else(|| {
            let nearest = names.iter().min_by_key(|n| strsim::levenshtein(n.as_str(), name));
            let nearest = nearest.map(|nearest| format!("; the nearest is `{nearest}`"));
            (Kind::Agent, format!("There is no agent `{name}`{}", nearest.unwrap_or_default()))
        })
    }

    fn needs(&self) -> Result<Vec<String>, Objection> {
        let is_gap = |c: char| c.is_whitespace() || c == ',';
        let words = self.text(Kind::Needs).split(is_gap).filter(|word| !word.is_empty());
        let needs = words.map(|word| match word.parse::<TaskId>() {
            Ok(task) => Ok(task.to_string()),
            Err(fault) => Err((Kind::Needs, format!("`{word}`: {fault}"))),
        });
        needs.collect()
    }

    fn dialog(&self, app: &App) -> Dialog {
        let hint = |writing, choice: Option<Choice>, what| {
            let key = app.keymap.hint(Action::Write(writing))?;
            Some(Button { key, action: choice.map(Action::Choose), what })
        };
        let (title, send) = match self.retried {
            Some(task) => (format!("Try {task} again"), "try"),
            None => ("Add a task".to_owned(), "add"),
        };
        let edge = [
            hint(Writing::Send, Some(Choice::Accept), send),
            hint(Writing::Complete, None, "next"),
            hint(Writing::NewLine, None, "new line"),
            hint(Writing::OpenEditor, None, "editor"),
            hint(Writing::Leave, Some(Choice::Cancel), "leave"),
        ];
        let rows: u16 = self.fields.iter().map(|field| field.kind.rows()).sum();
        Dialog {
            title,
            tone: Tone::Accent,
            width: WIDTH,
            height: rows + BELOW_ROWS,
            buttons: edge.into_iter().flatten().collect(),
        }
    }

    /// Returns the room of each field, and that of the remark. Where the window is too low, long
    /// texts give way.
    fn parts(&self, dialog: &Dialog, inner: Rect) -> (Vec<Rect>, Rect) {
        let mut missing = dialog.height.saturating_sub(inner.height);
        let mut y = inner.y;
        let place = |field: &Field| {
            let given = missing.min(field.kind.rows() - 1);
            missing -= given;
            let room = Rect { y, height: field.kind.rows() - given, ..inner };
            y = room.bottom();
            room.intersection(inner)
        };
        let fields: Vec<Rect> = self.fields.iter().map(place).collect();
        let below = Rect { y: y + 1, height: inner.bottom().saturating_sub(y + 1), ..inner };
        if below.is_empty() { self.least_parts(inner) } else { (fields, below) }
    }

    /// Returns the same where not even a line for each fits: the field that is written into, those
    /// around it as far as there is room, and one line for the remark.
    fn least_parts(&self, inner: Rect) -> (Vec<Rect>, Rect) {
        let room = inner.height.saturating_sub(1);
        let at = u16::try_from(self.at).unwrap_or(u16::MAX);
        let first = (at + 1).saturating_sub(room);
        let place = |index: u16| {
            let row = index.checked_sub(first).filter(|row| *row < room);
            row.map_or(Rect::ZERO, |row| Rect { y: inner.y + row, height: 1, ..inner })
        };
        let fields = (0..).take(self.fields.len()).map(place).collect();
        let below =
            Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        (fields, below)
    }

    /// Returns what lies under the mouse.
    pub(super) fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = self.dialog(app);
        let (fields, _) = self.parts(&dialog, dialog.inner(area));
        let field = fields.iter().position(|room| room.contains(at));
        field.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    /// Draws the form.
    pub(super) fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let dialog = self.dialog(app);
        let inner = dialog.draw(app, area, buffer);
        let (fields, below) = self.parts(&dialog, inner);
        for (index, (room, field)) in fields.iter().zip(&self.fields).enumerate() {
            field.draw(app, *room, index == self.at, buffer);
        }
        let (note, style) = self.note(app);
        for (row, line) in below.rows().zip(wrapped(&note, usize::from(below.width))) {
            buffer.set_stringn(row.x, row.y, line, usize::from(row.width), style);
        }
    }

    /// Returns what went wrong, or what the field is for.
    fn note(&self, app: &App) -> (String, Style) {
        let bold = |tone| app.theme.tone(tone).add_modifier(Modifier::BOLD);
        match &self.fault {
            Some(fault) => (format!("✗ {fault}"), bold(Tone::Danger)),
            None if self.is_sent => ("Telling the hub…".to_owned(), bold(Tone::Accent)),
            None => (self.fields[self.at].kind.about().to_owned(), app.theme.tone(Tone::Dim)),
        }
    }
}

impl Field {
    fn draw(&self, app: &App, room: Rect, has_focus: bool, buffer: &mut Buffer) {
        if room.is_empty() {
            return;
        }
        let (mark, tone) = if has_focus { ("▸", Tone::Accent) } else { (" ", Tone::Dim) };
        let label = format!("{mark} {}", self.kind.label());
        buffer.set_stringn(room.x, room.y, label, usize::from(room.width), app.theme.tone(tone));
        let shift = LABEL_COLS.min(room.width);
        let room = Rect { x: room.x + shift, width: room.width - shift, ..room };
        self.editor.draw(room, has_focus, app.theme.tone(Tone::Text), buffer);
    }
}

impl Kind {
    fn label(self) -> &'static str {
        match self {
            Self::Title => "Title",
            Self::Prompt => "Prompt",
            Self::Agent => "Agent",
            Self::Needs => "Needs",
            Self::Gates => "Gates",
            Self::Advice => "Advice",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Title => "One line for lists.",
            Self::Prompt => "What the agent is told.",
            Self::Agent => "Only this agent; whoever is free and fits, if nobody is named.",
            Self::Needs => "Tasks that come first, such as t1 t2.",
            Self::Gates => {
                "What must pass before it is done, one on each line: a command, or file:PATH."
            }
            Self::Advice => "What to do differently this time, if anything.",
        }
    }

    /// Returns the rows that it has; with more than one it takes lines.
    fn rows(self) -> u16 {
        match self {
            Self::Title | Self::Agent | Self::Needs => 1,
            Self::Gates => 2,
            Self::Advice => 3,
            Self::Prompt => 6,
        }
    }
}
