//! One task in full: what is asked, on which terms, and what came of each attempt.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::dialog_box::{AROUND_COLS, DialogBox, Hit, buttons};
use super::stack::{Next, Overlay};
use super::tasks::{act_on, task_buttons};
use crate::api::{Request, Status, TaskRequest, TaskStatus};
use crate::model::{Attempt, GateResult, Key, Task, TaskId};
use crate::tui::app::{App, Purpose};
use crate::tui::keys::{Action, ListAction};
use crate::tui::prompt::TextEditor;
use crate::tui::style::{Tone, as_of_agent, sign};
use crate::tui::text::{clean, elapsed, wrapped};

/// A task that is looked at, and how far down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskView {
    pub id: TaskId,
    /// Unknown until the hub has answered.
    task: Option<Box<Task>>,
    fault: Option<String>,
    offset: u16,
    /// What the last status said of it, and how many reports of its agent had counted.
    seen: Option<(TaskStatus, u64)>,
}

const WIDTH: u16 = 100;

/// Lines that one notch of the wheel turns.
const WHEEL_LINES: u16 = 3;

/// A prompt may be a book and a gate may print one; `wheelhouse task show` has the rest.
const PROMPT_CHARS_MAX: usize = 8000;
const OUTPUT_LINES_MAX: usize = 12;
const STEPS_MAX: usize = 12;
const ATTEMPTS_MAX: usize = 20;

impl TaskView {
    fn new(id: TaskId) -> Self {
        Self { id, task: None, fault: None, offset: 0, seen: None }
    }

    /// Returns a view of a task, and asks the hub for all about it.
    pub(crate) fn open(app: &mut App, id: TaskId) -> Self {
        let view = Self::new(id);
        if app.is_connected() {
            let (purpose, request) = view.wish();
            app.ask(purpose, request);
        }
        view
    }

    /// Returns what it has to know from the hub, and why.
    fn wish(&self) -> (Purpose, Request) {
        let ask = TaskRequest::Show { task: self.id.to_string() };
        (Purpose::Task { task: self.id }, Request::Task { ask })
    }

    pub(crate) fn show(&mut self, task: Box<Task>) {
        self.task = Some(task);
        self.fault = None;
    }

    pub(crate) fn fail(&mut self, fault: String) {
        self.fault = Some(fault);
    }

    fn move_to(&mut self, app: &App, offset: u16) {
        let (dialog, _) = self.dialog(app, app.body());
        let hidden = dialog.height.saturating_sub(dialog.inner(app.body()).height);
        self.offset = offset.min(hidden);
    }

    /// Returns the box and the lines for it.
    fn dialog(&self, app: &App, area: Rect) -> (DialogBox, Vec<Line<'static>>) {
        let lines = self.lines(app, usize::from(WIDTH.min(area.width.saturating_sub(AROUND_COLS))));
        let mut edge = buttons(app, &[(ListAction::Up, "up"), (ListAction::Down, "more")]);
        edge.extend(task_buttons(app));
        edge.extend(buttons(app, &[(ListAction::Cancel, "close")]));
        let dialog = DialogBox {
            title: format!("Task {}", self.id),
            tone: Tone::Accent,
            width: WIDTH,
            height: u16::try_from(lines.len()).unwrap_or(u16::MAX),
            buttons: edge,
        };
        (dialog, lines)
    }

    fn lines(&self, app: &App, room: usize) -> Vec<Line<'static>> {
        let mut page = Page { app, room, lines: Vec::new() };
        if let Some(fault) = &self.fault {
            page.add("", &format!("✗ {fault}"), page.bold(Tone::Danger));
        }
        match &self.task {
            Some(task) => page.tell(task),
            None if self.fault.is_none() => {
                page.add("", "Loading…", app.theme.tone(Tone::Dim));
            }
            None => {}
        }
        page.lines
    }
}

impl Overlay for TaskView {
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        if let Some(tasking) = app.keymap.task_action(key) {
            return act_on(app, self.id, tasking);
        }
        app.keymap.list_action(key).map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    fn act(&mut self, app: &mut App, action: Action) -> Next {
        let Action::Task(tasking) = action else { return Next::Stay };
        act_on(app, self.id, tasking)
    }

    fn step(&mut self, app: &App, is_down: bool) {
        let up = self.offset.saturating_sub(1);
        self.move_to(app, if is_down { self.offset.saturating_add(1) } else { up });
    }

    fn scroll(&mut self, app: &App, is_down: bool) {
        let up = self.offset.saturating_sub(WHEEL_LINES);
        self.move_to(app, if is_down { self.offset.saturating_add(WHEEL_LINES) } else { up });
    }

    fn accept(&mut self, _app: &mut App) -> Next {
        Next::Close
    }

    fn request(&self, _app: &App) -> Option<(Purpose, Request)> {
        Some(self.wish())
    }

    /// Asks for it anew, if the status says that something about it has changed.
    fn follow(&mut self, app: &mut App, news: &Status) {
        let task = news.tasks.iter().find(|task| task.id == self.id.to_string());
        let Some(task) = task else { return };
        let agent = news.agents.iter().find(|agent| Some(&agent.name) == task.agent.as_ref());
        let seen = Some((task.clone(), agent.map_or(0, |agent| agent.reports)));
        if self.seen != seen {
            self.seen = seen;
            let (purpose, request) = self.wish();
            app.ask(purpose, request);
        }
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        self.dialog(app, area).0.hit(area, at)
    }

    /// Draws as much of it as fits.
    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let (dialog, lines) = self.dialog(app, area);
        let inner = dialog.draw(app, area, buffer);
        let hidden = lines.len().saturating_sub(usize::from(inner.height));
        let offset = usize::from(self.offset).min(hidden);
        for (row, line) in inner.rows().zip(lines.iter().skip(offset)) {
            buffer.set_line(row.x, row.y, line, row.width);
        }
    }
}

/// Lines that are being filled.
struct Page<'a> {
    app: &'a App,
    room: usize,
    lines: Vec<Line<'static>>,
}

impl Page<'_> {
    fn bold(&self, tone: Tone) -> Style {
        self.app.theme.tone(tone).add_modifier(Modifier::BOLD)
    }

    /// Adds a text that anyone may have written, on as many lines as it takes.
    fn add(&mut self, indent: &str, text: &str, style: Style) {
        for line in wrapped(&clean(text), self.room.saturating_sub(indent.len())) {
            self.lines.push(Line::styled(format!("{indent}{line}"), style));
        }
    }

    fn heading(&mut self, text: &str) {
        self.lines.push(Line::default());
        self.add("", text, self.bold(Tone::Accent));
    }

    fn tell(&mut self, task: &Task) {
        let (text, dim) = (self.app.theme.tone(Tone::Text), self.app.theme.tone(Tone::Dim));
        let kin = as_of_agent(task.state);
        self.add("", &task.title, self.bold(Tone::Text));
        let age = elapsed(self.app.now.since(task.since));
        let state = format!("{} {} · {age}", sign(kin), task.state);
        self.add("", &state, self.app.theme.state(kin));
        if let Some(note) = &task.note {
            self.add("", &format!("! {note}"), self.app.theme.tone(Tone::Warning));
        }
        if !task.needs.is_empty() {
            let needs: Vec<String> = task.needs.iter().map(|need| self.need(*need)).collect();
            self.add("", &format!("needs {}", needs.join(", ")), dim);
        }
        if let Some(agent) = &task.terms.agent {
            self.add("", &format!("only for {agent}"), dim);
        }
        if let Some(play) = task.play {
            let key = task.key.as_deref().unwrap_or_default();
            self.add("", &format!("of the run {play} {key}"), dim);
        }
        if let Some(advice) = &task.advice {
            self.add("", &format!("advice: {advice}"), dim);
        }
        self.heading("Prompt");
        self.tell_prompt(&task.prompt, text);
        if !task.terms.gates.is_empty() {
            self.heading("Gates");
            let last = task.attempts.iter().rev().find_map(|attempt| attempt.claim.as_ref());
            let results = last.map_or(&[][..], |claim| &claim.gates);
            for gate in &task.terms.gates {
                self.tell_gate(gate, results.iter().find(|result| result.gate == *gate));
            }
        }
        for (at, attempt) in task.attempts.iter().enumerate().rev().take(ATTEMPTS_MAX) {
            self.tell_attempt(at + 1, attempt);
        }
    }

    /// Returns a task that comes first, and how far it is.
    fn need(&self, need: TaskId) -> String {
        self.app
            .task(need)
            .map_or_else(|| need.to_string(), |task| format!("{need} ({})", task.state))
    }

    /// Adds the prompt as it is written: lines and blanks matter in it.
    fn tell_prompt(&mut self, prompt: &str, style: Style) {
        let shown: String = prompt.chars().take(PROMPT_CHARS_MAX).collect();
        for row in TextEditor::new(&shown).rows(self.room.saturating_sub(2)).rows {
            self.lines.push(Line::styled(format!("  {row}"), style));
        }
        if shown.len() < prompt.len() {
            let dim = self.app.theme.tone(Tone::Dim);
            self.add("  ", "… `wheelhouse task show` prints the rest", dim);
        }
    }

    fn tell_gate(&mut self, gate: &str, result: Option<&GateResult>) {
        let (mark, tone) = match result.map(|result| result.passed) {
            Some(true) => ("✓", Tone::Accent),
            Some(false) => ("✗", Tone::Danger),
            None => ("·", Tone::Dim),
        };
        self.add("  ", &format!("{mark} {gate}"), self.app.theme.tone(tone));
        let failed = result.filter(|result| !result.passed);
        let output: Vec<&str> = failed.map_or(Vec::new(), |result| result.output.lines().collect());
        let dim = self.app.theme.tone(Tone::Dim);
        for line in &output[output.len().saturating_sub(OUTPUT_LINES_MAX)..] {
            self.add("    ", line, dim);
        }
    }

    fn tell_attempt(&mut self, number: usize, attempt: &Attempt) {
        let (text, dim) = (self.app.theme.tone(Tone::Text), self.app.theme.tone(Tone::Dim));
        let age = elapsed(self.app.now.since(attempt.started));
        let outcome = attempt.outcome.map_or("under way".to_owned(), |outcome| outcome.to_string());
        self.heading(&format!("Attempt {number} · {} · {outcome} · {age}", attempt.agent));
        self.add("  ", &format!("tag {}", attempt.tag), dim);
        let steps = &attempt.steps[attempt.steps.len().saturating_sub(STEPS_MAX)..];
        for step in steps {
            self.add("  ", &format!("✓ {step}"), dim);
        }
        if let Some(claim) = &attempt.claim {
            self.add("  ", &format!("claims: {}", claim.text), text);
        }
        if !attempt.summary.is_empty() {
            self.add("  ", &attempt.summary, text);
        }
        for artifact in &attempt.artifacts {
            self.add("  ", &format!("file {} {}", artifact.path, artifact.kind), dim);
        }
    }
}
