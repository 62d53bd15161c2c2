//! The transcript: what was said and done, block by block.

use super::line::{Ink, Line};
use super::wrap::{ENDLESS, cut, wrap};

/// Lines of a tool's output that are shown; the rest is counted.
const OUTPUT_LINES_SHOWN: usize = 6;
/// The least room for text beside an indent.
const TEXT_COLS_MIN: usize = 8;

/// One piece of the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Banner {
        title: String,
        directory: String,
    },
    Prompt(String),
    Message(String),
    Tool {
        title: String,
        outcome: Outcome,
    },
    Todos(Vec<Todo>),
    Failure(String),
    /// A remark of the program itself, under what came before.
    Remark(String),
    /// The end of a turn.
    Summary(String),
}

/// What came of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Running,
    Passed(Vec<String>),
    Failed(Vec<String>),
}

/// One item of the list of things to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Todo {
    pub text: String,
    pub is_done: bool,
}

impl Block {
    /// Returns the block's lines, with the empty line above that sets it apart.
    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let mut lines = match self {
            Self::Remark(_) => Vec::new(),
            Self::Tool { .. }
            | Self::Banner { .. }
            | Self::Prompt(_)
            | Self::Message(_)
            | Self::Todos(_)
            | Self::Failure(_)
            | Self::Summary(_) => vec![Line::default()],
        };
        match self {
            Self::Banner { title, directory } => lines.extend(banner(title, directory, width)),
            Self::Prompt(text) => lines.extend(marked("❯ ", Ink::Dim, Ink::Echo, text, width)),
            Self::Message(text) => lines.extend(marked("● ", Ink::Plain, Ink::Plain, text, width)),
            Self::Tool { title, outcome } => {
                let (ink, output) = match outcome {
                    Outcome::Running => (Ink::Dim, None),
                    Outcome::Passed(output) => (Ink::Good, Some((Ink::Plain, output))),
                    Outcome::Failed(output) if output.is_empty() => (Ink::Bad, None),
                    Outcome::Failed(output) => (Ink::Bad, Some((Ink::Bad, output))),
                };
                lines.extend(marked("● ", ink, Ink::Bold, title, width));
                lines.extend(
                    output.map(|(ink, lines)| result(ink, lines, width)).unwrap_or_default(),
                );
            }
            Self::Todos(todos) => {
                lines.push(Line::of(Ink::Good, "● ").and(Ink::Bold, "Update Todos"));
                lines.extend(todo_lines(todos, width));
            }
            Self::Failure(text) => lines.extend(marked("● ", Ink::Bad, Ink::Bad, text, width)),
            Self::Remark(text) => lines.extend(marked("  ⎿  ", Ink::Dim, Ink::Dim, text, width)),
            Self::Summary(text) => lines.extend(marked("✻ ", Ink::Dim, Ink::Dim, text, width)),
        }
        lines
    }
}

/// Returns a list of things to do, as it hangs below what it belongs to.
pub(super) fn todo_lines(todos: &[Todo], width: usize) -> Vec<Line> {
    let item = |(at, todo): (usize, &Todo)| {
        let mark = if at == 0 { "  ⎿  " } else { "     " };
        let (tick, ink) = if todo.is_done { ("☒ ", Ink::Dim) } else { ("☐ ", Ink::Plain) };
        let text = cut(&todo.text, width.saturating_sub(7).max(TEXT_COLS_MIN));
        Line::of(Ink::Dim, mark).and(ink, tick).and(ink, text)
    };
    todos.iter().enumerate().map(item).collect()
}

/// Wraps a text behind a mark; the lines after the first are indented by blanks.
fn marked(mark: &str, mark_ink: Ink, ink: Ink, text: &str, width: usize) -> Vec<Line> {
    let indent = mark.chars().count();
    let room = if width == ENDLESS { ENDLESS } else { width.saturating_sub(indent) };
    let line = |(at, text): (usize, String)| match (at, text.is_empty()) {
        (0, _) => Line::of(mark_ink, mark).and(ink, text),
        (_, true) => Line::default(),
        (_, false) => Line::of(Ink::Plain, " ".repeat(indent)).and(ink, text),
    };
    wrap(text, room.max(TEXT_COLS_MIN)).into_iter().enumerate().map(line).collect()
}

fn result(ink: Ink, output: &[String], width: usize) -> Vec<Line> {
    let hidden = output.len().saturating_sub(OUTPUT_LINES_SHOWN);
    let mut text = output[..output.len() - hidden].join("\n");
    if text.is_empty() {
        "(No content)".clone_into(&mut text);
    }
    let mut lines = marked("  ⎿  ", Ink::Dim, ink, &text, width);
    if hidden > 0 {
        lines.push(Line::of(Ink::Dim, format!("     … +{hidden} lines (ctrl+o to expand)")));
    }
    lines
}

fn banner(title: &str, directory: &str, width: usize) -> Vec<Line> {
    let version = env!("CARGO_PKG_VERSION");
    if width == ENDLESS {
        return vec![Line::of(Ink::Bold, format!("{title} · sim {version} · {directory}"))];
    }
    let room = width.saturating_sub(4).min(56);
    let head = cut(&format!("⎈ {title} · sim {version}"), room);
    let place = cut(&format!("  {directory}"), room);
    let side = |text: String, ink: Ink| {
        let gap = room.saturating_sub(unicode_width::UnicodeWidthStr::width(text.as_str()));
        Line::of(Ink::Accent, "│ ").and(ink, text + &" ".repeat(gap)).and(Ink::Accent, " │")
    };
    let rule = "─".repeat(room + 2);
    vec![
        Line::of(Ink::Accent, format!("╭{rule}╮")),
        side(head, Ink::Bold),
        side(place, Ink::Dim),
        Line::of(Ink::Accent, format!("╰{rule}╯")),
    ]
}
