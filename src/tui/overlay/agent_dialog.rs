//! A dialog of an agent: what it says, what can be chosen, and what became of the answer.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use super::dialog_box::{AROUND_COLS, AROUND_ROWS, Button, DialogBox, Hit, remark};
use super::list::{List, entry};
use super::stack::{Next, Overlay, means};
use crate::api::{DialogChoice, DialogStatus, Request, Status};
use crate::model::{AgentName, Key, KeyCode};
use crate::tui::app::{App, AttentionGoal, Purpose};
use crate::tui::keys::off_the_pad;
use crate::tui::keys::{Action, ListAction};
use crate::tui::prompt::TextEditor;
use crate::tui::style::Tone;
use crate::tui::text::clip;

/// A dialog as it was shown to the person. Whatever the pane shows meanwhile, an answer is meant for
/// this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentDialog {
    pub agent: AgentName,
    pub dialog: DialogStatus,
    chosen: Option<usize>,
    /// Lines of the text that are out of sight above.
    offset: usize,
    /// An answer is on its way.
    pub is_sent: bool,
    /// The hub refused, so that the dialog may be another one now.
    is_refused: bool,
    fault: Option<String>,
}

const WIDTH: u16 = 76;

/// The blank between the text and the options, the one below them, and the line for a remark.
const GAP_ROWS: usize = 1;
const NOTE_ROWS: usize = 2;

/// Stand for the options of a dialog that lists none.
const YES_NO: [(char, &str); 2] = [('y', "Yes"), ('n', "No")];

impl AgentDialog {
    pub(crate) fn new(agent: AgentName, dialog: DialogStatus) -> Self {
        let chosen = dialog.selected.and_then(|number| number.checked_sub(1));
        Self { agent, dialog, chosen, offset: 0, is_sent: false, is_refused: false, fault: None }
    }

    fn answer(&mut self, app: &mut App, index: usize) {
        if self.is_sent {
            return;
        }
        self.chosen = Some(index);
        if !app.is_connected() {
            self.fault = Some("Not answered: no connection to the hub".to_owned());
            return;
        }
        let choice = match (self.dialog.options.is_empty(), index) {
            (true, 0) => DialogChoice::Approve,
            (true, _) => DialogChoice::Deny,
            (false, index) => DialogChoice::Option(index + 1),
        };
        self.is_sent = true;
        self.fault = None;
        let (agent, dialog) = (self.agent.to_string(), self.dialog.id.clone());
        app.ask(
            Purpose::Answer { agent: self.agent.clone() },
            Request::Answer { agent, dialog, choice },
        );
    }

    /// Takes note that the answer was not taken.
    pub(crate) fn fail(&mut self, fault: String) {
        self.is_sent = false;
        self.is_refused = true;
        self.fault = Some(fault);
    }

    /// Shows the dialog that is there now, but only to somebody who was told that it is another one:
    /// a key that was meant for the first must not answer the second.
    pub(crate) fn show_current(&mut self, app: &App) {
        let current = app.agent(&self.agent).and_then(|agent| agent.dialog.as_ref());
        if let Some(dialog) =
            current.filter(|dialog| self.is_refused && dialog.id != self.dialog.id)
        {
            let fault = self.fault.take();
            *self = Self { fault, ..Self::new(self.agent.clone(), dialog.clone()) };
        }
    }

    /// Returns what was chosen, in words.
    pub(crate) fn chosen_words(&self) -> String {
        let entry = self.chosen.and_then(|index| self.entries().get(index).cloned());
        entry.map(|(_, text)| text).unwrap_or_default()
    }

    /// Returns what can be chosen, each with its key.
    fn entries(&self) -> Vec<(Option<char>, String)> {
        if self.dialog.options.is_empty() {
            return YES_NO.iter().map(|(key, text)| (Some(*key), (*text).to_owned())).collect();
        }
        let digits = (1..=9).filter_map(|digit| char::from_digit(digit, 10)).map(Some);
        let keys = digits.chain(std::iter::repeat(None));
        keys.zip(&self.dialog.options).map(|(key, option)| (key, option.clone())).collect()
    }

    /// Returns the text in rows; nothing of it is left out, since the person decides by it.
    fn lines(&self, columns: u16) -> Vec<String> {
        TextEditor::new(&self.dialog.text).rows(usize::from(columns)).rows
    }

    fn dialog(&self, app: &App, area: Rect) -> DialogBox {
        let columns = WIDTH.min(area.width.saturating_sub(AROUND_COLS));
        let rows = self.lines(columns).len() + GAP_ROWS + self.entries().len() + NOTE_ROWS;
        let button = |key: Option<String>, choice: Option<ListAction>, what| {
            Some(Button { key: key?, action: choice.map(Action::Choose), what })
        };
        let beside = |choice| Some(app.keymap.hint_beside_text(choice));
        let keys = if self.dialog.options.is_empty() { "y/n" } else { "1–9" };
        DialogBox {
            title: format!("{} · {}", self.agent, self.dialog.kind),
            tone: Tone::Warning,
            width: WIDTH,
            height: u16::try_from(rows).unwrap_or(u16::MAX - AROUND_ROWS),
            buttons: [
                button(Some(keys.to_owned()), None, "answer"),
                button(beside(ListAction::Accept), Some(ListAction::Accept), "the selected option"),
                button(app.keymap.hint(Action::Attend), None, "next"),
                button(beside(ListAction::Cancel), Some(ListAction::Cancel), "close"),
            ]
            .into_iter()
            .flatten()
            .collect(),
        }
    }

    /// Returns the room of the text, of the options and of the remark; the options matter most.
    fn parts(&self, inner: Rect) -> (Rect, Rect, Rect) {
        let note =
            Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        let above = inner.height.saturating_sub(u16::try_from(NOTE_ROWS).unwrap_or(0));
        let count = u16::try_from(self.entries().len()).unwrap_or(u16::MAX).min(above);
        let options = Rect { y: inner.y + above - count, height: count, ..inner };
        let height = (above - count).saturating_sub(u16::try_from(GAP_ROWS).unwrap_or(0));
        (Rect { height, ..inner }, options, note)
    }

    fn note(&self, app: &App, hidden: usize) -> (String, Style) {
        let bold = |tone| app.theme.tone(tone).add_modifier(Modifier::BOLD);
        let current = app.agent(&self.agent).and_then(|agent| agent.dialog.as_ref());
        let has_changed = current.is_none_or(|dialog| dialog.id != self.dialog.id);
        let answering = self.is_sent.then(|| "Answering…".to_owned());
        remark(app, self.fault.as_ref(), answering).unwrap_or_else(|| {
            if has_changed {
                ("! The pane no longer shows this dialog".to_owned(), bold(Tone::Warning))
            } else if hidden > 0 {
                (format!("▾ {hidden} more lines: pgdn"), bold(Tone::Dim))
            } else {
                (String::new(), app.theme.tone(Tone::Dim))
            }
        })
    }
}

impl Overlay for AgentDialog {
    fn press(&mut self, app: &mut App, key: Key) -> Next {
        let is_next = key == Key::plain(KeyCode::Tab) || means(app, key, Action::Attend);
        if is_next {
            app.lead = Some(AttentionGoal::Next);
            return Next::Close;
        }
        let key = off_the_pad(key);
        if let KeyCode::Char(c) = key.code
            && let Some(index) = self.entries().iter().position(|(own, _)| *own == Some(c))
        {
            self.answer(app, index);
            return Next::Stay;
        }
        if matches!(key.code, KeyCode::PageUp | KeyCode::PageDown) {
            self.scroll(app, key.code == KeyCode::PageDown);
            return Next::Stay;
        }
        let choice = app.keymap.list_action_beside_text(key);
        choice.map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    fn list(&self, _app: &App) -> List {
        List { chosen: self.chosen.unwrap_or(0), count: self.entries().len() }
    }

    fn pick(&mut self, _app: &App, index: usize) {
        self.chosen = Some(index);
    }

    fn step(&mut self, app: &App, is_down: bool) {
        let list = self.list(app);
        let first = if is_down { 0 } else { list.count - 1 };
        self.chosen = Some(self.chosen.map_or(first, |_| list.stepped(is_down)));
    }

    /// Turns the text, where it is too long for its room.
    fn scroll(&mut self, app: &App, is_down: bool) {
        let (text, ..) = self.parts(self.dialog(app, app.body()).inner(app.body()));
        let hidden = self.lines(text.width).len().saturating_sub(usize::from(text.height));
        let offset = if is_down { self.offset + 1 } else { self.offset.saturating_sub(1) };
        self.offset = offset.min(hidden);
    }

    fn accept(&mut self, app: &mut App) -> Next {
        match self.chosen {
            Some(index) => self.answer(app, index),
            None => self.fault = Some("Choose y or n first".to_owned()),
        }
        Next::Stay
    }

    fn lose_hub(&mut self) {
        self.is_sent = false;
    }

    fn follow(&mut self, app: &mut App, _news: &Status) {
        self.show_current(app);
    }

    fn still_stands(&self, app: &App) -> bool {
        app.agent(&self.agent).is_some()
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        let dialog = self.dialog(app, area);
        let (_, options, _) = self.parts(dialog.inner(area));
        let option = self.list(app).entry_at(options, at);
        option.map_or_else(|| dialog.hit(area, at), Hit::Item)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        let inner = self.dialog(app, area).draw(app, area, buffer);
        let (text, options, note) = self.parts(inner);
        let lines = self.lines(text.width);
        let style = app.theme.tone(Tone::Text);
        for (row, line) in text.rows().zip(lines.iter().skip(self.offset)) {
            buffer.set_stringn(row.x, row.y, line, usize::from(row.width), style);
        }
        let entries = self.entries();
        self.list(app).draw(options, buffer, |index, _, room| {
            let (is_chosen, (key, text)) = (self.chosen == Some(index), &entries[index]);
            let arrow = if is_chosen { "▸" } else { " " };
            let text = format!("{arrow} {}  {text}", key.unwrap_or(' '));
            entry(app, &text, is_chosen, style, room)
        });
        let hidden = lines.len().saturating_sub(self.offset + usize::from(text.height));
        let (words, style) = self.note(app, hidden);
        for row in note.rows() {
            let words = clip(&words, usize::from(row.width));
            buffer.set_stringn(row.x, row.y, words, usize::from(row.width), style);
        }
    }
}
