//! A form: labelled fields, of which one takes what is typed.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::list::List;
use crate::model::{Key, KeyCode};
use crate::tui::app::App;
use crate::tui::keys::{Keymap, is_text};
use crate::tui::prompt::TextEditor;
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// The fields of a form, in their order.
#[derive(Clone, Debug)]
pub(super) struct Form<K> {
    pub fields: Vec<Field<K>>,
    /// The field that keys are about.
    at: usize,
}

/// One thing that a form asks for.
#[derive(Clone, Debug)]
pub(super) struct Field<K> {
    pub kind: K,
    label: &'static str,
    /// What the field is for.
    pub about: &'static str,
    /// Stands where nothing is typed.
    placeholder: &'static str,
    /// With more than one it takes lines.
    pub rows: u16,
    chars_max: usize,
    accepts: fn(char) -> bool,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(TextEditor),
    Choice { options: Vec<String>, chosen: usize },
}

/// Where labels stand: the blanks between the mark and a label, and the columns of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels {
    pub gap: usize,
    pub columns: u16,
}

impl<K: Copy + PartialEq> Form<K> {
    pub(super) fn new(fields: Vec<Field<K>>) -> Self {
        Self { fields, at: 0 }
    }

    pub(super) fn current(&self) -> &Field<K> {
        &self.fields[self.at]
    }

    /// Goes to the next field or the one before; beyond an end comes the other one.
    pub(super) fn step(&mut self, is_down: bool) {
        self.at = List { chosen: self.at, count: self.fields.len() }.stepped(is_down);
    }

    /// Goes to a field.
    pub(super) fn go_to(&mut self, kind: K) {
        self.at = self.fields.iter().position(|field| field.kind == kind).unwrap_or(self.at);
    }

    pub(super) fn value(&self, kind: K) -> Option<&Value> {
        self.fields.iter().find(|field| field.kind == kind).map(|field| &field.value)
    }

    /// Returns what is typed in a field.
    pub(super) fn text(&self, kind: K) -> &str {
        if let Some(Value::Text(editor)) = self.value(kind) { editor.text().trim() } else { "" }
    }

    /// Returns which option of a field is chosen.
    pub(super) fn chosen(&self, kind: K) -> usize {
        if let Some(Value::Choice { chosen, .. }) = self.value(kind) { *chosen } else { 0 }
    }

    /// Returns the text that keys are about, if it is one.
    pub(super) fn editor(&mut self) -> Option<&mut TextEditor> {
        if let Value::Text(editor) = &mut self.fields[self.at].value { Some(editor) } else { None }
    }

    /// Writes at the cursor what the field takes; where there is one line, there stays one.
    pub(super) fn insert(&mut self, text: &str) {
        let field = &mut self.fields[self.at];
        let Value::Text(editor) = &mut field.value else { return };
        let is_line = field.rows == 1;
        let text = if is_line { text.replace(['\n', '\r'], " ") } else { text.to_owned() };
        let room = field.chars_max.saturating_sub(editor.text().chars().count());
        let fitting: String = text.chars().filter(|c| (field.accepts)(*c)).take(room).collect();
        editor.insert(&fitting);
    }

    /// Takes a key, where what is typed is one line.
    pub(super) fn press_in_line(&mut self, keymap: &Keymap, key: Key) {
        if let (KeyCode::Char(c), true) = (key.code, is_text(key)) {
            self.insert(c.encode_utf8(&mut [0; 4]));
        } else if let Some(editor) = self.editor() {
            editor.press_in_line(keymap, key);
        }
    }

    /// Takes the next option of the field that keys are about, or the one before.
    pub(super) fn turn(&mut self, is_forward: bool) {
        if let Value::Choice { options, chosen } = &mut self.fields[self.at].value {
            *chosen = List { chosen: *chosen, count: options.len() }.stepped(is_forward);
        }
    }

    /// Returns the room of each field, and what is left below a blank. Where the room is too low,
    /// long texts give way.
    pub(super) fn rooms(&self, inner: Rect, below_rows: u16) -> (Vec<Rect>, Rect) {
        let wanted: u16 = self.fields.iter().map(|field| field.rows).sum();
        let mut missing = (wanted + below_rows).saturating_sub(inner.height);
        let mut y = inner.y;
        let place = |field: &Field<K>| {
            let given = missing.min(field.rows - 1);
            missing -= given;
            let room = Rect { y, height: field.rows - given, ..inner };
            y = room.bottom();
            room.intersection(inner)
        };
        let fields: Vec<Rect> = self.fields.iter().map(place).collect();
        let below = Rect { y: y + 1, height: inner.bottom().saturating_sub(y + 1), ..inner };
        if below.is_empty() { self.least_rooms(inner) } else { (fields, below) }
    }

    /// Returns the same where not even a line for each fits: the field that is written into, those
    /// around it as far as there is room, and one line below.
    fn least_rooms(&self, inner: Rect) -> (Vec<Rect>, Rect) {
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

    /// Draws the field of an index.
    pub(super) fn draw(
        &self,
        app: &App,
        index: usize,
        room: Rect,
        labels: Labels,
        buffer: &mut Buffer,
    ) {
        if room.is_empty() {
            return;
        }
        let (field, has_focus) = (&self.fields[index], index == self.at);
        let (mark, tone) = if has_focus { ("▸", Tone::Accent) } else { (" ", Tone::Dim) };
        let label = format!("{mark}{}{}", " ".repeat(labels.gap), field.label);
        buffer.set_stringn(room.x, room.y, label, usize::from(room.width), app.theme.tone(tone));
        let shift = labels.columns.min(room.width);
        let room = Rect { x: room.x + shift, width: room.width - shift, ..room };
        field.draw_value(app, room, has_focus, buffer);
    }
}

impl<K> Field<K> {
    /// Returns a field in which nothing is typed yet.
    pub(super) fn text(kind: K, label: &'static str, about: &'static str) -> Self {
        let value = Value::Text(TextEditor::default());
        let (placeholder, rows, chars_max) = ("", 1, usize::MAX);
        let accepts = |_| true;
        Self { kind, label, about, placeholder, rows, chars_max, accepts, value }
    }

    /// Returns a field with options, the first of which is chosen.
    pub(super) fn choice(
        kind: K,
        label: &'static str,
        options: Vec<String>,
        about: &'static str,
    ) -> Self {
        Self { value: Value::Choice { options, chosen: 0 }, ..Self::text(kind, label, about) }
    }

    pub(super) fn with_rows(self, rows: u16) -> Self {
        Self { rows, ..self }
    }

    pub(super) fn with_placeholder(self, placeholder: &'static str) -> Self {
        Self { placeholder, ..self }
    }

    /// Returns the same field, which takes so many of the characters that it accepts.
    pub(super) fn at_most(self, chars_max: usize, accepts: fn(char) -> bool) -> Self {
        Self { chars_max, accepts, ..self }
    }

    fn draw_value(&self, app: &App, room: Rect, has_focus: bool, buffer: &mut Buffer) {
        let plain = app.theme.tone(Tone::Text);
        let line = |buffer: &mut Buffer, text: &str, style| {
            buffer.set_stringn(room.x, room.y, text, usize::from(room.width), style);
        };
        match &self.value {
            Value::Text(editor) if editor.text().is_empty() && !has_focus => {
                line(buffer, self.placeholder, app.theme.tone(Tone::Dim));
            }
            Value::Text(editor) => editor.draw(room, has_focus, plain, buffer),
            Value::Choice { options, chosen } => {
                let value = clean(options.get(*chosen).map_or("", String::as_str));
                let bold = plain.add_modifier(Modifier::BOLD);
                if has_focus {
                    line(buffer, &format!("‹ {value} ›"), bold);
                } else {
                    line(buffer, &value, plain);
                }
            }
        }
    }
}
