//! Finds where a prompt would be typed in a program of which nothing is known, by its frame and the cursor.

use std::ops::Range;

use super::dialog::plain;
use super::view::TextRow;

/// A composer stands so near to the bottom.
const BOTTOM_ROWS: usize = 24;
/// A composer that holds a prompt is not taller.
const INNER_ROWS_MAX: usize = 16;
/// Below a composer stand a status and hints, at most so many rows.
const BELOW_MAX: usize = 10;
/// Below one that no border closes stands at most a status.
const PADDED_BELOW_MAX: usize = 3;
/// What may stand before the text in a composer.
const MARKS: &[char] = &['❯', '›', '>', '*', '»', 'λ', '▸', '→', '●', '┃', '▌', '$', '!', '➜', '⟩'];
/// What may stand before a mark or a colon, and the text.
const NAMES: &[&str] =
    &["user", "you", "human", "me", "prompt", "input", "ask", "chat", "code", "architect", "query"];
/// What a cursor looks like that the program draws itself.
const DRAWN_CURSOR: &[char] = &['▋', '█', '▌', '▏', '▎', '▍', '▊', '▉'];

/// Returns the rows of the lowest composer, with its frame. `cursor` is where the terminal's cursor stands,
/// if it is shown.
pub(super) fn find(rows: &[TextRow], cursor: Option<(usize, usize)>) -> Option<Range<usize>> {
    let first = rows.len().saturating_sub(BOTTOM_ROWS);
    let line = at_cursor(rows, cursor).or_else(|| bare_line(rows, cursor));
    let frame =
        framed(rows, first, cursor).or_else(|| barred(rows, first)).or_else(|| padded(rows, first));
    // What stands above a line that waits for input was a composer once.
    let is_above = |line: &Range<usize>| frame.as_ref().is_none_or(|frame| frame.end <= line.start);
    line.filter(is_above).or(frame)
}

/// Says whether what stands below a row fits below a composer: a few hints, and no dialog.
fn is_lowest(rows: &[TextRow], end: usize) -> bool {
    let below = &rows[end..];
    let written = below.iter().filter(|row| !row.text.is_empty() && !is_rule(&row.text)).count();
    written <= BELOW_MAX && super::choices::find(below, 0).is_none()
}

/// Finds a box, or two rules with something between them.
fn framed(rows: &[TextRow], first: usize, cursor: Option<(usize, usize)>) -> Option<Range<usize>> {
    let mut lower = rows.len();
    while lower > first {
        lower -= 1;
        if !is_rule(&rows[lower].text) {
            continue;
        }
        let least = lower.saturating_sub(INNER_ROWS_MAX + 1);
        let upper = (least..lower).rev().find(|at| is_rule(&rows[*at].text));
        let Some(upper) = upper.filter(|upper| lower - upper > 1) else { continue };
        if !are_of_one_frame(&rows[upper].text, &rows[lower].text) {
            continue;
        }
        let inner: Vec<&str> = rows[upper + 1..lower].iter().map(|row| plain(&row.text)).collect();
        let has_cursor = cursor.is_some_and(|(row, _)| (upper + 1..lower).contains(&row));
        if is_input(&inner, has_cursor) && is_lowest(rows, lower + 1) {
            return Some(upper..lower + 1);
        }
    }
    None
}

/// Says whether two rules belong to one frame: they are drawn with the same sign, or with the two halves of a
/// block.
fn are_of_one_frame(upper: &str, lower: &str) -> bool {
    let sign = |row: &str| row.chars().rev().find(|c| is_border(*c));
    match (sign(upper), sign(lower)) {
        (Some('▄' | '▁'), Some('▀' | '▔')) => true,
        (upper, lower) => upper == lower,
    }
}

/// Says whether rows between two rules are a composer: empty, marked, or where the cursor is.
fn is_input(inner: &[&str], has_cursor: bool) -> bool {
    let written: Vec<&&str> = inner.iter().filter(|row| !row.is_empty()).collect();
    let Some(first) = written.first() else { return inner.len() <= 6 };
    if super::choices::has_choice(inner) {
        return false;
    }
    has_cursor || is_marked(first) || first.chars().take(6).any(|c| DRAWN_CURSOR.contains(&c))
}

/// Finds a block of rows behind one bar that ends in a border below, or stands at the very bottom.
fn barred(rows: &[TextRow], first: usize) -> Option<Range<usize>> {
    let is_end = |row: &str| {
        let row = row.trim();
        row.starts_with(['╹', '▀', '╰', '└']) && row.chars().filter(|c| is_border(*c)).count() > 10
    };
    let end = (first..rows.len()).rev().find(|at| is_end(&rows[*at].text))?;
    let is_bar = |at: &usize| rows[*at].text.trim_start().starts_with(['┃', '▌', '▎', '│', '╻']);
    let height = (0..end).rev().take_while(is_bar).take(INNER_ROWS_MAX).count();
    let block = &rows[end - height..end];
    let inner: Vec<&str> = block.iter().map(|row| plain(&row.text)).collect();
    // A closed box has a rule above it, too, and is no such block.
    let is_closed =
        |row: &TextRow| row.text.trim().len() > 3 && row.text.ends_with(['│', '┃', '║']);
    let is_open = !block.iter().any(is_closed);
    let is_input = height > 0 && is_open && !super::choices::has_choice(&inner);
    (is_input && is_lowest(rows, end + 1)).then(|| end - height..end + 1)
}

/// Finds the lowest block of rows behind one bar, if it begins and ends with a bare bar and has a mark before
/// its first words.
fn padded(rows: &[TextRow], first: usize) -> Option<Range<usize>> {
    let is_bar = |row: &TextRow| row.text.trim_start().starts_with(['┃', '▌', '▎', '│']);
    let is_bare = |row: &TextRow| is_bar(row) && row.text.trim().chars().count() == 1;
    let last = rows.iter().rposition(is_bar).filter(|last| *last >= first)?;
    let height = rows[..=last].iter().rev().take_while(|row| is_bar(row)).count();
    let start = last + 1 - height;
    let words = rows[start..=last].iter().find(|row| !is_bare(row))?;
    let below = rows[last + 1..].iter().filter(|row| !row.text.is_empty()).count();
    let is_padded = is_bare(&rows[start]) && is_bare(&rows[last]);
    let is_input = is_padded && is_marked(plain(&words.text)) && height <= INNER_ROWS_MAX;
    (is_input && below <= PADDED_BELOW_MAX).then(|| start..last + 1)
}

/// Finds the line of a program without a frame: a mark with the cursor behind it, and nothing below that
/// is not a short status.
fn at_cursor(rows: &[TextRow], cursor: Option<(usize, usize)>) -> Option<Range<usize>> {
    let (row, col) = cursor?;
    let text = &rows.get(row)?.text;
    let below = rows[row + 1..].iter().filter(|row| !row.text.is_empty()).count();
    let mark = text.chars().position(|c| !c.is_whitespace())?;
    let is_behind = col > mark && col <= mark + 3 || text.chars().count() <= col + 1;
    let is_prompt = (is_marked(text.trim()) || is_named(text)) && is_behind;
    ((is_prompt || is_bare_sign(text, col)) && below <= 4).then(|| row..row + 1)
}

/// Finds the line of a program that draws its cursor itself: at the very bottom a mark of several signs that nobody
/// writes otherwise, with at most a status below.
fn bare_line(rows: &[TextRow], cursor: Option<(usize, usize)>) -> Option<Range<usize>> {
    if cursor.is_some() {
        return None;
    }
    let written = rows.iter().enumerate().rev().filter(|(_, row)| !row.text.is_empty());
    let is_prompt = |row: &TextRow| {
        let mark = row.text.split(' ').next().unwrap_or_default();
        let is_mark = |c: char| matches!(c, '>' | '❯' | '›' | '»' | '⟩');
        mark.chars().count() > 1 && mark.chars().all(is_mark)
    };
    let found = written.take(PADDED_BELOW_MAX + 1).find(|(_, row)| is_prompt(row))?;
    Some(found.0..found.0 + 1)
}

/// Says whether a row holds nothing but a sign at its beginning, whatever it is, with the cursor right behind.
fn is_bare_sign(row: &str, col: usize) -> bool {
    let mut letters = row.trim_end().chars();
    let sign = letters.next().filter(|c| !c.is_alphanumeric() && !c.is_whitespace());
    sign.is_some_and(|c| !is_border(c)) && letters.next().is_none() && (1..=2).contains(&col)
}

/// Says whether a line begins with a word for whoever types there, as in `User: ` or `ask> `.
fn is_named(row: &str) -> bool {
    let end = row.find(|c: char| !c.is_alphabetic()).unwrap_or(row.len());
    let name = row[..end].to_lowercase();
    NAMES.contains(&name.as_str()) && row[end..].starts_with([':', '>'])
}

fn is_marked(row: &str) -> bool {
    let mut letters = row.chars();
    let is_mark = letters.next().is_some_and(|c| MARKS.contains(&c));
    is_mark && letters.next().is_none_or(|c| c.is_whitespace() || DRAWN_CURSOR.contains(&c))
}

fn is_border(c: char) -> bool {
    matches!(c, '─' | '━' | '═' | '▀' | '▄' | '╌' | '┄' | '▁' | '▔' | '-')
}

/// Says whether the row is a border, which may carry a few words.
pub(super) fn is_rule(row: &str) -> bool {
    let row = row.trim();
    let count = row.chars().filter(|c| is_border(*c)).count();
    let is_edge = |c: char| {
        is_border(c)
            || matches!(
                c,
                '╭' | '╮'
                    | '╰'
                    | '╯'
                    | '┌'
                    | '┐'
                    | '└'
                    | '┘'
                    | '╻'
                    | '╹'
                    | '┏'
                    | '┓'
                    | '┗'
                    | '┛'
                    | '├'
                    | '┤'
            )
    };
    let ends = row.chars().next().is_some_and(is_edge) && row.chars().last().is_some_and(is_edge);
    ends && count >= 10 && count * 3 >= row.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, cursor: Option<(usize, usize)>) -> Option<Range<usize>> {
        let row = |text: &str| TextRow::plain(text);
        find(&text.lines().map(row).collect::<Vec<_>>(), cursor)
    }

    #[test]
    fn a_composer_is_found_by_its_frame_whatever_its_mark() {
        let rule = "─".repeat(30);
        assert_eq!(found(&format!("hi\n{rule}\n❯ go\n{rule}\n? help"), None), Some(1..4));
        assert_eq!(found(&format!("hi\n── ⠼ Working {rule}\n\n{rule}\n/tmp"), None), Some(1..4));
        assert_eq!(found(&format!("╭{rule}╮\n│ ● ▋Ask │\n╰{rule}╯\n dir"), None), Some(0..3));
        assert_eq!(found(&format!("  ┃\n  ┃  go\n  ╹{}", "▀".repeat(30)), None), Some(0..3));
        assert_eq!(found(&format!("{rule}\n§ go\n{rule}"), Some((1, 4))), Some(0..3));
        assert_eq!(found("text\n\n> ", Some((2, 2))), Some(2..3));
        assert_eq!(found("┃\n┃ said\n┃\n\n┃\n┃ > go\n┃\n▶ mode", None), Some(4..7));
        assert_eq!(found("┃\n┃ said\n┃\n▶ mode", None), None);
        assert_eq!(found("text\n\n▹ ", Some((2, 2))), Some(2..3));
        assert_eq!(found("text\n\n▹ and more", Some((2, 10))), None);
        assert_eq!(found("text\n\nUser: ", Some((2, 6))), Some(2..3));
        assert_eq!(found("text\n\n>>>\nRex [fake]\n5 tokens | Idle", None), Some(2..3));
        assert_eq!(found("text\n\n>>> fix it\nRex [fake]", None), Some(2..3));
        assert_eq!(found(">>> a\n1\n2\n3\n4\n5", None), None);
        let old = format!("{rule}\n> go\n{rule}\nanswer\n> ");
        assert_eq!(found(&old, Some((4, 2))), Some(4..5));
    }

    #[test]
    fn a_box_with_choices_is_none() {
        let rule = "─".repeat(30);
        let dialog = format!("╭{rule}╮\n│ Run it? │\n│ ❯ 1. Yes │\n│   2. No │\n╰{rule}╯");
        assert_eq!(found(&dialog, Some((2, 2))), None);
        assert_eq!(found("plain\ntext", Some((1, 4))), None);
        assert_eq!(found("Password: ", Some((0, 10))), None);
        let other = format!("{rule}\n> go\n\n{}\nanswer", "-".repeat(30));
        assert_eq!(found(&other, None), None, "two rules of different signs");
        let list = format!("┌{rule}┐\n│ Provider │\n│ › One │\n│   Two │\n└{rule}┘");
        assert_eq!(found(&list, None), None);
    }
}
