//! The form for one more task, or for another try at one.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::dialog_box::{Button, DialogBox, Hit, draw_wrapped, remark};
use super::form::{Field, Form, Labels};
use super::stack::{Handled, Next, Overlay};
use crate::api::{Request, TaskRequest};
use crate::model::{AgentName, Key, KeyCode, TaskId, TaskSpec, Terms};
use crate::tui::app::{App, LocalEffect, Purpose};
use crate::tui::keys::{Action, EditAction, ListAction};
use crate::tui::keys::{is_text, off_the_pad};
use crate::tui::prompt::completion;
use crate::tui::style::Tone;

/// A task that is being described, or what is said about the next try at one.
#[derive(Clone, Debug)]
pub(crate) struct TaskForm {
    /// The task that is tried again; a new one otherwise.
    retried: Option<TaskId>,
    form: Form<TaskField>,
    /// The hub was asked and has not answered.
    pub is_sent: bool,
    fault: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskField {
    Title,
    Prompt,
    Agent,
    Needs,
    Gates,
    Advice,
}

/// What is wrong, and in which field.
type Objection = (TaskField, String);

const WIDTH: u16 = 84;
const LABELS: Labels = Labels { gap: 1, columns: 9 };
/// The blank under the fields, and the remark.
const BELOW_ROWS: u16 = 3;

impl TaskForm {
    pub(super) fn for_new() -> Self {
        let title = Field::text(TaskField::Title, "Title", "A short name for lists.");
        let prompt = Field::text(TaskField::Prompt, "Prompt", "The prompt for the agent.");
        let needs = "Tasks that must be done first, such as t1 t2.";
        let gates = "Checks that must pass, one on each line: a command, or file:PATH.";
        let fields = vec![
            title,
            prompt.with_rows(6),
            agent_field(),
            Field::text(TaskField::Needs, "Needs", needs),
            Field::text(TaskField::Gates, "Gates", gates).with_rows(2),
        ];
        Self { retried: None, form: Form::new(fields), is_sent: false, fault: None }
    }

    pub(super) fn for_retry(task: TaskId) -> Self {
        let about = "Optional: what to do differently this time.";
        let advice = Field::text(TaskField::Advice, "Advice", about).with_rows(3);
        let form = Form::new(vec![advice, agent_field()]);
        Self { retried: Some(task), form, is_sent: false, fault: None }
    }

    fn write(&mut self, app: &mut App, writing: EditAction) -> Next {
        let Some(editor) = self.form.editor() else { return Next::Stay };
        match writing {
            EditAction::Send | EditAction::SendAnyway => self.send(app),
            EditAction::Leave => return self.leave(app),
            EditAction::OpenEditor => app.wishes.push(LocalEffect::Edit(editor.text().to_owned())),
            EditAction::Complete => self.complete(app),
            EditAction::Older if !editor.go_up() => self.form.step(false),
            EditAction::Newer if !editor.go_down() => self.form.step(true),
            EditAction::NewLine => self.form.insert("\n"),
            EditAction::Older
            | EditAction::Newer
            | EditAction::WordLeft
            | EditAction::WordRight
            | EditAction::LineStart
            | EditAction::LineEnd
            | EditAction::KillWord
            | EditAction::KillStart
            | EditAction::KillEnd => drop(editor.write(writing)),
        }
        Next::Stay
    }

    /// Goes on with the name of an agent, or to the next field if there is nothing to go on with.
    fn complete(&mut self, app: &App) {
        let is_agent = self.form.current().kind == TaskField::Agent;
        let typed = self.form.editor().map_or("", |editor| editor.before_cursor()).to_owned();
        let is_name = is_agent && !typed.is_empty();
        let rest = is_name.then(|| completion(&format!("@{typed}"), &app.names())).flatten();
        match rest.as_deref().map(str::trim_end).filter(|rest| !rest.is_empty()) {
            Some(rest) => self.form.insert(rest),
            None => self.form.step(true),
        }
    }

    /// Closes; a new task that was not sent is there the next time.
    fn leave(&self, app: &mut App) -> Next {
        let has_text = self.form.fields.iter().any(|field| !self.form.text(field.kind).is_empty());
        if self.retried.is_none() && has_text && !self.is_sent {
            app.task_draft = Some(Self { fault: None, ..self.clone() });
        }
        Next::Close
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

    fn send(&mut self, app: &mut App) {
        if self.is_sent {
            return;
        }
        if !app.is_connected() {
            self.fault = Some("No connection to the hub. Your text is kept here".to_owned());
            return;
        }
        match self.described(app) {
            Ok(ask) => {
                self.is_sent = true;
                app.ask(Purpose::TaskForm, Request::Task { ask });
            }
            Err((kind, fault)) => {
                self.form.go_to(kind);
                self.fault = Some(fault);
            }
        }
    }

    /// Returns what is asked for, or what is wrong with it.
    fn described(&self, app: &App) -> Result<TaskRequest, Objection> {
        let agent = self.agent(app)?;
        if let Some(task) = self.retried {
            let advice =
                Some(self.form.text(TaskField::Advice).to_owned()).filter(|text| !text.is_empty());
            let agent = agent.map(|agent| agent.to_string());
            return Ok(TaskRequest::Retry { task: task.to_string(), advice, agent });
        }
        let (title, prompt) = (self.form.text(TaskField::Title), self.form.text(TaskField::Prompt));
        if title.is_empty() {
            return Err((TaskField::Title, "Give it a title".to_owned()));
        }
        if prompt.is_empty() {
            return Err((TaskField::Prompt, "Write a prompt".to_owned()));
        }
        let gates =
            self.form.text(TaskField::Gates).lines().map(str::trim).filter(|gate| !gate.is_empty());
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

    fn agent(&self, app: &App) -> Result<Option<AgentName>, Objection> {
        let (name, names) = (self.form.text(TaskField::Agent), app.names());
        if name.is_empty() {
            return Ok(None);
        }
        let known = names.iter().find(|known| known.as_str() == name);
        known.cloned().map(Some).ok_or_else(|| {
            let nearest = names.iter().min_by_key(|n| strsim::levenshtein(n.as_str(), name));
            let nearest = nearest.map(|nearest| format!("; the nearest is `{nearest}`"));
            (TaskField::Agent, format!("There is no agent `{name}`{}", nearest.unwrap_or_default()))
        })
    }

    fn needs(&self) -> Result<Vec<String>, Objection> {
        let is_gap = |c: char| c.is_whitespace() || c == ',';
        let words = self.form.text(TaskField::Needs).split(is_gap).filter(|word| !word.is_empty());
        let needs = words.map(|word| match word.parse::<TaskId>() {
            Ok(task) => Ok(task.to_string()),
            Err(fault) => Err((TaskField::Needs, format!("`{word}`: {fault}"))),
        });
        needs.collect()
    }

    fn dialog(&self, app: &App) -> DialogBox {
        let hint = |writing, choice: Option<ListAction>, what| {
            let key = app.keymap.hint(Action::Write(writing))?;
            Some(Button { key, action: choice.map(Action::Choose), what })
        };
        let (title, send) = match self.retried {
            Some(task) => (format!("Retry {task}"), "try"),
            None => ("Add a task".to_owned(), "add"),
        };
        let edge = [
            hint(EditAction::Send, Some(ListAction::Accept), send),
            hint(EditAction::Complete, None, "next"),
            hint(EditAction::NewLine, None, "new line"),
            hint(EditAction::OpenEditor, None, "editor"),
            hint(EditAction::Leave, Some(ListAction::Cancel), "leave"),
        ];
        let rows: u16 = self.form.fields.iter().map(|field| field.rows).sum();
        DialogBox {
            title,
            tone: Tone::Accent,
            width: WIDTH,
            height: rows + BELOW_ROWS,
            buttons: edge.into_iter().flatten().collect(),
        }
    }

    /// Returns what went wrong, or what the field is for.
    fn note(&self, app: &App) -> (String, Style) {
        let sending = self.is_sent.then(|| "Sending…".to_owned());
        let about = self.form.current().about;
        remark(app, self.fault.as_ref(), sending)
            .unwrap_or_else(|| (about.to_owned(), app.theme.tone(Tone::Dim)))
    }
}

impl Overlay for TaskForm {
    fn writes(&self) -> bool {
        true
    }

    fn press(&mut self, app: &mut App, key: Key) -> Next {
        let key = off_the_pad(key);
        let writing = app.keymap.edit_action(key);
        if self.is_sent && writing != Some(EditAction::Leave) {
            return Next::Stay;
        }
        self.fault = None;
        if is_text(key) {
            if let KeyCode::Char(c) = key.code {
                self.form.insert(c.encode_utf8(&mut [0; 4]));
            }
            return Next::Stay;
        }
        if let Some(writing) = writing {
            return self.write(app, writing);
        }
        if let Some(choice) = app.keymap.list_action_beside_text(key) {
            return self.choose(app, choice);
        }
        if let Some(editor) = self.form.editor() {
            editor.press(key);
        }
        Next::Stay
    }

    fn paste(&mut self, _app: &App, text: &str) -> Handled {
        if !self.is_sent {
            self.form.insert(text);
        }
        Handled::Consumed
    }

    fn edited(&mut self, _app: &mut App, outcome: Result<String, String>) {
        match outcome {
            Ok(text) if self.is_sent || text.trim().is_empty() => {}
            Ok(text) => {
                self.form.editor().map(std::mem::take);
                self.form.insert(text.trim_end());
            }
            Err(fault) => self.fault = Some(fault),
        }
    }

    fn step(&mut self, _app: &App, is_down: bool) {
        self.form.step(is_down);
    }

    fn click(&mut self, _app: &mut App, index: usize) -> Next {
        self.form.go_to(self.form.fields[index].kind);
        Next::Stay
    }

    fn accept(&mut self, app: &mut App) -> Next {
        self.send(app);
        Next::Stay
    }

    fn cancel(&mut self, app: &mut App) -> Next {
        self.leave(app)
    }

    /// Takes note that the hub may have done what was asked, and has not said so.
    fn lose_hub(&mut self) {
        if self.is_sent {
            let what = "The hub stopped before it answered";
            self.fail(format!("{what}. Send it again; it is done only once"));
        }
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = self.dialog(app);
        let (fields, _) = self.form.rooms(dialog.inner(area), BELOW_ROWS);
        let field = fields.iter().position(|room| room.contains(at));
        field.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = self.dialog(app).draw(app, area, buffer);
        let (fields, below) = self.form.rooms(inner, BELOW_ROWS);
        for (index, room) in fields.into_iter().enumerate() {
            self.form.draw(app, index, room, LABELS, buffer);
        }
        let (note, style) = self.note(app);
        draw_wrapped(&note, style, below, buffer);
    }
}

fn agent_field() -> Field<TaskField> {
    let about = "Leave empty for any free agent that fits.";
    Field::text(TaskField::Agent, "Agent", about)
}
