//! `wheelhouse agent read NAME`: what its terminal shows and what has scrolled off it, as text.

use std::io::Write;

use serde_json::json;

use crate::api::{Request, Response};
use crate::cli::args::{Format, ReadingArgs, TextFormat};
use crate::cli::context::Context;
use crate::client::ClientError;
use crate::model::{Color, Row, Style, is_deceptive, is_picture_mark};

/// The lines of a pane, oldest first.
pub(crate) struct PaneLines {
    /// The number of the first line, counted from the first that ever scrolled off.
    pub(crate) first: u64,
    pub(crate) rows: Vec<Row>,
}

/// Rows of history that are asked for at once.
const PAGE_ROWS: u16 = 1000;

pub(crate) fn read(
    context: &mut Context,
    agent: &str,
    reading: ReadingArgs,
    format: Format,
) -> anyhow::Result<()> {
    let ReadingArgs { lines, scrollback, format: text_format } = reading;
    let rows = pane_lines(context, agent, scrollback, lines.unwrap_or(usize::MAX))?.rows;
    let shown = &rows[rows.len().saturating_sub(lines.unwrap_or(usize::MAX))..];
    let plain = |row: &Row| row.text().trim_end().to_owned();
    if format.json {
        let lines: Vec<String> = shown.iter().map(plain).collect();
        return context.print_json(&json!({ "agent": agent, "lines": lines }));
    }
    for row in shown {
        match text_format {
            TextFormat::Text => writeln!(context.out, "{}", text_only(&plain(row)))?,
            TextFormat::Ansi => writeln!(context.out, "{}", colored(row))?,
        }
    }
    Ok(())
}

/// Reads a pane as it is at one moment, without the blank rows at its end: at least the last
/// `wanted` lines, if there are as many.
pub(crate) fn pane_lines(
    context: &Context,
    agent: &str,
    with_history: bool,
    wanted: usize,
) -> Result<PaneLines, ClientError> {
    let Response::Screen { mut first, mut rows, .. } =
        context.ask(Request::Screen { agent: agent.to_owned() })?
    else {
        return Err(ClientError::Unexpected);
    };
    while rows.last().is_some_and(|row| row.text().trim_end().is_empty()) {
        rows.pop();
    }
    while with_history && rows.len() < wanted {
        let before = Some(first);
        let page = Request::History { agent: agent.to_owned(), before, count: PAGE_ROWS };
        let Response::History { first: begins, rows: mut older, .. } = context.ask(page)? else {
            return Err(ClientError::Unexpected);
        };
        // What was asked for may have been let go meanwhile.
        let ends = begins + u64::try_from(older.len()).unwrap_or_default();
        if older.is_empty() || ends != first {
            break;
        }
        older.append(&mut rows);
        (first, rows) = (begins, older);
    }
    Ok(PaneLines { first, rows })
}

/// Returns a line of a pane without what would act on the terminal, or hide or reorder its text.
pub(crate) fn text_only(line: &str) -> String {
    const JOINER: char = '\u{200d}';
    /// The Braille pattern without a dot: charts are full of it.
    const BLANK: char = '\u{2800}';
    let mut shown = String::with_capacity(line.len());
    for c in line.chars().map(|c| if c == BLANK { ' ' } else { c }) {
        if c == JOINER || !is_deceptive(c) || is_picture_mark(shown.chars().next_back(), c) {
            shown.push(c);
        }
    }
    shown
}

/// Returns a row with the sequences that set its colours.
fn colored(row: &Row) -> String {
    let mut text = String::new();
    let mut before = Style::default();
    for run in &row.runs {
        if run.style != before {
            text += &select_rendition(run.style);
            before = run.style;
        }
        text += &text_only(&run.text);
    }
    if before == Style::default() {
        return text.trim_end().to_owned();
    }
    text + "\x1b[m"
}

/// Returns the sequence that sets a style, whatever was set before.
fn select_rendition(style: Style) -> String {
    const ATTRIBUTES: [(u8, &str); 8] = [
        (Style::BOLD, ";1"),
        (Style::DIM, ";2"),
        (Style::ITALIC, ";3"),
        (Style::UNDERLINE, ";4"),
        (Style::BLINK, ";5"),
        (Style::INVERSE, ";7"),
        (Style::HIDDEN, ";8"),
        (Style::STRIKETHROUGH, ";9"),
    ];
    let set = ATTRIBUTES.iter().filter(|(bit, _)| style.has(*bit)).map(|(_, code)| *code);
    let attributes: String = set.collect();
    let color = |color: Color, base: u8| match color {
        Color::Default => String::new(),
        Color::Indexed(index @ 0..8) => format!(";{}", base + index),
        Color::Indexed(index @ 8..16) => format!(";{}", base + 60 + index - 8),
        Color::Indexed(index) => format!(";{};5;{index}", base + 8),
        Color::Rgb(red, green, blue) => format!(";{};2;{red};{green};{blue}", base + 8),
    };
    format!("\x1b[0{attributes}{}{}m", color(style.foreground, 30), color(style.background, 40))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Run;

    #[test]
    fn a_row_with_colours_is_written_as_a_terminal_reads_it() {
        let run = |text: &str, style| Run { text: text.to_owned(), columns: 1, style, link: None };
        let style = |foreground, background, attributes| Style {
            foreground,
            background,
            attributes,
            ..Style::default()
        };
        let runs = vec![
            run("a", Style::default()),
            run("b", style(Color::Indexed(1), Color::Indexed(12), Style::BOLD)),
            run("c\u{202e}\x1b", style(Color::Rgb(1, 2, 3), Color::Indexed(200), 0)),
            run("  ", Style::default()),
        ];
        let row = Row { runs, wrapped: false };
        assert_eq!(colored(&row), "a\x1b[0;1;31;104mb\x1b[0;38;2;1;2;3;48;5;200mc\x1b[0m");
        let plain = Row { runs: vec![run("x ", Style::default())], wrapped: false };
        assert_eq!(colored(&plain), "x");
    }
}
