//! Tells keywords, texts, comments and numbers of a line apart.
//!
//! A hunk begins in the middle of a file, so whether its first line lies in a comment is not known:
//! it is taken to be code. A reader of a diff is better served by that than by no colour at all.

use std::ops::Range;

use super::language::Language;
use crate::tui::style::Ink;

/// What the end of a line lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Inside {
    #[default]
    Code,
    Comment,
    /// A text that this ends.
    Quoted(&'static str),
}

/// Returns the parts of a line that are more than plain code, and what its end lies in.
pub(super) fn parts(
    language: &'static Language,
    line: &str,
    mut inside: Inside,
) -> (Vec<(Range<usize>, Ink)>, Inside) {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let (length, ink, then) = match inside {
            Inside::Comment => comment(language, rest, 0),
            Inside::Quoted(end) => quoted(rest, 0, end, true),
            Inside::Code => code(language, line, at),
        };
        // Whatever a line holds, it has an end.
        let length = length.clamp(1, rest.len());
        let length = (length..=rest.len()).find(|end| rest.is_char_boundary(*end));
        let end = at + length.unwrap_or(rest.len());
        if ink != Ink::Plain {
            found.push((at..end, ink));
        }
        (at, inside) = (end, then);
    }
    (found, inside)
}

type Part = (usize, Ink, Inside);

fn code(language: &'static Language, line: &str, at: usize) -> Part {
    let rest = &line[at..];
    if language
        .line_comments
        .iter()
        .any(|open| rest.starts_with(open.as_str()) && begins(line, at, open))
    {
        return (rest.len(), Ink::Comment, Inside::Code);
    }
    let block = language.block_comment.as_ref();
    if let Some((open, _)) = block.filter(|(open, _)| rest.starts_with(open.as_str())) {
        return comment(language, rest, open.len());
    }
    if let Some(quote) = language.long_quotes.iter().find(|quote| rest.starts_with(quote.as_str()))
    {
        return quoted(rest, quote.len(), quote, true);
    }
    if language.has_ticks && rest.starts_with('\'') {
        return tick(rest);
    }
    if let Some(quote) = language.quotes.iter().find(|quote| rest.starts_with(quote.as_str())) {
        return quoted(rest, quote.len(), quote, false);
    }
    word(language, rest)
}

/// Says whether a sign begins a comment here: `#` and `;` only where a word could begin.
fn begins(line: &str, at: usize, open: &str) -> bool {
    let before = line[..at].chars().next_back();
    !matches!(open, "#" | ";") || before.is_none_or(char::is_whitespace)
}

fn comment(language: &'static Language, rest: &str, opened: usize) -> Part {
    let close = language.block_comment.as_ref().map_or("*/", |(_, close)| close.as_str());
    match rest[opened..].find(close) {
        Some(end) => (opened + end + close.len(), Ink::Comment, Inside::Code),
        None => (rest.len(), Ink::Comment, Inside::Comment),
    }
}

/// Reads a text to its end; one that may not go over lines ends with its line.
fn quoted(rest: &str, opened: usize, close: &'static str, is_long: bool) -> Part {
    let mut from = opened;
    while let Some(tail) = rest.get(from..).filter(|tail| !tail.is_empty()) {
        if tail.starts_with(close) {
            return (from + close.len(), Ink::Quoted, Inside::Code);
        }
        let mut chars = tail.chars();
        if chars.next() == Some('\\') && close != "`" {
            chars.next();
        }
        from += tail.len() - chars.as_str().len();
    }
    let then = if is_long { Inside::Quoted(close) } else { Inside::Code };
    (rest.len(), Ink::Quoted, then)
}

/// Reads `'a'` and `'\n'`; what is a lifetime or a label is a name.
fn tick(rest: &str) -> Part {
    let mut chars = rest.chars().skip(1);
    let length = match chars.next() {
        Some('\\') => rest.get(3..).and_then(|tail| tail.find('\'')).map(|end| 3 + end + 1),
        Some(c) if chars.next() == Some('\'') => Some(1 + c.len_utf8() + 1),
        Some(_) | None => None,
    };
    match length {
        Some(length) => (length, Ink::Quoted, Inside::Code),
        None => (1, Ink::Plain, Inside::Code),
    }
}

fn word(language: &'static Language, rest: &str) -> Part {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let first = rest.chars().next().unwrap_or(' ');
    let signs = usize::from(matches!(first, '#' | '@' | '!'));
    let tail = &rest[signs..];
    let length = signs + tail.find(|c| !is_part(c)).unwrap_or(tail.len());
    let length = length.max(first.len_utf8());
    let own = &rest[..length];
    if first.is_ascii_digit() {
        let more = rest.find(|c: char| !is_part(c) && c != '.').unwrap_or(rest.len());
        return (more, Ink::Number, Inside::Code);
    }
    match (language.is_keyword(own), signs) {
        (true, _) => (length, Ink::Keyword, Inside::Code),
        // A sign that begins no keyword stands alone; the word after it may be one.
        (false, 1..) => (signs, Ink::Plain, Inside::Code),
        (false, _) => (length, Ink::Plain, Inside::Code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::review::language::of;

    fn told(path: &str, lines: &[&str]) -> Vec<String> {
        let language = of(path).unwrap();
        let mut inside = Inside::Code;
        let mut all = Vec::new();
        for line in lines {
            let (found, then) = parts(language, line, inside);
            inside = then;
            for (range, ink) in found {
                all.push(format!("{ink:?} {}", &line[range]));
            }
        }
        all
    }

    #[test]
    fn a_line_of_rust_is_told_apart() {
        let line = "pub fn a<'b>(c: &'b str) -> u8 { let x = 0x1f; \"te\\\"xt\" } // end";
        assert_eq!(
            told("a.rs", &[line]),
            [
                "Keyword pub",
                "Keyword fn",
                "Keyword let",
                "Number 0x1f",
                "Quoted \"te\\\"xt\"",
                "Comment // end"
            ]
        );
        assert_eq!(told("a.rs", &["match c { 'x' | '\\n' => 1.5, '世' => 2 }"]).len(), 6);
    }

    #[test]
    fn comments_and_texts_go_on_over_lines() {
        let lines = ["a /* one", "two */ let b = \"x", "y\"; let"];
        assert_eq!(
            told("a.rs", &lines),
            [
                "Comment /* one",
                "Comment two */",
                "Keyword let",
                "Quoted \"x",
                "Quoted y\"",
                "Keyword let"
            ]
        );
        assert_eq!(told("a.py", &["x = \"open", "def"]), ["Quoted \"open", "Keyword def"]);
        assert_eq!(
            told("a.py", &["'''a", "b''' # c"]),
            ["Quoted '''a", "Quoted b'''", "Comment # c"]
        );
    }

    #[test]
    fn a_sign_is_a_comment_only_where_one_can_begin() {
        assert_eq!(told("a.sh", &["echo $#x # y"]), ["Keyword echo", "Comment # y"]);
        assert_eq!(told("a.c", &["#include <x>"]), ["Keyword #include"]);
        assert_eq!(
            told("a.sql", &["SELECT 1 -- x"]),
            ["Keyword SELECT", "Number 1", "Comment -- x"]
        );
    }

    #[test]
    fn whatever_a_line_holds_it_is_read_to_its_end() {
        for line in
            ["'", "'\\", "\"\\", "'世", "#", "@", "世界", "\\", "/*", "*/", "\u{301}\u{202e}"]
        {
            for path in ["a.rs", "a.py", "a.c", "a.clj", "a.html", "a.js"] {
                let (found, _) = parts(of(path).unwrap(), line, Inside::Code);
                assert!(found.iter().all(|(range, _)| line.get(range.clone()).is_some()), "{line}");
            }
        }
    }
}
