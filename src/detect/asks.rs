//! What a dialog asks permission for: read whole, or not at all.

use crate::model::{Color, Row, Style, Subject};
use crate::screen::Screen;

use super::dialog::plain;
use super::rules::{AskRule, Rules};
use super::told_command::ToldCommand;
use super::view::View;

/// What reaches nearer to the right edge may go on beyond it.
const EDGE_COLUMNS: usize = 8;
const QUOTES: [char; 2] = ['\'', '"'];
/// Stands where something was left out.
const LEFT_OUT: char = '…';
/// Gemini draws it in place of directories.
const LEFT_OUT_OF_PATH: &str = "...";

/// Where a dialog stands, and what the program told of it.
pub(super) struct Page<'p> {
    pub(super) view: &'p View,
    pub(super) screen: &'p Screen,
    pub(super) told: &'p ToldCommand,
}

/// Reads the rows of a dialog above its options, each with its number on the screen. The other
/// value is the option that says yes to this, once.
pub(super) fn read<'t>(
    rows: impl Iterator<Item = (&'t str, usize)>,
    options: &[String],
    rules: &Rules,
    page: &Page,
) -> Option<(Subject, usize)> {
    if rules.asks.is_empty() {
        return None;
    }
    let rows: Vec<String> = rows.map(|(row, at)| marked(row, at, page.screen)).collect();
    let all = rows.join("\n");
    let written: Vec<String> = rows.into_iter().filter(|row| !plain(row).is_empty()).collect();
    let written = written.join("\n");
    let (subject, rule) = rules.asks.iter().find_map(|rule| {
        let text = if rule.has_blank_rows { all.trim_matches('\n') } else { &written };
        Some((subject(text, rule, options, page)?, rule))
    })?;
    let mut fitting = (0..options.len()).filter(|at| rule.yes.is_match(&options[*at]));
    let yes = fitting.next()?;
    fitting.next().is_none().then_some((subject, yes))
}

fn marked(row: &str, at: usize, screen: &Screen) -> String {
    let is_colored = u16::try_from(at).is_ok_and(|at| is_colored(&screen.row(at)));
    if plain(row).is_empty() {
        String::new()
    } else if is_colored {
        format!("\t{row}")
    } else {
        row.to_owned()
    }
}

/// Returns what a rule reads in the text of a dialog.
fn subject(text: &str, rule: &AskRule, options: &[String], page: &Page) -> Option<Subject> {
    let captures = rule.pattern.captures(text)?;
    if let Some(rows) = captures.name("rows") {
        // A row that was wrapped looks like one that a line of the command ends.
        return page.told.shown_as(rows.as_str()).map(|told| Subject::Command(told.to_owned()));
    }
    let command = captures.name("command");
    let found = command.or_else(|| captures.name("path"))?;
    let start = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
    let columns = |letter: char| if letter.is_ascii() { 1 } else { 2 };
    let reached: usize =
        text[start..found.end()].trim_start_matches('\t').chars().map(columns).sum();
    let said = found.as_str();
    let is_shortened = command.is_none() && said.contains(LEFT_OUT_OF_PATH);
    if reached + EDGE_COLUMNS > page.view.cols || said.contains(LEFT_OUT) || is_shortened {
        return None;
    }
    if command.is_none() && rule.needs_told {
        return page.told.path_shown_as(said).map(|told| Subject::Path(told.to_owned()));
    }
    if rule.needs_told || (command.is_some() && page.told.is_some()) {
        return page.told.shown_as(said).map(|told| Subject::Command(told.to_owned()));
    }
    if let Some(again) = &rule.again {
        let repeated = options.iter().find_map(|option| again.captures(option)?.name("words"));
        if repeated.is_some_and(|words| !agrees(said, words.as_str())) {
            return None;
        }
    }
    let said = said.to_owned();
    Some(if command.is_some() { Subject::Command(said) } else { Subject::Path(said) })
}

/// Says whether a command begins with words that the dialog repeats elsewhere. A tab that is not drawn, or a letter that
/// cannot be seen, makes a difference between them.
fn agrees(command: &str, words: &str) -> bool {
    let is_quoted = command.contains(QUOTES);
    let bare = |text: &str| {
        let text = if is_quoted { text.replace(QUOTES, "") } else { text.to_owned() };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    bare(command).starts_with(&bare(words))
}

/// Says whether all that is written in a row has a colour of its own, as what an interface adds to
/// an agent's words has.
fn is_colored(row: &Row) -> bool {
    let mut written = row.runs.iter().filter(|run| !run.text.trim().is_empty());
    written.all(|run| run.style.foreground != Color::Default || run.style.has(Style::DIM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dialog_repeats_of_a_command_must_be_its_beginning() {
        for (command, words) in [
            ("cargo test --lib", "cargo test --lib"),
            ("cargo test  --lib", "cargo test --lib"),
            ("cargo test && git status", "cargo test"),
            ("git commit -m \"Fix it\"", "git commit -m 'Fix it'"),
            ("cargo test a/long/path", "cargo test a/lo"),
        ] {
            assert!(agrees(command, words), "{command} {words}");
        }
        for (command, words) in [
            // A letter that cannot be seen has the word quoted; a tab was not drawn.
            ("cargo test --lib", "cargo test '--lib'"),
            ("cargo test--lib", "cargo test --lib"),
            ("cargo test", "rm -rf x"),
            ("cargo test", "cargo test x"),
        ] {
            assert!(!agrees(command, words), "{command} {words}");
        }
    }
}
