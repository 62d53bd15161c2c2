//! Which words of a line changed, by comparison with the line that it replaces.

use std::ops::Range;

/// Lines with more words are not compared: nobody sees a word among so many.
const WORDS_MAX: usize = 300;

/// Lines that have less than this in common, of a hundred parts, are other lines.
const ALIKE_PERCENT: usize = 40;

type Parts = Vec<Range<usize>>;

/// Returns the parts of both lines that differ; nothing at all, if they are quite different.
pub(super) fn changed(old: &str, new: &str) -> Option<(Parts, Parts)> {
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len() > WORDS_MAX || new_words.len() > WORDS_MAX {
        return None;
    }
    let kept = common(old, &old_words, new, &new_words);
    let length = |line: &str, words: &[&Range<usize>]| {
        words.iter().map(|range| line[(*range).clone()].trim().len()).sum::<usize>()
    };
    let kept_old: Vec<_> = kept.iter().map(|(at, _)| &old_words[*at]).collect();
    let shared = length(old, &kept_old);
    let longer = old.trim().len().max(new.trim().len());
    if shared * 100 < longer * ALIKE_PERCENT {
        return None;
    }
    let is_kept_old = |at: usize| kept.iter().any(|(one, _)| *one == at);
    let is_kept_new = |at: usize| kept.iter().any(|(_, one)| *one == at);
    Some((others(&old_words, is_kept_old), others(&new_words, is_kept_new)))
}

/// Returns the words of a line: runs of letters and digits, runs of blanks, and single signs.
fn words(line: &str) -> Vec<Range<usize>> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut last = 0;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        match found.last_mut().filter(|_| kind(c) != 0 && kind(c) == last) {
            Some(word) => word.end = end,
            None => found.push(at..end),
        }
        last = kind(c);
    }
    found
}

/// Returns the longest run of words that both lines have in the same order, by their places.
fn common(
    old: &str,
    old_words: &[Range<usize>],
    new: &str,
    new_words: &[Range<usize>],
) -> Vec<(usize, usize)> {
    let (rows, columns) = (old_words.len(), new_words.len());
    let same = |i: usize, j: usize| old[old_words[i].clone()] == new[new_words[j].clone()];
    let mut lengths = vec![vec![0_u16; columns + 1]; rows + 1];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            lengths[i][j] = if same(i, j) {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < rows && j < columns {
        if same(i, j) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Returns the words that are not kept, those that touch as one.
fn others(words: &[Range<usize>], is_kept: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (_, word) in words.iter().enumerate().filter(|(at, _)| !is_kept(*at)) {
        match found.last_mut().filter(|last| last.end == word.start) {
            Some(last) => last.end = word.end,
            None => found.push(word.clone()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parts of both lines that differ, each in brackets.
    fn told(old: &str, new: &str) -> Option<String> {
        let (gone, come) = changed(old, new)?;
        let text = |line: &str, ranges: Parts| {
            ranges.into_iter().map(|range| ["[", &line[range], "]"].concat()).collect::<String>()
        };
        Some(format!("{} → {}", text(old, gone), text(new, come)))
    }

    fn pair(old: &str, new: &str, parts: &str) {
        assert_eq!(told(old, new).as_deref(), Some(parts));
    }

    #[test]
    fn the_words_that_changed_are_found() {
        pair("let a = one(b);", "let a = two(b, c);", "[one] → [two][, c]");
        pair("  x = 1", "    x = 1", "[  ] → [    ]");
        pair("größe 世界 a b", "größe 世 a b", "[世界] → [世]");
        pair("same", "same", " → ");
        pair("x\r", "x", "[\r] → ");
    }

    #[test]
    fn lines_that_have_little_in_common_are_other_lines() {
        assert_eq!(told("fn parse(input: &str) {", "return None;"), None);
        assert_eq!(told(&"a ".repeat(WORDS_MAX), "a"), None);
    }
}
