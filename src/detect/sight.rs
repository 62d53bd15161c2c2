//! One look at a screen, without memory: for whoever is about to press a key.

use crate::model::{AgentState, Region, Row, Run};
use crate::screen::Screen;

use super::dialog::{self, Dialog, is_line, plain};
use super::general;
use super::look::judge;
use super::rules::Rules;
use super::told_command::ToldCommand;
use super::view::View;

/// Stand before the text in a composer that takes prompts. Any other mark is another mode of it.
const MARKS: &[char] = &['❯', '›', '>', '*', '●'];
/// What a cursor looks like that a program draws itself: a hint stands behind it.
const DRAWN_CURSOR: &[char] = &['▋', '▊', '▉'];

/// What a screen shows right now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// What the rules say; nothing if none matches.
    pub state: Option<AgentState>,
    pub dialog: Option<Dialog>,
    /// Where a prompt would go; nothing if it is not in sight.
    pub input: Option<Input>,
    /// The rows above the input.
    pub conversation: String,
    /// The cursor's line, up to the cursor.
    pub line: String,
    /// All rows up to the cursor.
    pub before_cursor: String,
}

/// Where a prompt is typed: the composer, or the line of the cursor in a program that has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub is_composer: bool,
    /// All that stands in it, with its frame, mark and hints.
    pub text: String,
    /// What stands in a composer before the cursor, without frame and mark; nothing if the cursor
    /// is elsewhere. A hint in an empty composer stands behind the cursor.
    pub typed: Option<String>,
    /// Something stands there in place of a long paste.
    pub has_placeholder: bool,
}

impl Sight {
    pub fn new(screen: &Screen, rules: &Rules) -> Self {
        let view = View::new(screen, rules);
        let verdict = judge(rules, &view).or_else(|| general::glance(&view));
        let is_waiting = |state: AgentState| state == AgentState::Waiting;
        let waiting = verdict.as_ref().filter(|verdict| is_waiting(verdict.state));
        let dialog = waiting.and_then(|verdict| {
            dialog::read(verdict, rules, &view, screen, &ToldCommand::default())
        });
        let rows: Vec<&str> = view.body().iter().map(|row| row.text.as_str()).collect();
        Self {
            state: verdict.map(|verdict| verdict.state),
            dialog,
            input: input(screen, rules, &view),
            conversation: rows.join("\n"),
            line: before(screen, line_start(screen)).unwrap_or_default(),
            before_cursor: without_named_marks(&before(screen, 0).unwrap_or_default()),
        }
    }
}

fn input(screen: &Screen, rules: &Rules, view: &View) -> Option<Input> {
    let is_composer = rules.composer.is_some();
    if is_composer && !view.has_composer {
        return None;
    }
    let first = if is_composer { view.body_rows } else { line_start(screen) };
    let before_cursor = before(screen, first);
    let text = if is_composer {
        view.region(Region::Footer)?.to_owned()
    } else {
        before_cursor.clone().unwrap_or_default()
    };
    let typed = before_cursor.filter(|_| is_composer).map(|text| without_mark(&text));
    let has_placeholder = rules.placeholder.as_ref().is_some_and(|hold| hold.is_match(&text));
    Some(Input { is_composer, text, typed, has_placeholder })
}

/// Returns the first row of the cursor's line, which the terminal may have broken.
fn line_start(screen: &Screen) -> usize {
    let mut row = screen.cursor().row;
    while row > 0 && screen.row(row - 1).wrapped {
        row -= 1;
    }
    usize::from(row)
}

/// Returns the text from a row up to the cursor.
fn before(screen: &Screen, first: usize) -> Option<String> {
    let cursor = screen.cursor();
    let first = u16::try_from(first).ok().filter(|first| *first <= cursor.row)?;
    let mut rows: Vec<String> = (first..cursor.row).map(|row| screen.row(row).text()).collect();
    rows.push(cut(&screen.row(cursor.row), cursor.col));
    Some(rows.iter().map(|row| row.trim_end()).collect::<Vec<_>>().join("\n"))
}

fn cut(row: &Row, cols: u16) -> String {
    let mut text = String::new();
    let mut at = 0;
    for (cell, columns) in row.runs.iter().flat_map(Run::cells) {
        at += columns;
        if at > cols {
            break;
        }
        text.push_str(cell);
    }
    text
}

/// Returns what was typed into a composer: without the border and names above its mark, without
/// the mark, and without the frame at the sides.
fn without_mark(text: &str) -> String {
    let text = text.split(DRAWN_CURSOR).next().unwrap_or_default();
    let rows: Vec<&str> = text.lines().map(plain).filter(|row| !is_line(row)).collect();
    let marked = rows.iter().position(|row| after_mark(row).is_some());
    let mut typed: Vec<&str> = rows[marked.unwrap_or(0)..].to_vec();
    if let Some((first, rest)) = typed.split_first_mut() {
        let whole = *first;
        *first = after_mark(whole).unwrap_or(whole);
        // A line editor repeats a mark with a name, as in `ask> `, before each row.
        let mark = whole.strip_suffix(*first).map_or("", str::trim_end);
        if mark.starts_with(char::is_alphanumeric) {
            for row in rest {
                *row = row.strip_prefix(mark).unwrap_or(row).trim_start();
            }
        }
    }
    typed.join("\n").trim().to_owned()
}

/// Returns rows without the mark with a name, as in `ask> `, that a line editor repeats before each of them, if
/// the last one has it.
fn without_named_marks(text: &str) -> String {
    let last = text.lines().next_back().unwrap_or_default();
    let mark = last.split_inclusive('>').next().unwrap_or_default();
    let name = mark.strip_suffix('>').unwrap_or_default();
    if name.is_empty() || !name.chars().all(char::is_alphanumeric) {
        return text.to_owned();
    }
    text.lines().map(|row| row.strip_prefix(mark).unwrap_or(row)).collect::<Vec<_>>().join("\n")
}

/// Returns what follows the mark; a word may stand before it, as in `ask> `.
fn after_mark(row: &str) -> Option<&str> {
    let rest = row.trim_start_matches(char::is_alphanumeric).trim_start();
    let mut letters = rest.chars();
    let is_mark = letters.next().is_some_and(|first| MARKS.contains(&first));
    let is_apart = letters.clone().next().is_none_or(char::is_whitespace);
    (is_mark && is_apart).then(|| letters.as_str().trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_is_repeated_before_each_row_is_no_part_of_them() {
        assert_eq!(without_named_marks("ask> one\nask> two\nask> t"), " one\n two\n t");
        for text in ["> one\n> two", "ask> one\ntwo", "", "a > b"] {
            assert_eq!(without_named_marks(text), text);
        }
    }

    #[test]
    fn what_was_typed_has_no_frame_and_no_mark() {
        for (text, typed) in [
            ("────────\n❯ ", ""),
            ("────────\n❯ fix it\n  and that", "fix it\nand that"),
            ("› ", ""),
            ("────────\nsrc/a.rs src/b.rs\nask> go", "go"),
            ("────────\nask> go /usr/bi\nask> n", "go /usr/bi\nn"),
            ("  ┃\n  ┃  hello", "hello"),
            ("╭─────╮\n│ ● ▋Ask anything", ""),
            ("  ┃\n  ┃", ""),
            ("╻▄▄▄▄▄▄\n┃", ""),
            ("╻▄▄▄▄▄▄\n┃ hello", "hello"),
            ("▄▄▄▄▄▄▄▄\n > ", ""),
            // Another mode of the composer is not an empty one.
            ("────────\n! ", "!"),
        ] {
            assert_eq!(without_mark(text), typed, "{text}");
        }
    }
}
