//! A text that is being written: where the cursor is, and what keys do to it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthChar;

use crate::model::{Key, KeyCode, is_deceptive, is_picture_mark};
use crate::tui::keys::EditAction;
use crate::tui::keys::Keymap;
use crate::tui::text::REPLACEMENT;

/// The hub takes no longer prompt.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// A text with a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextEditor {
    text: String,
    /// A byte of the text, always where a character begins, or the end.
    cursor: usize,
}

/// A way for the cursor to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
}

/// The text as rows of a width, and where the cursor is among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrapped {
    pub rows: Vec<String>,
    pub cursor_row: usize,
    pub cursor_col: usize,
}

impl TextEditor {
    /// Returns a text with the cursor at its end.
    pub(crate) fn new(text: &str) -> Self {
        let mut editor = Self::default();
        editor.insert(text);
        editor
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns what stands before the cursor.
    pub(crate) fn before_cursor(&self) -> &str {
        &self.text[..self.cursor]
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Writes at the cursor, without what acts on a terminal; no more than fits.
    pub(crate) fn insert(&mut self, text: &str) {
        let lines = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut length = self.text.len();
        let fits = |c: &char| {
            length += c.len_utf8();
            length <= TEXT_BYTES_MAX
        };
        let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        let plain: String = lines.chars().filter(is_text).take_while(fits).collect();
        self.text.insert_str(self.cursor, &plain);
        self.cursor += plain.len();
    }

    /// Does what a key of the keymap means to any text, and says whether it meant that.
    pub(crate) fn write(&mut self, writing: EditAction) -> bool {
        match writing {
            EditAction::NewLine => self.insert("\n"),
            EditAction::WordLeft => self.go(Move::WordLeft),
            EditAction::WordRight => self.go(Move::WordRight),
            EditAction::LineStart => self.go(Move::LineStart),
            EditAction::LineEnd => self.go(Move::LineEnd),
            EditAction::KillWord => self.kill(Move::WordLeft),
            EditAction::KillStart => self.kill(Move::LineStart),
            EditAction::KillEnd => self.kill(Move::LineEnd),
            EditAction::Send
            | EditAction::SendAnyway
            | EditAction::OpenEditor
            | EditAction::Complete
            | EditAction::Older
            | EditAction::Newer
            | EditAction::Leave => return false,
        }
        true
    }

    /// Does what the keys do that mean the same in every text.
    pub(crate) fn press(&mut self, key: Key) {
        match key.code {
            KeyCode::Left => self.go(Move::Left),
            KeyCode::Right => self.go(Move::Right),
            KeyCode::Backspace if key.modifiers.alt => self.kill(Move::WordLeft),
            KeyCode::Backspace => self.kill(Move::Left),
            KeyCode::Delete => self.kill(Move::Right),
            KeyCode::Char(_)
            | KeyCode::Enter
            | KeyCode::Escape
            | KeyCode::Tab
            | KeyCode::Insert
            | KeyCode::Home
            | KeyCode::End
            | KeyCode::PageUp
            | KeyCode::PageDown
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Function(_)
            | KeyCode::Keypad(_) => {}
        }
    }

    /// Takes a key that writes nothing, in a text of one line.
    pub(crate) fn press_in_line(&mut self, keymap: &Keymap, key: Key) {
        match keymap.edit_action(key) {
            Some(EditAction::NewLine) => {}
            Some(writing) => drop(self.write(writing)),
            None => self.press(key),
        }
    }

    pub(crate) fn go(&mut self, way: Move) {
        self.cursor = self.target(way);
    }

    /// Removes what lies between the cursor and where it would go.
    pub(crate) fn kill(&mut self, way: Move) {
        let target = self.target(way);
        let (from, to) = (self.cursor.min(target), self.cursor.max(target));
        self.text.replace_range(from..to, "");
        self.cursor = from;
    }

    /// Goes to the line above, and says whether there is one.
    pub(crate) fn go_up(&mut self) -> bool {
        let start = self.target(Move::LineStart);
        let Some(end) = start.checked_sub(1) else { return false };
        let above = self.text[..end].rfind('\n').map_or(0, |at| at + 1);
        self.go_to_column(above, end, start);
        true
    }

    /// Goes to the line below, and says whether there is one.
    pub(crate) fn go_down(&mut self) -> bool {
        let (start, end) = (self.target(Move::LineStart), self.target(Move::LineEnd));
        if end == self.text.len() {
            return false;
        }
        let below = end + 1;
        let below_end = self.text[below..].find('\n').map_or(self.text.len(), |at| below + at);
        self.go_to_column(below, below_end, start);
        true
    }

    /// Goes as far into the line between `from` and `to` as the cursor is in its own.
    fn go_to_column(&mut self, from: usize, to: usize, own_start: usize) {
        let column = self.text[own_start..self.cursor].chars().count();
        let line = &self.text[from..to];
        self.cursor = line.char_indices().nth(column).map_or(to, |(at, _)| from + at);
    }

    fn target(&self, way: Move) -> usize {
        let (before, after) = self.text.split_at(self.cursor);
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        match way {
            Move::Left => before.char_indices().next_back().map_or(0, |(at, _)| at),
            Move::Right => self.cursor + after.chars().next().map_or(0, char::len_utf8),
            Move::WordLeft => {
                before.trim_end_matches(|c| !is_part(c)).trim_end_matches(is_part).len()
            }
            Move::WordRight => {
                let rest = after.trim_start_matches(|c| !is_part(c)).trim_start_matches(is_part);
                self.text.len() - rest.len()
            }
            Move::LineStart => before.rfind('\n').map_or(0, |at| at + 1),
            Move::LineEnd => after.find('\n').map_or(self.text.len(), |at| self.cursor + at),
        }
    }

    /// Draws as much of the text as fits, always with the cursor, which shows where one writes.
    pub(crate) fn draw(&self, room: Rect, has_cursor: bool, style: Style, buffer: &mut Buffer) {
        let text = self.rows(usize::from(room.width));
        let first = (text.cursor_row + 1).saturating_sub(usize::from(room.height));
        for (row, line) in room.rows().zip(text.rows.iter().skip(first)) {
            buffer.set_stringn(row.x, row.y, line, usize::from(row.width), style);
        }
        let y = u16::try_from(text.cursor_row - first).unwrap_or(u16::MAX);
        let x = u16::try_from(text.cursor_col).unwrap_or(u16::MAX);
        if has_cursor && x < room.width && y < room.height {
            let cell = &mut buffer[(room.x + x, room.y + y)];
            cell.set_style(style.add_modifier(Modifier::REVERSED));
        }
    }

    /// Breaks the text into rows of so many columns.
    pub(crate) fn rows(&self, width: usize) -> Wrapped {
        let width = width.max(2);
        let mut rows = vec![String::new()];
        let (mut column, mut cursor) = (0, None);
        for (at, c) in self.text.char_indices() {
            let before = self.text[..at].chars().next_back();
            let shown = match c {
                '\t' => ' ',
                c if c != '\n' && is_deceptive(c) && !is_picture_mark(before, c) => REPLACEMENT,
                c => c,
            };
            let columns = shown.width().unwrap_or(0);
            if shown != '\n' && column + columns > width {
                rows.push(String::new());
                column = 0;
            }
            if at == self.cursor {
                cursor = Some((rows.len() - 1, column));
            }
            if shown == '\n' {
                rows.push(String::new());
                column = 0;
            } else if let Some(row) = rows.last_mut() {
                row.push(shown);
                column += columns;
            }
        }
        if cursor.is_none() && column >= width {
            rows.push(String::new());
            column = 0;
        }
        let (cursor_row, cursor_col) = cursor.unwrap_or((rows.len() - 1, column));
        Wrapped { rows, cursor_row, cursor_col }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, moves: &[Move]) -> (String, String) {
        let mut editor = TextEditor::new(text);
        for way in moves {
            editor.go(*way);
        }
        let (before, after) = editor.text.split_at(editor.cursor);
        (before.to_owned(), after.to_owned())
    }

    #[test]
    fn the_cursor_goes_by_characters_words_and_lines() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(after("grün ü", &[Move::Left]), pair("grün ", "ü"));
        assert_eq!(
            after("fix the-bug, now", &[Move::WordLeft, Move::WordLeft]),
            pair("fix the-", "bug, now")
        );
        assert_eq!(after("a b", &[Move::LineStart, Move::WordRight]), pair("a", " b"));
        assert_eq!(after("one\ntwo", &[Move::LineStart]), pair("one\n", "two"));
        assert_eq!(
            after("one\ntwo", &[Move::LineStart, Move::Left, Move::LineStart]),
            pair("", "one\ntwo")
        );
        assert_eq!(
            after("", &[Move::Left, Move::WordLeft, Move::Right, Move::WordRight]),
            pair("", "")
        );
    }

    #[test]
    fn killing_takes_what_the_cursor_would_pass() {
        let mut editor = TextEditor::new("first line\nsecond wörd");
        editor.kill(Move::WordLeft);
        assert_eq!(editor.text(), "first line\nsecond ");
        editor.kill(Move::LineStart);
        assert_eq!(editor.text(), "first line\n");
        editor.kill(Move::Left);
        editor.go(Move::LineStart);
        editor.kill(Move::Right);
        editor.kill(Move::LineEnd);
        assert_eq!((editor.text(), editor.before_cursor()), ("", ""));
    }

    #[test]
    fn lines_are_kept_to_and_left_at_the_ends_only() {
        let mut editor = TextEditor::new("a long line\nxy\nanother");
        assert!(editor.go_up());
        assert_eq!(editor.before_cursor(), "a long line\nxy", "no further than the line goes");
        assert!(editor.go_up());
        assert_eq!(editor.before_cursor(), "a ");
        assert!(!editor.go_up());
        assert!(editor.go_down() && editor.go_down());
        assert!(!editor.go_down());
    }

    #[test]
    fn a_paste_brings_lines_and_nothing_that_acts() {
        let editor = TextEditor::new("a\r\nb\rc\x1b[31m\td\x07");
        assert_eq!(editor.text(), "a\nb\nc[31m\td");
        assert_eq!(TextEditor::new(&"x".repeat(TEXT_BYTES_MAX + 9)).text().len(), TEXT_BYTES_MAX);
    }

    #[test]
    fn rows_are_filled_and_the_cursor_is_found_among_them() {
        let rows = TextEditor::new("abcdef\n世界世").rows(4);
        assert_eq!(rows.rows, ["abcd", "ef", "世界", "世"]);
        assert_eq!((rows.cursor_row, rows.cursor_col), (3, 2));
        let full = TextEditor::new("abcd").rows(4);
        assert_eq!((full.rows.len(), full.cursor_row, full.cursor_col), (2, 1, 0));
        let mut editor = TextEditor::new("abcdef");
        editor.go(Move::Left);
        editor.go(Move::Left);
        assert_eq!((editor.rows(4).cursor_row, editor.rows(4).cursor_col), (1, 0));
        assert_eq!(TextEditor::new("a\u{202e}b").rows(9).rows, ["a\u{fffd}b"]);
    }
}
