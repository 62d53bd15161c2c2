//! What a dialog asks permission for: read whole, or not at all.

use crate::model::{Color, Row, Style, Subject};
use crate::screen::Screen;

use super::dialog::plain;
use super::rules::Rules;
use super::view::View;

/// What reaches nearer to the right edge may go on beyond it.
const EDGE_COLUMNS: usize = 8;
/// Stands where something was left out.
const LEFT_OUT: char = '…';

/// Reads the rows of a dialog above its options, each with its number on the screen. The other
/// value is the option that says yes to this, once.
pub(super) fn read<'t>(
    rows: impl Iterator<Item = (&'t str, usize)>,
    options: &[String],
    rules: &Rules,
    view: &View,
    screen: &Screen,
) -> Option<(Subject, usize)> {
    if rules.asks.is_empty() {
        return None;
    }
    let rows = rows.filter(|(row, _)| !plain(row).is_empty());
    let marked = rows.map(|(row, at)| {
        let is_colored = u16::try_from(at).is_ok_and(|at| is_colored(&screen.row(at)));
        if is_colored { format!("\t{row}") } else { row.to_owned() }
    });
    let text = marked.collect::<Vec<_>>().join("\n");
    let (captures, rule) =
        rules.asks.iter().find_map(|rule| Some((rule.pattern.captures(&text)?, rule)))?;
    let command = captures.name("command");
    let found = command.or_else(|| captures.name("path"))?;
    let start = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
    let columns = |letter: char| if letter.is_ascii() { 1 } else { 2 };
    let reached: usize =
        text[start..found.end()].trim_start_matches('\t').chars().map(columns).sum();
    if reached + EDGE_COLUMNS > view.cols || found.as_str().contains(LEFT_OUT) {
        return None;
    }
    let mut fitting = (0..options.len()).filter(|at| rule.yes.is_match(&options[*at]));
    let yes = fitting.next()?;
    if fitting.next().is_some() {
        return None;
    }
    let said = found.as_str().to_owned();
    Some((if command.is_some() { Subject::Command(said) } else { Subject::Path(said) }, yes))
}

/// Says whether all that is written in a row has a colour of its own, as what an interface adds to
/// an agent's words has.
fn is_colored(row: &Row) -> bool {
    let mut written = row.runs.iter().filter(|run| !run.text.trim().is_empty());
    written.all(|run| run.style.foreground != Color::Default || run.style.has(Style::DIM))
}
