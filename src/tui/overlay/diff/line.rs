//! Draws a line of a diff: numbers, a sign, code in its colours, and the words that changed.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::model::{DiffLine, FileHunks};
use crate::tui::app::App;
use crate::tui::review::{DiffRow, Glyph, glyphs};
use crate::tui::style::{Ink, Tone, Wash};

/// Draws a line from a column on, or from its start where it is broken.
pub(super) fn draw_line(
    app: &App,
    (line, numbers, shown): (&DiffLine, &str, &[Glyph]),
    side: Option<usize>,
    row: Rect,
    buffer: &mut Buffer,
) {
    let look = Look::of(app, line);
    buffer.set_style(row, look.ground);
    let cols = usize::from(row.width);
    let (x, _) = buffer.set_stringn(row.x, row.y, numbers, cols, look.gutter);
    let skip = side.unwrap_or(0);
    let room = Rect { x, width: row.right().saturating_sub(x), ..row };
    draw_glyphs(app, shown, skip, &look, room, buffer);
    let is_long = side.is_some() && columns(shown) > skip + usize::from(room.width);
    if is_long && room.width > 0 {
        let cell = &mut buffer[(room.right() - 1, room.y)];
        cell.set_symbol("›").set_style(app.theme.tone(Tone::Dim));
    }
}

/// How a line looks: what lies under it, its numbers, its text, and what changed in it.
struct Look {
    ground: Style,
    gutter: Style,
    /// Instead of the colours of its code, where there is nothing to lie under it.
    plain: Option<Style>,
    word: Style,
}

impl Look {
    fn of(app: &App, line: &DiffLine) -> Self {
        let (ink, wash, word) = match line.sign() {
            '+' => (Ink::Added, Wash::Added, Wash::AddedWord),
            '-' => (Ink::Removed, Wash::Removed, Wash::RemovedWord),
            _ => {
                let (ground, gutter) = (Style::new(), app.theme.tone(Tone::Faint));
                return Self { ground, gutter, plain: None, word: Style::new() };
            }
        };
        let own = app.theme.ink(ink);
        let Some((ground, word)) = app.theme.wash(wash).zip(app.theme.wash(word)) else {
            let word = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
            return Self { ground: Style::new(), gutter: own, plain: Some(own), word };
        };
        let ground = Style::new().bg(ground);
        Self { ground, gutter: ground.patch(own), plain: None, word: Style::new().bg(word) }
    }
}

/// Returns the columns of the numbers, the sign and the blank after it.
pub(super) fn gutter_cols(hunks: Option<&FileHunks>) -> usize {
    2 * digits(hunks) + 4
}

fn digits(hunks: Option<&FileHunks>) -> usize {
    let last = hunks.and_then(|hunks| hunks.hunks.last());
    let end = last
        .map_or(0, |hunk| (hunk.old_start + hunk.old_count).max(hunk.new_start + hunk.new_count));
    end.to_string().len().max(3)
}

pub(super) fn gutter(line: &DiffLine, from: usize, cols: usize) -> String {
    let digits = (cols - 4) / 2;
    if from > 0 {
        return format!("{:>1$}", "↪ ", cols);
    }
    let number = |one: Option<u64>| one.map(|one| one.to_string()).unwrap_or_default();
    format!("{:>digits$} {:>digits$} {} ", number(line.old), number(line.new), line.sign())
}

fn columns(glyphs: &[Glyph]) -> usize {
    glyphs.iter().map(|glyph| glyph.columns).sum()
}

/// Draws characters from a column on; a wide one is drawn whole or not at all.
fn draw_glyphs(
    app: &App,
    shown: &[Glyph],
    skip: usize,
    look: &Look,
    room: Rect,
    buffer: &mut Buffer,
) {
    let mut column = 0;
    for glyph in shown {
        let begins = column;
        column += glyph.columns;
        let Some(at) = begins.checked_sub(skip) else { continue };
        if at + glyph.columns > usize::from(room.width) {
            break;
        }
        let ink = look.plain.unwrap_or_else(|| app.theme.ink(glyph.ink));
        let style = look.ground.patch(ink);
        let style = if glyph.is_changed { style.patch(look.word) } else { style };
        let x = room.x + u16::try_from(at).unwrap_or(u16::MAX);
        buffer.set_stringn(x, room.y, &glyph.symbol, glyph.columns, style);
    }
}

/// Shows where the cursor is, and leaves the text as it looks.
pub(super) fn mark(line: Rect, cols: usize, buffer: &mut Buffer) {
    let width = u16::try_from(cols).unwrap_or(u16::MAX).min(line.width);
    let style = Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD);
    buffer.set_style(Rect { width, ..line }, style);
}

/// The lines that are seen, as they are shown.
pub(super) struct Painted {
    /// By hunk: the first line, and those from it on.
    hunks: BTreeMap<usize, (usize, Vec<Vec<Glyph>>)>,
}

impl Painted {
    pub(super) fn new<'a>(hunks: &FileHunks, rows: impl Iterator<Item = &'a DiffRow>) -> Self {
        let mut seen: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for row in rows {
            if let DiffRow::Line { hunk, line, .. } = row {
                let range = seen.entry(*hunk).or_insert((*line, *line));
                *range = (range.0.min(*line), range.1.max(*line));
            }
        }
        let paint = |(hunk, (first, last)): (usize, (usize, usize))| {
            (hunk, (first, glyphs(&hunks.path, &hunks.hunks[hunk], first..last + 1)))
        };
        Self { hunks: seen.into_iter().map(paint).collect() }
    }

    pub(super) fn line(&self, hunk: usize, line: usize) -> &[Glyph] {
        let found = self.hunks.get(&hunk).and_then(|(first, lines)| lines.get(line - first));
        found.map_or(&[], Vec::as_slice)
    }
}
