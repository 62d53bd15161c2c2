//! Breaks text into lines that fit, at blanks where it can.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Lines may be as long as they like: the width of what is no terminal.
pub(super) const ENDLESS: usize = usize::MAX;

/// Breaks a text at its newlines and at the width; a tab counts as two blanks.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = text.replace('\t', "  ");
    text.split('\n').flat_map(|line| wrap_line(line.trim_end(), width.max(1))).collect()
}

/// Cuts a text to the width, with a mark where something is missing.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = split_at_width(text, width.saturating_sub(1)).0.to_owned();
    kept.push('…');
    kept
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split_inclusive(' ') {
        if current.width() + word.trim_end().width() > width && !current.trim().is_empty() {
            lines.push(current.trim_end().to_owned());
            current.clear();
        }
        current.push_str(word);
        while current.trim_end().width() > width {
            let (head, tail) = split_at_width(&current, width);
            let (head, tail) = (head.to_owned(), tail.to_owned());
            lines.push(head);
            current = tail;
        }
    }
    if lines.is_empty() || !current.trim().is_empty() {
        lines.push(current.trim_end().to_owned());
    }
    lines
}

/// Splits after at most `width` columns, but always after one character at least.
fn split_at_width(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width && at > 0 {
            return text.split_at(at);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("a\n\n  b c", 10), ["a", "", "  b c"]);
        assert_eq!(wrap("日本語 字", 6), ["日本語", "字"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("日", 1), ["日"]);
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        let text = "The quick  brown fox jumps over the lazy dog, 日本語 and back";
        for width in 2..70 {
            assert!(wrap(text, width).iter().all(|line| line.width() <= width), "{width}");
            assert!(cut(text, width).width() <= width, "{width}");
        }
    }
}
