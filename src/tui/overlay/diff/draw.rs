//! Draws a diff: the files beside or above the lines of one of them.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::super::dialog_box::{Button, DialogBox, Hit};
use super::super::stack::Overlay as _;
use super::line::{Painted, draw_line, gutter, gutter_cols, mark};
use super::view::{DiffEntry, DiffView};
use crate::model::{DiffChange, DiffFile, FileHunks};
use crate::tui::app::App;
use crate::tui::keys::DiffAction;
use crate::tui::keys::{Action, EditAction, ListAction};
use crate::tui::review::{CommentState, DiffPage, DiffRow};
use crate::tui::style::{Ink, Tone};
use crate::tui::text::{clean, clip, width};

/// Narrower windows show the files above the lines.
const BESIDE_COLS: u16 = 100;

/// Columns of the list of files.
const FILES_COLS_MIN: u16 = 24;
const FILES_COLS_MAX: u16 = 48;

/// Rows that a comment may take while it is written, before it scrolls.
const EDITOR_ROWS_MAX: u16 = 6;

/// What shows the cursor beside a row that has no numbers.
const MARK_COLS: usize = 2;

/// The letter of what became of a file, and the blanks around it.
const LETTER_COLS: usize = 4;

/// The parts of the box.
pub(super) struct Rooms {
    files: Rect,
    text: Rect,
    editor: Rect,
}

impl DiffView {
    pub(super) fn text_rows(&self, app: &App) -> u16 {
        self.rooms(app, app.body()).text.height
    }

    /// Returns the columns for the text of a line, beside its numbers and its sign.
    pub(super) fn text_cols(&self, app: &App) -> usize {
        let room = usize::from(self.rooms(app, app.body()).text.width);
        room.saturating_sub(gutter_cols(self.shown()))
    }

    fn rooms(&self, app: &App, area: Rect) -> Rooms {
        let inner = Rect {
            x: area.x + 1,
            y: area.y + 1,
            width: area.width.saturating_sub(2),
            height: area.height.saturating_sub(2),
        };
        let count = u16::try_from(self.entries(app).len()).unwrap_or(u16::MAX).max(1);
        let (files, text) = if area.width >= BESIDE_COLS {
            let cols = (inner.width / 4).clamp(FILES_COLS_MIN, FILES_COLS_MAX);
            let files = Rect { width: cols, ..inner };
            let x = inner.x + cols + 1;
            (files, Rect { x, width: inner.width.saturating_sub(cols + 1), ..inner })
        } else {
            let rows = count.min((inner.height / 4).max(2)).min(inner.height);
            let files = Rect { height: rows, ..inner };
            let above = (rows + 1).min(inner.height);
            (files, Rect { y: inner.y + above, height: inner.height - above, ..inner })
        };
        let rows = self.writing.as_ref().map_or(0, |draft| {
            let rows = draft.editor.rows(usize::from(text.width.saturating_sub(2))).rows.len();
            // The line above it says what it is about.
            u16::try_from(rows).unwrap_or(u16::MAX).min(EDITOR_ROWS_MAX) + 1
        });
        let rows = rows.min(text.height.saturating_sub(1));
        let editor = Rect { y: text.bottom() - rows, height: rows, ..text };
        Rooms { files, text: Rect { height: text.height - rows, ..text }, editor }
    }

    fn dialog(&self, app: &App, area: Rect) -> DialogBox {
        let agent = &self.agent;
        let title = match &self.list {
            Some(list) => {
                let commit: String =
                    list.commit.iter().flat_map(|own| own.chars().take(8)).collect();
                let sum = |of: fn(&DiffFile) -> Option<u64>| {
                    list.files.iter().filter_map(of).sum::<u64>()
                };
                let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
                let count = list.files.len() + list.left_out;
                let files = if count == 1 { "file" } else { "files" };
                let against = clean(&list.against.to_string());
                let commit = clean(&commit);
                format!(
                    "{agent} · {count} {files} +{added} −{removed} · against {against} {commit}"
                )
            }
            None => format!("{agent} · against {}", clean(&self.against.to_string())),
        };
        let (width, height) = (area.width, area.height);
        DialogBox { title, tone: Tone::Accent, width, height, buttons: self.buttons(app) }
    }

    fn buttons(&self, app: &App) -> Vec<Button> {
        if self.writing.is_some() {
            let hint = |writing, choice: Option<ListAction>, what| {
                let key = app.keymap.hint(Action::Write(writing))?;
                Some(Button { key, action: choice.map(Action::Choose), what })
            };
            let all = [
                hint(EditAction::Send, Some(ListAction::Accept), "keep it"),
                hint(EditAction::Leave, Some(ListAction::Cancel), "leave"),
                hint(EditAction::NewLine, None, "new line"),
                hint(EditAction::OpenEditor, None, "editor"),
            ];
            return all.into_iter().flatten().collect();
        }
        let unsent = app.reviews.get(&self.agent).is_some_and(|review| review.unsent() > 0);
        let own = |reviewing, what| Button::new(app, Action::Review(reviewing), what);
        let all = [
            own(DiffAction::Send, "send comments").filter(|_| unsent),
            own(DiffAction::Comment, "comment"),
            own(DiffAction::NextHunk, "hunk"),
            own(DiffAction::NextFile, "file"),
            own(DiffAction::Against, "against"),
            Button::new(app, Action::Choose(ListAction::Cancel), "close"),
            own(DiffAction::Fold, "fold"),
            own(DiffAction::Wrap, "wrap"),
            Button::new(app, Action::Help, "help"),
        ];
        all.into_iter().flatten().collect()
    }

    /// Returns what lies under the mouse: files first, then the rows of the page.
    pub(super) fn hit_part(&self, app: &App, area: Rect, at: Position) -> Hit {
        let rooms = self.rooms(app, area);
        let list = self.list(app);
        if let Some(index) = list.entry_at(rooms.files, at) {
            return Hit::Item(index);
        }
        if rooms.text.contains(at) {
            return Hit::Item(list.count + self.top + usize::from(at.y - rooms.text.y));
        }
        self.dialog(app, area).hit(area, at)
    }

    /// Draws itself over the whole room.
    pub(super) fn draw_whole(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        self.dialog(app, area).draw(app, area, buffer);
        if area.width < 4 || area.height < 4 {
            return;
        }
        let rooms = self.rooms(app, area);
        self.draw_files(app, rooms.files, buffer);
        draw_rule(app, &rooms, area, buffer);
        let page = self.page(app);
        if let Some(words) = self.remark(&page) {
            let tone = if self.fault.is_some() { Tone::Danger } else { Tone::Dim };
            let text = clip(&words, usize::from(rooms.text.width)).into_owned();
            let room = rooms.text;
            buffer.set_stringn(room.x, room.y, text, usize::from(room.width), app.theme.tone(tone));
        }
        if self.fault.is_none() {
            self.draw_page(app, &page, rooms.text, buffer);
        }
        self.draw_editor(app, rooms.editor, buffer);
    }

    /// Returns what is said instead of lines.
    fn remark(&self, page: &DiffPage) -> Option<String> {
        match (&self.fault, &self.list) {
            (Some(fault), _) => Some(format!("✗ {}", clean(fault))),
            (None, None) => Some("Comparing…".to_owned()),
            (None, Some(list)) if list.files.is_empty() && page.rows.is_empty() => {
                Some("Nothing differs".to_owned())
            }
            (None, Some(_)) if page.rows.is_empty() => Some("Reading the file…".to_owned()),
            (None, Some(_)) => None,
        }
    }

    fn draw_files(&self, app: &App, room: Rect, buffer: &mut Buffer) {
        let entries = self.entries(app);
        self.list(app).draw(room, buffer, |index, is_chosen, room| {
            entry_line(app, &entries[index], is_chosen, room)
        });
    }

    fn draw_page(&self, app: &App, page: &DiffPage, room: Rect, buffer: &mut Buffer) {
        let rows = page.rows.iter().enumerate().skip(self.top);
        let rows: Vec<_> = room.rows().zip(rows).collect();
        let empty = FileHunks::default();
        let hunks = self.shown().unwrap_or(&empty);
        let side = (!self.wraps).then_some(self.left);
        let painted = Painted::new(hunks, rows.iter().map(|(_, (_, row))| *row));
        for (line, (at, row)) in rows {
            match row {
                DiffRow::Note(text) => {
                    let style = app.theme.tone(Tone::Warning);
                    draw_text(&format!(" {}", clean(text)), style, line, buffer);
                }
                DiffRow::Head { hunk, is_folded } => {
                    let own = hunks.hunks.get(*hunk);
                    let mark = if *is_folded { "▸" } else { "▾" };
                    let text = own.map(|own| format!("{mark} {}", clean(&own.to_string())));
                    let count = own.filter(|_| *is_folded).map_or(0, |own| own.lines.len());
                    let count = if count > 0 { format!("  {count} lines") } else { String::new() };
                    let text = format!("{}{count}", text.unwrap_or_default());
                    draw_text(&text, app.theme.tone(Tone::Accent), line, buffer);
                }
                DiffRow::Line { hunk, line: number, from } => {
                    let shown = painted.line(*hunk, *number).get(*from..).unwrap_or_default();
                    let own = &hunks.hunks[*hunk].lines[*number];
                    let numbers = gutter(own, *from, gutter_cols(Some(hunks)));
                    draw_line(app, (own, &numbers, shown), side, line, buffer);
                }
                DiffRow::Comment { comment, text } => {
                    self.draw_comment(app, *comment, text, line, buffer);
                }
            }
            if at == self.at {
                let is_line = matches!(row, DiffRow::Line { .. });
                let cols = if is_line { gutter_cols(Some(hunks)) - 1 } else { MARK_COLS };
                mark(line, cols, buffer);
            }
        }
    }

    fn draw_comment(&self, app: &App, at: usize, text: &str, line: Rect, buffer: &mut Buffer) {
        let own = app.reviews.get(&self.agent).and_then(|review| review.comments.get(at));
        let post = own.map(|own| own.post);
        let (tone, sent) = match post {
            Some(CommentState::Kept) | None => (Tone::Typing, String::new()),
            Some(CommentState::Asked) => (Tone::Dim, "  · sending".to_owned()),
            Some(CommentState::Sent(receipt)) => (Tone::Dim, format!("  · sent, {receipt}")),
        };
        let indent = gutter_cols(self.shown()).saturating_sub(2);
        let text = format!("{}┃ {text}{sent}", " ".repeat(indent));
        draw_text(&text, app.theme.tone(tone).add_modifier(Modifier::BOLD), line, buffer);
    }

    fn draw_editor(&self, app: &App, room: Rect, buffer: &mut Buffer) {
        let Some(draft) = self.writing.as_ref().filter(|_| room.height > 0) else { return };
        let style = app.theme.tone(Tone::Typing);
        let head = Rect { height: 1, ..room };
        let about = format!("Comment on {}:{} ", clean(&draft.anchor.path), draft.anchor.number);
        let rule = "─".repeat(usize::from(room.width).saturating_sub(width(&about) + 2));
        draw_text(&format!("─ {about}{rule}"), style.add_modifier(Modifier::BOLD), head, buffer);
        let text = Rect {
            x: room.x + 1,
            y: room.y + 1,
            width: room.width.saturating_sub(2),
            height: room.height - 1,
        };
        draft.editor.draw(text, true, app.theme.tone(Tone::Text), buffer);
    }
}

fn draw_text(text: &str, style: Style, line: Rect, buffer: &mut Buffer) {
    let cols = usize::from(line.width);
    buffer.set_stringn(line.x, line.y, clip(text, cols), cols, style);
}

fn draw_rule(app: &App, rooms: &Rooms, area: Rect, buffer: &mut Buffer) {
    let style = app.theme.tone(Tone::Faint);
    if area.width >= BESIDE_COLS {
        for row in rooms.files.rows() {
            buffer.set_string(row.right(), row.y, "│", style);
        }
    } else if rooms.files.bottom() < rooms.text.bottom() {
        let rule = "─".repeat(usize::from(rooms.files.width));
        buffer.set_string(rooms.files.x, rooms.files.bottom(), rule, style);
    }
}

fn entry_line(app: &App, entry: &DiffEntry<'_>, is_chosen: bool, room: usize) -> Line<'static> {
    let letter = match entry.file {
        Some(file) if file.is_untracked && file.change == DiffChange::Added => '?',
        Some(file) => file.change.letter(),
        None => '·',
    };
    let number = |sign: char, one: Option<u64>| match one {
        Some(0) | None => String::new(),
        Some(one) => format!(" {sign}{one}"),
    };
    let added = number('+', entry.file.and_then(|file| file.added));
    let removed = number('−', entry.file.and_then(|file| file.removed));
    let said = if entry.comments > 0 { format!(" ✎{}", entry.comments) } else { String::new() };
    let taken = LETTER_COLS + width(&added) + width(&removed) + width(&said) + 1;
    let path = clip_start(&clean(entry.path), room.saturating_sub(taken));
    let gap = " ".repeat(room.saturating_sub(taken + width(&path)));
    let arrow = if is_chosen { '▸' } else { ' ' };
    if is_chosen {
        let text = format!("{arrow} {letter} {path}{gap}{said}{added}{removed} ");
        return Line::styled(text, app.theme.block(Tone::Accent));
    }
    Line::from(vec![
        Span::styled(format!("{arrow} {letter} "), app.theme.tone(Tone::Dim)),
        Span::styled(format!("{path}{gap}"), app.theme.tone(Tone::Text)),
        Span::styled(said, app.theme.tone(Tone::Typing)),
        Span::styled(added, app.theme.ink(Ink::Added)),
        Span::styled(removed, app.theme.ink(Ink::Removed)),
    ])
}

/// Shortens a path at its start: its end says more.
fn clip_start(path: &str, room: usize) -> String {
    if width(path) <= room {
        return path.to_owned();
    }
    let mut kept = path;
    while width(kept) + 1 > room && !kept.is_empty() {
        kept = kept.char_indices().nth(1).map_or("", |(at, _)| &kept[at..]);
    }
    if room == 0 { String::new() } else { format!("…{kept}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_end() {
        assert_eq!(clip_start("src/tui/mod.rs", 20), "src/tui/mod.rs");
        assert_eq!(clip_start("src/tui/mod.rs", 8), "…/mod.rs");
        assert_eq!([clip_start("世界世界", 4), clip_start("abc", 0)], ["…界", ""]);
    }
}
