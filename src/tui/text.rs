//! Makes text from outside fit to be shown: no control characters, no more columns than there are.

use std::time::Duration;

use unicode_width::UnicodeWidthChar;

pub(super) use crate::history::{clip, width};
use crate::model::{is_deceptive, is_picture_mark};

/// Stands where something was that must not reach the terminal.
pub(super) const REPLACEMENT: char = '\u{fffd}';

/// No text of the dashboard's own is longer, whatever a peer sends.
const TEXT_CHARS_MAX: usize = 1024;

/// Marks that a character may carry; a pile of them would run over the lines above.
const MARKS_MAX: usize = 4;

/// Returns the text on one line, with all that could disturb a terminal or a reader replaced.
pub(super) fn clean(text: &str) -> String {
    let (mut marks, mut before) = (0, None);
    let mut safe = |c: char| match c {
        '\n' | '\r' | '\t' => Some(' '),
        c if is_deceptive(c) && !is_picture_mark(before, c) => Some(REPLACEMENT),
        c => {
            before = Some(c);
            marks = if c.width() == Some(0) { marks + 1 } else { 0 };
            (marks <= MARKS_MAX).then_some(c)
        }
    };
    text.chars().take(TEXT_CHARS_MAX).filter_map(&mut safe).collect()
}

/// Returns the text with blanks after it, so that it takes at least so many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

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

/// Seconds are told in steps: a label that changes wakes the program.
pub(crate) const SECONDS_STEP: u64 = 5;

/// Returns a span of time as one number: nobody needs the seconds of an hour.
pub(super) fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..SECONDS_STEP => "now".to_owned(),
        SECONDS_STEP..60 => format!("{}s", seconds / SECONDS_STEP * SECONDS_STEP),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        let hostile = "a\x1b]0;owned\x07b\u{9b}31mc\nd\u{202e}e\u{200b}\x7f";
        let cleaned = clean(hostile);
        assert_eq!(cleaned, "a\u{fffd}]0;owned\u{fffd}b\u{fffd}31mc d\u{fffd}e\u{fffd}\u{fffd}");
        assert!(!cleaned.chars().any(is_deceptive));
        assert_eq!(clean(&format!("a{}b", "\u{301}".repeat(900))).chars().count(), 6);
        assert_eq!(clean(&"x".repeat(1_000_000)).len(), TEXT_CHARS_MAX);
    }

    #[test]
    fn time_is_coarse_once_it_is_long() {
        let label = |seconds| elapsed(Duration::from_secs(seconds));
        assert_eq!([label(0), label(9), label(59), label(60)], ["now", "5s", "55s", "1m"]);
        assert_eq!([label(3599), label(3600), label(90_000)], ["59m", "1h", "1d"]);
    }
}
