//! The text in the prompt box.

use crate::model::{Key, KeyCode};

/// A paste of more characters or lines is shown by a mark in place of its text.
const PASTE_CHARS_SHOWN: usize = 800;
const PASTE_LINES_SHOWN: usize = 8;
/// A prompt stops growing here; a paste is bounded by itself and counts as one.
const PIECES_MAX: usize = 1 << 20;

/// What stands at one place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Char(char),
    /// A long paste, kept whole.
    Paste {
        number: usize,
        text: String,
    },
}

/// A text with a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Editor {
    pieces: Vec<Piece>,
    cursor: usize,
    pastes: usize,
}

impl Editor {
    /// Changes the text; says whether the key meant anything here.
    pub(super) fn press(&mut self, key: Key) -> bool {
        let Key { code, modifiers } = key;
        match code {
            KeyCode::Char(c) if modifiers.control => return self.control(c),
            KeyCode::Char(_) if modifiers.alt || modifiers.meta => return false,
            KeyCode::Char(c) => self.insert(c),
            KeyCode::Enter => self.insert('\n'),
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.pieces.remove(self.cursor);
            }
            KeyCode::Delete if self.cursor < self.pieces.len() => {
                self.pieces.remove(self.cursor);
            }
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.pieces.len()),
            KeyCode::Home => self.cursor = self.line_start(),
            KeyCode::End => self.cursor = self.line_end(),
            KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Escape
            | KeyCode::Tab
            | KeyCode::Insert
            | KeyCode::PageUp
            | KeyCode::PageDown
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Function(_)
            | KeyCode::Keypad(_) => return false,
        }
        true
    }

    fn control(&mut self, c: char) -> bool {
        match c {
            'j' => self.insert('\n'),
            'a' => self.cursor = self.line_start(),
            'e' => self.cursor = self.line_end(),
            'u' => self.cut(self.line_start()),
            'w' => self.cut(self.word_start()),
            'k' => {
                let end = self.line_end();
                self.pieces.drain(self.cursor..end);
            }
            _ => return false,
        }
        true
    }

    /// Puts pasted text at the cursor.
    pub(super) fn paste(&mut self, text: String) {
        let is_long =
            text.chars().count() > PASTE_CHARS_SHOWN || text.lines().count() > PASTE_LINES_SHOWN;
        if is_long {
            self.pastes += 1;
            self.pieces.insert(self.cursor, Piece::Paste { number: self.pastes, text });
            self.cursor += 1;
        } else {
            text.chars().for_each(|c| self.insert(c));
        }
    }

    /// Returns the whole text and leaves none.
    pub(super) fn take(&mut self) -> String {
        let text = self.pieces.iter().fold(String::new(), |mut text, piece| {
            match piece {
                Piece::Char(c) => text.push(*c),
                Piece::Paste { text: paste, .. } => text.push_str(paste),
            }
            text
        });
        *self = Self { pastes: self.pastes, ..Self::default() };
        text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the text as it is shown, and how many of its characters are before the cursor.
    pub(super) fn shown(&self) -> (String, usize) {
        let mut shown = String::new();
        let mut before = 0;
        for (at, piece) in self.pieces.iter().enumerate() {
            if at == self.cursor {
                before = shown.chars().count();
            }
            match piece {
                Piece::Char(c) => shown.push(*c),
                Piece::Paste { number, text } => {
                    let more = text.lines().count().saturating_sub(1);
                    shown += format!("[Pasted text #{number} +{more} lines]").as_str();
                }
            }
        }
        let before = if self.cursor == self.pieces.len() { shown.chars().count() } else { before };
        (shown, before)
    }

    fn insert(&mut self, c: char) {
        if self.pieces.len() < PIECES_MAX {
            self.pieces.insert(self.cursor, Piece::Char(c));
            self.cursor += 1;
        }
    }

    fn cut(&mut self, from: usize) {
        self.pieces.drain(from..self.cursor);
        self.cursor = from;
    }

    fn line_start(&self) -> usize {
        let before = &self.pieces[..self.cursor];
        before.iter().rposition(|piece| *piece == Piece::Char('\n')).map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        let after = &self.pieces[self.cursor..];
        let found = after.iter().position(|piece| *piece == Piece::Char('\n'));
        found.map_or(self.pieces.len(), |at| self.cursor + at)
    }

    fn word_start(&self) -> usize {
        let before = &self.pieces[..self.cursor];
        let is_blank = |piece: &Piece| matches!(piece, Piece::Char(c) if c.is_whitespace());
        let Some(end) = before.iter().rposition(|piece| !is_blank(piece)) else { return 0 };
        before[..end].iter().rposition(is_blank).map_or(0, |at| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(keys: &str) -> Editor {
        let mut editor = Editor::default();
        for key in keys.split(' ') {
            assert!(editor.press(key.parse().unwrap()), "{key}");
        }
        editor
    }

    #[test]
    fn text_is_edited_where_the_cursor_is() {
        assert_eq!(pressed("a c left b end d backspace").take(), "abc");
        assert_eq!(pressed("a ctrl-j b c ctrl-u d").take(), "a\nd");
        assert_eq!(pressed("a space b b ctrl-w c home x ctrl-k").take(), "x");
        assert_eq!(pressed("a shift-enter b").shown(), ("a\nb".into(), 3));
    }

    #[test]
    fn a_long_paste_is_shown_by_a_mark_and_taken_whole() {
        let mut editor = pressed("a");
        let long = "line\n".repeat(20);
        editor.paste(long.clone());
        assert_eq!(editor.shown().0, "a[Pasted text #1 +19 lines]");
        assert_eq!(editor.take(), format!("a{long}"));
        assert!(editor.is_empty());
    }

    #[test]
    fn keys_without_a_meaning_are_left_to_others() {
        for key in ["up", "esc", "ctrl-c", "alt-x", "f1"] {
            assert!(!Editor::default().press(key.parse().unwrap()), "{key}");
        }
    }
}
