//! A line of code as characters with their columns, colours and emphasis.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::changed_words::changed;
use super::language::{self, Language};
use super::syntax::{Inside, parts};
use crate::model::{DiffLine, Hunk, is_deceptive, is_picture_mark};
use crate::tui::style::Ink;
use crate::tui::text::REPLACEMENT;

/// A tab goes to the next column that this divides.
const TAB_COLS: usize = 4;

/// Marks that a character may carry; a pile of them would run over the lines above.
const MARKS_MAX: usize = 4;

/// Lines before the first one that is seen which are read for comments that begin there.
const LOOK_BACK: usize = 400;

/// Lines of a change that is so long are not compared word by word.
const PAIRED_MAX: usize = 64;

/// One character as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glyph {
    pub symbol: String,
    pub columns: usize,
    pub ink: Ink,
    /// It is part of what changed in its line.
    pub is_changed: bool,
}

/// Returns some lines of a hunk as they are shown.
pub(crate) fn glyphs(path: &str, hunk: &Hunk, seen: Range<usize>) -> Vec<Vec<Glyph>> {
    let language = language::of(path);
    let first = seen.start.saturating_sub(LOOK_BACK);
    let (mut before, mut after) = (Inside::Code, Inside::Code);
    let mut shown = Vec::new();
    for (at, line) in hunk.lines.iter().enumerate().take(seen.end).skip(first) {
        let inks =
            language.map_or(Vec::new(), |language| inked(language, line, &mut before, &mut after));
        if at >= seen.start {
            shown.push(line_glyphs(line, &inks, &emphasis(hunk, at)));
        }
    }
    shown
}

/// Returns the columns of each character of a line.
pub(super) fn columns(line: &DiffLine) -> Vec<usize> {
    line_glyphs(line, &[], &[]).iter().map(|glyph| glyph.columns).collect()
}

/// Reads a line on the side, or the sides, that it is on.
fn inked(
    language: &'static Language,
    line: &DiffLine,
    before: &mut Inside,
    after: &mut Inside,
) -> Vec<(Range<usize>, Ink)> {
    let mut inks = Vec::new();
    if line.old.is_some() {
        (inks, *before) = parts(language, &line.text, *before);
    }
    if line.new.is_some() {
        (inks, *after) = parts(language, &line.text, *after);
    }
    inks
}

/// Returns the parts of a line that differ from the line that it replaces, or that replaces it.
fn emphasis(hunk: &Hunk, at: usize) -> Vec<Range<usize>> {
    let Some(other) = partner(hunk, at) else { return Vec::new() };
    let is_old = hunk.lines[at].sign() == '-';
    let (old, new) = if is_old { (at, other) } else { (other, at) };
    let found = changed(&hunk.lines[old].text, &hunk.lines[new].text);
    found.map(|(gone, come)| if is_old { gone } else { come }).unwrap_or_default()
}

/// Returns the line in the same place of the other half of a change.
fn partner(hunk: &Hunk, at: usize) -> Option<usize> {
    let sign = |at: usize| hunk.lines.get(at).map(DiffLine::sign);
    let own = sign(at).filter(|sign| *sign != ' ')?;
    let begin = (0..at).rev().take_while(|other| sign(*other) == Some(own)).last().unwrap_or(at);
    let count = |from: usize, wanted: char| {
        (from..hunk.lines.len()).take_while(|other| sign(*other) == Some(wanted)).count()
    };
    let (old_start, new_start) = if own == '-' {
        (begin, begin + count(begin, '-'))
    } else {
        let gone = (0..begin).rev().take_while(|other| sign(*other) == Some('-')).count();
        (begin - gone, begin)
    };
    let (gone, come) = (new_start - old_start, count(new_start, '+'));
    let place = at - begin;
    let is_paired = place < gone.min(come) && gone.max(come) <= PAIRED_MAX;
    let other = if own == '-' { new_start + place } else { old_start + place };
    is_paired.then_some(other)
}

fn line_glyphs(
    line: &DiffLine,
    inks: &[(Range<usize>, Ink)],
    changed: &[Range<usize>],
) -> Vec<Glyph> {
    let mut shown: Vec<Glyph> = Vec::new();
    let mut column = 0;
    let mut marks = 0;
    for (at, c) in line.text.char_indices() {
        let ink =
            inks.iter().find(|(range, _)| range.contains(&at)).map_or(Ink::Plain, |(_, ink)| *ink);
        let is_changed = changed.iter().any(|range| range.contains(&at));
        let is_end = at + c.len_utf8() == line.text.len();
        let before = line.text[..at].chars().next_back();
        let (symbol, columns) = match c {
            '\t' => {
                let columns = TAB_COLS - column % TAB_COLS;
                (" ".repeat(columns), columns)
            }
            '\r' if is_end => ("␍".to_owned(), 1),
            c if is_deceptive(c) && !is_picture_mark(before, c) => (REPLACEMENT.to_string(), 1),
            c => (c.to_string(), c.width().unwrap_or(0)),
        };
        if columns == 0 {
            marks += 1;
            if let Some(last) = shown.last_mut().filter(|_| marks <= MARKS_MAX) {
                last.symbol.push(c);
            }
            continue;
        }
        marks = 0;
        column += columns;
        // A blank that several columns wide stands for is several blanks to whoever draws it.
        if c == '\t' {
            let blank = Glyph { symbol: " ".to_owned(), columns: 1, ink, is_changed };
            shown.extend(std::iter::repeat_n(blank, columns));
        } else {
            shown.push(Glyph { symbol, columns, ink, is_changed });
        }
    }
    let ends =
        [(line.is_cut, " … the line is longer"), (line.lacks_newline, " ⏎ no newline at the end")];
    for (_, words) in ends.iter().filter(|(is_so, _)| *is_so) {
        let note = |c: char| Glyph {
            symbol: c.to_string(),
            columns: 1,
            ink: Ink::Comment,
            is_changed: false,
        };
        shown.extend(words.chars().map(note));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(lines: &[&str]) -> Hunk {
        let read = |text: &&str| {
            let (sign, text) = text.split_at(1);
            let (old, new) = ((sign != "+").then_some(1), (sign != "-").then_some(1));
            DiffLine { old, new, text: text.to_owned(), ..DiffLine::default() }
        };
        Hunk { lines: lines.iter().map(read).collect(), ..Hunk::default() }
    }

    fn text(glyphs: &[Glyph]) -> String {
        glyphs.iter().map(|glyph| glyph.symbol.as_str()).collect()
    }

    #[test]
    fn tabs_wide_and_hostile_characters_take_the_columns_that_they_take() {
        let hunk = hunk(&["+a\tb\u{1b}[2J世e\u{301}\u{202e}\r"]);
        let shown = &glyphs("x", &hunk, 0..1)[0];
        assert_eq!(text(shown), "a   b\u{fffd}[2J世e\u{301}\u{fffd}␍");
        assert_eq!(shown.iter().map(|glyph| glyph.columns).sum::<usize>(), 14);
        let zalgo = format!("+a{}", "\u{301}".repeat(99));
        assert_eq!(glyphs("x", &self::hunk(&[&zalgo]), 0..1)[0][0].symbol.chars().count(), 5);
    }

    #[test]
    fn a_line_is_compared_with_the_one_in_its_place() {
        let hunk = hunk(&[
            " x",
            "-let a = 1;",
            "-let b = 2;",
            "+let a = 3;",
            "+let b = 4;",
            "+more",
            " y",
        ]);
        let places: Vec<_> = (0..7).map(|at| partner(&hunk, at)).collect();
        assert_eq!(places, [None, Some(3), Some(4), Some(1), Some(2), None, None]);
        let shown = glyphs("a.rs", &hunk, 1..5);
        let changed = |line: usize| {
            let marked = shown[line].iter().filter(|glyph| glyph.is_changed);
            marked.map(|glyph| glyph.symbol.as_str()).collect::<String>()
        };
        assert_eq!([changed(0), changed(1), changed(2), changed(3)], ["1", "2", "3", "4"]);
        assert_eq!(shown[0][0].ink, Ink::Keyword);
    }

    #[test]
    fn a_comment_that_was_removed_does_not_run_into_what_was_added() {
        let hunk = hunk(&["-/* old", "+let a", " let b", "- still */ let"]);
        let shown = glyphs("a.rs", &hunk, 0..4);
        let ink = |line: usize| shown[line][1].ink;
        assert_eq!(
            [ink(0), ink(1), ink(2), ink(3)],
            [Ink::Comment, Ink::Keyword, Ink::Keyword, Ink::Comment]
        );
    }

    #[test]
    fn what_is_missing_at_the_end_of_a_line_is_said() {
        let mut hunk = hunk(&["+x"]);
        hunk.lines[0].lacks_newline = true;
        assert_eq!(text(&glyphs("a", &hunk, 0..1)[0]), "x ⏎ no newline at the end");
    }
}
