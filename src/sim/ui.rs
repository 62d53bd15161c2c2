//! What the agent shows: plain data, and the lines that follow from it.

use std::collections::VecDeque;

use super::block::{Block, Outcome, Todo, todo_lines};
use super::dialog::Dialog;
use super::editor::Editor;
use super::line::{Ink, Line};
use super::wrap::{cut, wrap};

/// Blocks that a redraw brings back; older ones live only in the terminal's own history.
const BLOCKS_MAX: usize = 200;
/// Lines of the prompt box; a longer text scrolls inside it.
const BOX_LINES_MAX: usize = 10;
/// The glyphs that the spinner goes through, ten a second.
const SPINNER: [&str; 6] = ["·", "✢", "✳", "✶", "✻", "✽"];

/// Everything that is on the agent's terminal.
#[derive(Debug, Default)]
pub(super) struct Ui {
    /// The number of the first block that is still held, counted from the start.
    pub first_block: usize,
    pub blocks: VecDeque<Block>,
    /// The last block still grows.
    pub is_last_open: bool,
    pub spinner: Option<Spinner>,
    pub todos: Vec<Todo>,
    pub dialog: Option<Dialog>,
    pub editor: Editor,
    /// Prompts that wait for the turn to end.
    pub queue: VecDeque<String>,
    /// Stands in the footer instead of the usual hint.
    pub notice: Option<String>,
    pub turn: TurnState,
    pub title: String,
}

/// How the agent's turn stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TurnState {
    #[default]
    Idle,
    Working,
    /// A dialog asks for a permission.
    Permission,
    /// A dialog asks a question.
    Question,
    Done,
    Failed,
}

/// The line that says that something goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spinner {
    pub verb: String,
    pub beat: usize,
    pub seconds: u64,
    pub tokens: u64,
}

/// The part of the terminal that changes in place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Live {
    pub lines: Vec<Line>,
    /// The line and column of the cursor, if it is shown.
    pub cursor: Option<(usize, usize)>,
}

impl Ui {
    /// Adds a block; the one before is finished by that.
    pub(super) fn push(&mut self, block: Block) {
        self.is_last_open = false;
        self.blocks.push_back(block);
        if self.blocks.len() > BLOCKS_MAX {
            self.blocks.pop_front();
            self.first_block += 1;
        }
    }

    /// Adds a block that still grows.
    pub(super) fn open(&mut self, block: Block) {
        self.push(block);
        self.is_last_open = true;
    }

    /// Ends the tool call that is open, if one is.
    pub(super) fn close_tool(&mut self, result: Outcome) {
        if let Some(Block::Tool { outcome, .. }) = self.blocks.back_mut()
            && *outcome == Outcome::Running
        {
            *outcome = result;
        }
        self.is_last_open = false;
    }

    /// Returns the lines from this place on that will not change any more, and where they end.
    pub(super) fn settled(&self, from: Place, width: usize) -> (Vec<Line>, Place) {
        let mut lines = Vec::new();
        let mut place = from;
        for (at, block) in self.blocks.iter().enumerate() {
            let number = self.first_block + at;
            if number < place.block {
                continue;
            }
            let skipped = if number == place.block { place.line } else { 0 };
            let all = block.lines(width);
            let is_open = self.is_last_open && at + 1 == self.blocks.len();
            let fixed = match block {
                _ if !is_open => all.len(),
                // Wrapped text grows at its end only.
                Block::Message(_) => all.len() - 1,
                Block::Banner { .. }
                | Block::Prompt(_)
                | Block::Tool { .. }
                | Block::Todos(_)
                | Block::Failure(_)
                | Block::Remark(_)
                | Block::Summary(_) => 0,
            };
            place = if is_open {
                Place { block: number, line: fixed.max(skipped) }
            } else {
                Place { block: number + 1, line: 0 }
            };
            lines.extend(all.into_iter().take(fixed).skip(skipped));
        }
        (lines, place)
    }

    /// Returns what follows the settled lines: the growing block, the spinner, the box.
    pub(super) fn live(&self, from: Place, width: usize, rows: usize) -> Live {
        let mut live = Live::default();
        if self.is_last_open
            && let Some(block) = self.blocks.back()
        {
            let is_begun = from.block + 1 == self.first_block + self.blocks.len();
            let skipped = if is_begun { from.line } else { 0 };
            live.lines.extend(block.lines(width).into_iter().skip(skipped));
        }
        if let Some(spinner) = &self.spinner {
            live.lines.extend([Line::default(), spinner.line(width)]);
            live.lines.extend(todo_lines(&self.todos, width));
        }
        if let Some(dialog) = &self.dialog {
            live.lines.extend(dialog.lines(width));
        } else {
            self.prompt_box(&mut live, width);
        }
        live.fit(rows)
    }

    fn prompt_box(&self, live: &mut Live, width: usize) {
        live.lines.push(Line::default());
        for queued in &self.queue {
            let first = queued.lines().next().unwrap_or_default();
            live.lines.push(Line::of(Ink::Dim, cut(&format!("  ❯ {first}"), width)));
        }
        let rule = Line::of(Ink::Dim, "─".repeat(width));
        live.lines.push(rule.clone());
        let (shown, before) = self.editor.shown();
        let room = width.saturating_sub(3).max(1);
        let text = wrap(&shown, room);
        let (row, col) = cursor(&shown, before, room);
        let first = (row + 1).saturating_sub(BOX_LINES_MAX);
        live.cursor = Some((live.lines.len() + row - first, col + 2));
        for (at, line) in text.into_iter().enumerate().skip(first).take(BOX_LINES_MAX) {
            let mark = if at == 0 { "❯ " } else { "  " };
            live.lines.push(Line::of(Ink::Plain, mark).and(Ink::Plain, line));
        }
        live.lines.push(rule);
        let hint = match &self.notice {
            Some(notice) => notice.as_str(),
            None if self.turn == TurnState::Working => "esc to interrupt",
            None => "? for shortcuts",
        };
        live.lines.push(Line::of(Ink::Dim, cut(&format!("  {hint}"), width)));
    }
}

impl Live {
    /// Drops lines from the top that the terminal has no room for.
    fn fit(mut self, rows: usize) -> Self {
        let extra = self.lines.len().saturating_sub(rows.max(1));
        self.lines.drain(..extra);
        self.cursor = self.cursor.and_then(|(row, col)| Some((row.checked_sub(extra)?, col)));
        self
    }
}

impl Spinner {
    fn line(&self, width: usize) -> Line {
        let glyph = SPINNER[self.beat % SPINNER.len()];
        let tokens = match self.tokens {
            tokens if tokens < 1000 => tokens.to_string(),
            tokens => format!("{}.{}k", tokens / 1000, tokens % 1000 / 100),
        };
        let detail = format!(" ({}s · ↓ {tokens} tokens)", self.seconds);
        let head = format!("{glyph} {}…", self.verb);
        let head = cut(&head, width);
        let room = width.saturating_sub(head.chars().count());
        Line::of(Ink::Accent, head).and(Ink::Dim, cut(&detail, room))
    }
}

/// A place in the transcript: so many lines of this block are on the terminal for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub block: usize,
    pub line: usize,
}

/// Returns where the cursor is once the text before it is wrapped.
fn cursor(shown: &str, before: usize, room: usize) -> (usize, usize) {
    let head: String = shown.chars().take(before).collect();
    // A character without width keeps the blanks before the cursor.
    let lines = wrap(&format!("{head}\u{2060}"), room);
    let last = lines.last().map_or("", String::as_str);
    (lines.len() - 1, unicode_width::UnicodeWidthStr::width(last).min(room))
}
