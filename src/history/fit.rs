//! Fits text into columns and lines, and writes times in words.

use std::borrow::Cow;
use std::time::Duration;

use unicode_width::UnicodeWidthChar;

use crate::model::Moment;

/// Returns the columns that a text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns as much of the text as fits, with a mark where it was cut.
pub fn clip(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut room = columns.saturating_sub(1);
    let mut clipped = String::new();
    for c in text.chars() {
        let needed = c.width().unwrap_or(0);
        if needed > room {
            break;
        }
        room -= needed;
        clipped.push(c);
    }
    if columns > 0 {
        clipped.push('…');
    }
    Cow::Owned(clipped)
}

/// Breaks a text into lines at blanks; a word that is too long is broken where it must be.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = vec![String::new()];
    let mut room = columns;
    for word in text.split(' ') {
        let needed = width(word);
        let is_first = room == columns;
        if !is_first && needed + 1 > room {
            lines.push(String::new());
            room = columns;
        } else if !is_first {
            lines.last_mut().expect("there is always a line").push(' ');
            room -= 1;
        }
        for c in word.chars() {
            let needed = c.width().unwrap_or(0);
            if needed > room {
                lines.push(String::new());
                room = columns;
            }
            room -= needed;
            lines.last_mut().expect("there is always a line").push(c);
        }
    }
    lines
}

/// Returns a moment as date and time, in UTC.
pub fn clock(at: Moment) -> String {
    let text = at.to_rfc3339();
    text.get(..19).unwrap_or(&text).replace('T', " ")
}

/// Returns the time of day alone.
pub(super) fn time(at: Moment) -> String {
    clock(at).get(11..).unwrap_or_default().to_owned()
}

/// Returns a span of time in words, to the second.
pub fn span(time: Duration) -> String {
    humantime::format_duration(Duration::from_secs(time.as_secs())).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_columns_and_wide_characters_whole() {
        assert_eq!(clip("hello", 5), "hello");
        assert_eq!(clip("hello", 4), "hel…");
        assert_eq!(clip("世界世界", 5), "世界…");
        assert_eq!(clip("世界世界", 4), "世…");
        assert_eq!(clip("hello", 0), "");
    }

    #[test]
    fn text_is_broken_at_blanks_and_within_words_that_are_too_long() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("世界世界 x", 5), ["世界", "世界", "x"]);
        assert_eq!(wrap("abcdefg", 3), ["abc", "def", "g"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("  a", 9), ["a"]);
    }

    #[test]
    fn times_are_told_to_the_second() {
        assert_eq!(clock(Moment(1_700_000_000_123)), "2023-11-14 22:13:20");
        assert_eq!(time(Moment(1_700_000_000_123)), "22:13:20");
        assert_eq!(span(Duration::from_millis(90_999)), "1m 30s");
        assert_eq!(span(Duration::ZERO), "0s");
    }
}
