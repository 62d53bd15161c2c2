//! Text in lines of its own.

use crate::tui::text::{clip, width};

/// Breaks a text into lines at blanks.
pub(super) fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(&clip(word, room));
        } else if width(line) + 1 + width(word) <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(clip(word, room).into_owned());
        }
    }
    lines
}
