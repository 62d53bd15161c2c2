//! Finds a dialog on a screen of which nothing is known: a marked list or a yes-or-no row, and its keys.

use crate::model::DialogKind;

use super::composer::is_rule;
use super::dialog::plain;
use super::view::TextRow;

/// A dialog stands in so many rows above the last one.
const BOTTOM_ROWS: usize = 40;
/// Below the last choice stand its keys and a status, no conversation.
const BELOW_MAX: usize = 9;
/// Below a notice that covers the middle of the screen stands the rest of what it covers.
const NOTICE_BELOW_MAX: usize = 4;
/// A list that names no keys is not longer.
const ENTRIES_MAX: usize = 9;
/// So many rows above the choices tell what they are about.
const ABOVE_ROWS: usize = 14;
/// What marks the choice that Enter takes.
const MARKS: &[char] = &['❯', '›', '●', '>', '▸', '▶', '→', '◉', '◆', '☞', '»', '➤'];
/// Stand before a choice that can be ticked.
const BOXES: &[&str] =
    &["[ ]", "[x]", "[X]", "[✓]", "( )", "(•)", "(*)", "☐", "☑", "☒", "◯", "◻", "◼", "○"];

/// A dialog, and the row that tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) kind: DialogKind,
    pub(super) line: String,
}

/// Finds a dialog in rows below or without a composer, which begins at row `from`.
pub(super) fn find(rows: &[TextRow], from: usize) -> Option<Seen> {
    let first = rows.len().saturating_sub(BOTTOM_ROWS).max(from);
    let texts: Vec<&str> = rows.get(first..)?.iter().map(|row| plain(&row.text)).collect();
    let boxed = || boxed_list(rows.get(first..)?);
    let last = list(&texts)
        .or_else(|| buttons(&texts))
        .or_else(|| last_line(&texts))
        .or_else(boxed)
        .or_else(|| asked_list(&texts))
        .or_else(|| notice(&texts))?;
    let above = &texts[last.saturating_sub(ABOVE_ROWS)..=last];
    Some(Seen { kind: kind_of(above), line: texts[last].to_owned() })
}

/// Finds a dialog above a composer that stays in sight: a closed box with a marked list, and below it, the arrows
/// that move the mark.
pub(super) fn above(rows: &[TextRow]) -> Option<Seen> {
    let last = boxed_list(rows)?;
    let below = rows[last + 1..].iter().map(|row| row.text.as_str());
    let has_keys = below.filter(|row| names_arrows(row)).any(names_keys);
    let texts: Vec<&str> = rows[..=last].iter().map(|row| plain(&row.text)).collect();
    let about = &texts[last.saturating_sub(ABOVE_ROWS)..];
    has_keys.then(|| Seen { kind: kind_of(about), line: marked_line(&texts).to_owned() })
}

/// Returns the row with the lowest mark.
fn marked_line<'t>(texts: &[&'t str]) -> &'t str {
    let is_marked = |row: &&&str| choice(row).is_some_and(|choice| choice.is_marked);
    texts.iter().rev().find(is_marked).copied().unwrap_or_default()
}

/// Says whether the rows of a box offer a choice.
pub(super) fn has_choice(texts: &[&str]) -> bool {
    // A prompt that begins with a number stands behind the composer's own mark, in its first row.
    let is_marked = |row: &&str| choice(row).is_some_and(|it| it.is_marked && it.number.is_some());
    let first = texts.iter().position(|row| !row.is_empty());
    let is_listed = texts.iter().position(is_marked) > first;
    is_listed || list(texts).is_some() || buttons(texts).is_some()
}

/// Returns the last row of a list, if keys for it are named near it.
fn list(texts: &[&str]) -> Option<usize> {
    let marked = texts.iter().rposition(|row| choice(row).is_some_and(|choice| choice.is_marked));
    let numbered = |row: &&str| choice(row).is_some_and(|choice| choice.number.is_some());
    // The choice may be shown by its colours alone, and a mark further up be that of a prompt's echo.
    let unmarked = texts.iter().rposition(numbered);
    let at_mark = marked.and_then(|at| list_around(texts, at));
    at_mark.or_else(|| list_around(texts, unmarked?))
}

/// Returns the last row of the list of which this is an entry.
fn list_around(texts: &[&str], at: usize) -> Option<usize> {
    let numbered = |row: &&str| choice(row).is_some_and(|choice| choice.number.is_some());
    let is_marked = choice(texts[at]).is_some_and(|choice| choice.is_marked);
    let is_numbered = choice(texts[at]).is_some_and(|choice| choice.number.is_some());
    let near = at.saturating_sub(12)..(at + 13).min(texts.len());
    let numbers = texts[near.clone()].iter().filter(|row| numbered(row)).count();
    let has_list = if is_numbered { numbers > 1 } else { has_neighbour(texts, at) };
    let end = (at..near.end).rev().find(|at| choice(texts[*at]).is_some()).unwrap_or(at);
    let below = texts[end + 1..].iter().filter(|row| !row.is_empty() && !is_rule(row)).count();
    // Keys may be named under the title, above what is asked.
    let rule = (near.start..at).rev().find(|at| is_rule(texts[*at])).unwrap_or(near.start);
    let has_keys = texts[rule..].iter().any(|row| names_keys(row));
    let is_certain = has_keys && (is_marked || numbers > 1);
    (has_list && is_certain && below <= BELOW_MAX).then_some(end)
}

/// Returns the last row of a closed box at the bottom that has a marked list below its title, though it names
/// no keys.
fn boxed_list(rows: &[TextRow]) -> Option<usize> {
    let is_side = |row: &TextRow| {
        let text = row.text.trim();
        text.starts_with(['│', '┃', '║']) && text.ends_with(['│', '┃', '║']) && text.len() > 6
    };
    // Its corners may be anything.
    let line = |row: &TextRow| row.text.chars().filter(|c| matches!(c, '─' | '━' | '═')).count();
    let is_edge = |at: usize| rows.get(at).is_some_and(|row| line(row) >= 10);
    let last = rows.iter().rposition(is_side)?;
    let height = rows[..=last].iter().rev().take_while(|row| is_side(row)).count();
    let first = last + 1 - height;
    let is_closed = first > 0 && is_edge(first - 1) && is_edge(last + 1);
    let below = rows[last + 1..].iter().filter(|row| !row.text.is_empty()).count();
    let words = |row: &TextRow| {
        let inner = row.text.trim().trim_matches(['│', '┃', '║']).trim_end().to_owned();
        let start = inner.chars().take_while(|c| !c.is_alphanumeric()).count();
        (inner.chars().any(char::is_alphanumeric)).then_some((inner, start))
    };
    let inner: Vec<_> = rows[first..=last].iter().map(words).collect();
    let marked = inner.iter().rposition(|row| {
        row.as_ref().is_some_and(|(text, _)| text.trim_start().starts_with(MARKS))
    })?;
    let (_, column) = inner[marked].as_ref()?;
    // Another entry begins where the words of the marked one do, with nothing in place of the mark.
    let is_entry = |row: &Option<(String, usize)>| {
        row.as_ref().is_some_and(|(text, start)| {
            start == column && text.chars().take(*start).all(char::is_whitespace)
        })
    };
    let has_title = inner[..marked].iter().any(Option::is_some);
    let has_others = inner[marked + 1..].iter().any(is_entry);
    (is_closed && below <= BELOW_MAX && has_title && has_others).then_some(last)
}

/// Returns the last row on the screen, if it ends a short list with one mark below a question.
fn asked_list(texts: &[&str]) -> Option<usize> {
    let last = texts.iter().rposition(|row| !row.is_empty())?;
    let question =
        (last.saturating_sub(ENTRIES_MAX)..last).rev().find(|at| texts[*at].ends_with('?'))?;
    let entries = &texts[question + 1..=last];
    let marked = |row: &&&str| {
        let rest = row.strip_prefix(MARKS).or_else(|| row.strip_prefix('*'));
        rest.is_some_and(|rest| rest.starts_with(' '))
    };
    let has_one_mark = entries.iter().filter(marked).count() == 1;
    let is_short = |row: &&str| !row.is_empty() && row.chars().count() < 60;
    (entries.len() > 1 && has_one_mark && entries.iter().all(is_short)).then_some(last)
}

/// Returns a row near the bottom that wants a key before anything else goes on.
fn notice(texts: &[&str]) -> Option<usize> {
    let wants_key = |row: &&str| {
        let row = row.to_lowercase();
        let has = |signs: [&str; 2]| signs.iter().any(|sign| row.contains(sign));
        let asks_both = has(["[y]", "(y)"]) && has(["[n]", "(n)"]) && row.chars().count() < 80;
        let starts = ["press enter to ", "press return to ", "press any key"];
        asks_both || starts.iter().any(|start| row.starts_with(start))
    };
    let at = texts.iter().rposition(wants_key)?;
    let below = texts[at + 1..].iter().filter(|row| !row.is_empty() && !is_rule(row)).count();
    (below <= NOTICE_BELOW_MAX).then_some(at)
}

/// Says whether something that could be another choice stands right above or below.
fn has_neighbour(texts: &[&str], at: usize) -> bool {
    let is_other = |row: &&str| {
        let length = row.chars().count();
        length > 1 && length < 100 && !is_rule(row) && !names_arrows(row)
    };
    texts.get(at + 1).is_some_and(is_other)
        || at.checked_sub(1).and_then(|at| texts.get(at)).is_some_and(is_other)
        || texts.get(at + 2).is_some_and(is_other)
}

/// One entry of a list.
struct Choice {
    is_marked: bool,
    number: Option<u32>,
}

fn choice(row: &str) -> Option<Choice> {
    let rest = row.trim_start();
    let unmarked = rest.strip_prefix(MARKS).filter(|rest| rest.starts_with([' ', '\u{fe0e}']));
    let is_marked = unmarked.is_some();
    let rest = unmarked.unwrap_or(rest).trim_start();
    let is_box = BOXES.iter().any(|sign| rest.starts_with(sign));
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..digits].parse().ok().filter(|_| {
        let after = &rest[digits..];
        digits < 3 && (after.starts_with(". ") || after.starts_with(") "))
    });
    let is_choice = number.is_some() || is_box || (is_marked && !rest.is_empty());
    is_choice.then_some(Choice { is_marked, number })
}

/// Returns a row of buttons side by side, if a key for them is named.
fn buttons(texts: &[&str]) -> Option<usize> {
    let words = |row: &&str| {
        let row = row.to_lowercase();
        let parts: Vec<&str> =
            row.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
        let has = |words: &[&str]| {
            parts.iter().any(|part| {
                let part = part.trim_matches(|c: char| !c.is_alphanumeric());
                words.iter().any(|word| part == *word || part.starts_with(&format!("{word} ")))
            })
        };
        parts.len() > 1
            && has(&["allow", "yes", "approve", "accept", "trust", "ok", "run", "confirm"])
            && has(&["deny", "no", "reject", "cancel", "decline", "exit", "skip", "refuse"])
    };
    let at = texts.iter().rposition(words)?;
    let below = texts[at + 1..].iter().filter(|row| !row.is_empty() && !is_rule(row)).count();
    let has_keys = texts[at..].iter().any(|row| names_keys(row));
    (below <= BELOW_MAX && has_keys).then_some(at)
}

/// Returns the last row, if it asks for yes or no, for a secret, or for a key.
fn last_line(texts: &[&str]) -> Option<usize> {
    let at = texts.iter().rposition(|row| !row.is_empty())?;
    let row = texts[at].to_lowercase();
    let end = row.trim_end_matches([':', '?', '>', ' ', ')', ']']);
    let letters: String = row.chars().filter(|c| c.is_alphanumeric() || *c == '/').collect();
    let asks = ["y/n", "yes/no", "yes/nyo", "yesno"].iter().any(|end| letters.ends_with(end));
    let has_both = ["(y)", "[y]"].iter().any(|yes| row.contains(yes))
        && ["(n)", "[n]"].iter().any(|no| row.contains(no));
    let is_secret = row.ends_with(':')
        && ["key", "password", "passphrase", "token", "code"]
            .iter()
            .any(|word| end.ends_with(word));
    let is_key = ["press enter to", "press return to", "press any key", "hit enter to"]
        .iter()
        .any(|start| row.starts_with(start));
    let is_bracketed = row.contains(['(', '[']);
    (asks && is_bracketed || has_both || is_secret || is_key).then_some(at)
}

pub(super) fn names_arrows(row: &str) -> bool {
    ["↑/↓", "↑↓", "←/→", "↑ ↓", "⇆", "up/down", "↕", "j/k"].iter().any(|sign| row.contains(sign))
}

/// Says whether a row names the keys of a dialog.
fn names_keys(row: &str) -> bool {
    if names_arrows(row) {
        return true;
    }
    let row = row.to_lowercase();
    let has = |word: &str| row.contains(word);
    let does = |words: &[&str]| words.iter().any(|word| has(word));
    let enter = has("enter") || has("return") || has("⏎") || has("↵");
    let enters = does(&["select", "confirm", "submit", "accept", "choose", "continue", "approve"]);
    let leaves =
        does(&["cancel", "dismiss", "reject", "deny", "decline", "go back", "exit", "no,"]);
    let hints = does(&["(esc)", "(y)", "(n)", "(tab)", "[y]", "[n]", "(esc to "]);
    enter && enters || has("esc") && leaves || hints
}

/// Tells what a dialog wants by its words, where it has any that tell.
fn kind_of(rows: &[&str]) -> DialogKind {
    let text = rows.join("\n").to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["trust"]) {
        DialogKind::Trust
    } else if has(&["log in", "login", "sign in", "api key", "authenticat", "provider", "password"])
    {
        DialogKind::Login
    } else if has(&[
        "allow",
        "approve",
        "permission",
        "proceed",
        "apply",
        "run ",
        "yes",
        "(y)",
        "y/n",
    ]) {
        DialogKind::Approval
    } else {
        DialogKind::Question
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Option<DialogKind> {
        let row = |text: &str| TextRow::plain(text);
        find(&text.lines().map(row).collect::<Vec<_>>(), 0).map(|seen| seen.kind)
    }

    #[test]
    fn a_marked_list_with_keys_is_a_dialog() {
        for (text, kind) in [
            ("Allow it?\n› 1. Yes\n  2. No (esc)\n\n⠏ Waiting", DialogKind::Approval),
            (
                "│ ? Which one │\n│  ❯ Postgres │\n│    SQLite │\n│ ↑/↓ navigate, Enter select │",
                DialogKind::Question,
            ),
            (
                "┃ Which?\n┃ 1. A\n┃ 2. B\n┃ ↑↓ select  enter submit  esc dismiss",
                DialogKind::Question,
            ),
            (
                "┃ Permission required\n┃  Allow once   Allow always   Reject     enter confirm",
                DialogKind::Approval,
            ),
            ("Create new file? (Y)es/(N)o [Yes]:", DialogKind::Approval),
            ("Log in to it? [(y)es, (n)o]:", DialogKind::Login),
            ("Overwrite? [y/N]", DialogKind::Approval),
            ("→ Login to continue\n\n  Press return to open your browser", DialogKind::Login),
            (
                "Do you trust it?\n❯ Yes, I do\n  No, exit\n Enter to confirm · Esc to cancel",
                DialogKind::Trust,
            ),
        ] {
            assert_eq!(seen(text), Some(kind), "{text}");
        }
    }

    #[test]
    fn a_box_with_its_keys_is_a_dialog_though_a_composer_stays_below() {
        let rule = "─".repeat(30);
        let list = format!(
            "╭{rule}╮\n│ rm -rf build │\n│              │\n│ ❯ 1. Allow once │\n│   2. Deny │\n╰{rule}╯"
        );
        let rows = |text: &str| text.lines().map(TextRow::plain).collect::<Vec<_>>();
        let keyed = rows(&format!("{list}\n\n  ↑/↓ to select, Enter to confirm"));
        let seen = above(&keyed).unwrap();
        assert_eq!((seen.kind, seen.line.as_str()), (DialogKind::Approval, "❯ 1. Allow once"));
        assert_eq!(above(&rows(&list)), None, "it may be shown by a message");
    }

    #[test]
    fn a_list_in_a_message_is_none() {
        for text in [
            "● Steps:\n  1. read\n  2. write\n\ndone",
            "> 1. fix it\n> 2. test it",
            "I chose yes, not no.",
            "❯ hello\n  world",
        ] {
            assert_eq!(seen(text), None, "{text}");
        }
    }
}
