//! What keys, clicks and the wheel do in a diff: where the cursor is, what is folded, what is written.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::super::dialog_box::Hit;
use super::super::list::List;
use super::super::stack::{Handled, Next, Overlay};
use super::view::DiffView;
use crate::api::{Request, Status};
use crate::model::{Key, Moment};
use crate::tui::app::{App, Purpose, Target};
use crate::tui::keys::{Action, DiffAction, ListAction};
use crate::tui::prompt::TextEditor;
use crate::tui::review::DiffPage;
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// Columns that one key goes sideways.
const SIDE_COLS: usize = 8;

impl DiffView {
    /// Does what a key means here.
    fn review(&mut self, app: &mut App, reviewing: DiffAction) -> Next {
        let page = usize::from(self.text_rows(app).saturating_sub(2).max(1));
        match reviewing {
            DiffAction::Against => self.turn_against(app),
            DiffAction::NextHunk => self.step_hunk(app, true),
            DiffAction::PreviousHunk => self.step_hunk(app, false),
            DiffAction::NextFile => self.step_file(app, true),
            DiffAction::PreviousFile => self.step_file(app, false),
            DiffAction::PageDown => self.go(app, self.at.saturating_add(page)),
            DiffAction::PageUp => self.go(app, self.at.saturating_sub(page)),
            DiffAction::First => self.go(app, 0),
            DiffAction::Last => self.go(app, usize::MAX),
            DiffAction::Right if !self.wraps => self.left = self.left.saturating_add(SIDE_COLS),
            DiffAction::Left => self.left = self.left.saturating_sub(SIDE_COLS),
            DiffAction::Right => {}
            DiffAction::Fold => self.fold(app, false),
            DiffAction::FoldAll => self.fold(app, true),
            DiffAction::Wrap => {
                (self.wraps, self.left) = (!self.wraps, 0);
                self.go(app, self.at);
            }
            DiffAction::Comment => self.comment(app),
            DiffAction::Uncomment => self.uncomment(app),
            DiffAction::Send => self.send(app, false),
            DiffAction::SendAnyway => self.send(app, true),
            DiffAction::Refresh => {
                self.hunks.clear();
                self.compare(app);
            }
        }
        Next::Stay
    }

    fn turn_against(&mut self, app: &mut App) {
        let Some(list) = &self.list else { return };
        let place = list.choices.iter().position(|choice| *choice == self.against);
        let next = place.map_or(0, |place| (place + 1) % list.choices.len().max(1));
        let Some(next) = list.choices.get(next).cloned() else { return };
        (self.against, self.list, self.at, self.top) = (next, None, 0, 0);
        self.hunks.clear();
        self.compare(app);
    }

    fn step_hunk(&mut self, app: &mut App, is_down: bool) {
        let page = self.page(app);
        match page.next_head(self.at, is_down) {
            Some(head) => self.go(app, head),
            None => self.step_file(app, is_down),
        }
    }

    fn step_file(&mut self, app: &mut App, is_down: bool) {
        let count = self.entries(app).len();
        let place = self.entry_index(app).unwrap_or(0);
        let next = if is_down { place + 1 } else { place.wrapping_sub(1) };
        if next < count {
            self.show_file(app, next);
        }
    }

    /// Shows the file in that place of the list.
    pub(super) fn show_file(&mut self, app: &mut App, index: usize) {
        let path = self.entries(app).get(index).map(|entry| entry.path.to_owned());
        if path.is_some() && path != self.path {
            (self.path, self.at, self.top, self.left) = (path, 0, 0, 0);
            self.fetch(app);
        }
    }

    /// Goes to a row, or to the last one.
    pub(super) fn go(&mut self, app: &App, at: usize) {
        let page = self.page(app);
        self.at = at;
        self.keep_in_sight(app, &page);
    }

    pub(super) fn keep_in_sight(&mut self, app: &App, page: &DiffPage) {
        let rows = usize::from(self.text_rows(app)).max(1);
        self.at = self.at.min(page.rows.len().saturating_sub(1));
        self.top = self.top.clamp((self.at + 1).saturating_sub(rows), self.at);
        self.top = self.top.min(page.rows.len().saturating_sub(rows));
        self.top = self.top.max((self.at + 1).saturating_sub(rows));
    }

    fn fold(&mut self, app: &App, is_all: bool) {
        let Some(path) = self.path.clone() else { return };
        let page = self.page(app);
        let Some(hunk) = page.hunk_at(self.at) else { return };
        let starts: Vec<u64> = self
            .shown()
            .map_or(Vec::new(), |all| all.hunks.iter().map(|one| one.old_start).collect());
        let Some(own) = starts.get(hunk).copied() else { return };
        let was_folded = self.folded.contains(&(path.clone(), own));
        for start in starts.into_iter().filter(|start| is_all || *start == own) {
            let key = (path.clone(), start);
            if was_folded {
                self.folded.remove(&key);
            } else {
                self.folded.insert(key);
            }
        }
        let page = self.page(app);
        let head = (0..page.rows.len()).find(|row| page.hunk_at(*row) == Some(hunk));
        self.at = head.unwrap_or(self.at);
        self.keep_in_sight(app, &page);
    }
}

impl Overlay for DiffView {
    fn writes(&self) -> bool {
        self.writing.is_some()
    }

    fn press(&mut self, app: &mut App, key: Key) -> Next {
        if self.writes() {
            return self.press_in_text(app, key);
        }
        if let Some(reviewing) = app.keymap.diff_action(key) {
            return self.review(app, reviewing);
        }
        app.keymap.list_action(key).map_or(Next::Stay, |choice| self.choose(app, choice))
    }

    fn choose(&mut self, app: &mut App, choice: ListAction) -> Next {
        match choice {
            ListAction::Accept if self.writes() => self.keep(app),
            ListAction::Cancel if self.writes() => self.leave(app),
            _ if self.writes() => {}
            ListAction::Up => self.go(app, self.at.saturating_sub(1)),
            ListAction::Down => self.go(app, self.at.saturating_add(1)),
            ListAction::Toggle => self.fold(app, false),
            ListAction::Accept => self.comment(app),
            ListAction::Cancel => return Next::Close,
        }
        Next::Stay
    }

    fn accept(&mut self, app: &mut App) -> Next {
        self.choose(app, ListAction::Accept)
    }

    fn cancel(&mut self, app: &mut App) -> Next {
        self.choose(app, ListAction::Cancel)
    }

    fn act(&mut self, app: &mut App, action: Action) -> Next {
        if let Action::Review(reviewing) = action {
            self.review(app, reviewing)
        } else {
            Next::Stay
        }
    }

    /// Writes at the cursor, where something is written.
    fn paste(&mut self, _app: &App, text: &str) -> Handled {
        let Some(draft) = &mut self.writing else { return Handled::Ignored };
        draft.editor.insert(text);
        Handled::Consumed
    }

    fn edited(&mut self, app: &mut App, outcome: Result<String, String>) {
        match (outcome, &mut self.writing) {
            (Ok(text), Some(draft)) if !text.trim().is_empty() => {
                draft.editor = TextEditor::new(&text);
            }
            (Ok(_), _) => {}
            (Err(fault), _) => app.say(Tone::Danger, clean(&fault)),
        }
    }

    fn scroll(&mut self, app: &App, is_down: bool) {
        const WHEEL_ROWS: usize = 3;
        let page = self.page(app);
        let rows = usize::from(self.text_rows(app)).max(1);
        let last = page.rows.len().saturating_sub(rows);
        let top = if is_down { self.top + WHEEL_ROWS } else { self.top.saturating_sub(WHEEL_ROWS) };
        self.top = top.min(last);
        self.at = self.at.clamp(self.top, (self.top + rows).saturating_sub(1));
    }

    fn list(&self, app: &App) -> List {
        List { chosen: self.entry_index(app).unwrap_or(0), count: self.entries(app).len() }
    }

    /// Chooses a file, or a row of its page; a second click on a row comments on it.
    fn click(&mut self, app: &mut App, index: usize) -> Next {
        let is_double = app.is_double_click(Target::Item(index));
        match index.checked_sub(self.entries(app).len()) {
            None => self.show_file(app, index),
            Some(row) if row < self.page(app).rows.len() => {
                self.go(app, row);
                if is_double && !self.writes() {
                    self.comment(app);
                }
            }
            Some(_) => {}
        }
        Next::Stay
    }

    fn request(&self, _app: &App) -> Option<(Purpose, Request)> {
        Some(self.wish())
    }

    fn lose_hub(&mut self) {
        (self.asked_at, self.due) = (None, None);
    }

    fn follow(&mut self, app: &mut App, _news: &Status) {
        self.follow_agent(app);
    }

    /// Returns when the files are to be compared again; never, while that is under way.
    fn due(&self) -> Option<Moment> {
        self.due.filter(|_| self.asked_at.is_none())
    }

    fn refresh(&mut self, app: &mut App) {
        self.compare(app);
    }

    fn hit(&self, app: &App, area: Rect, at: Position) -> Hit {
        self.hit_part(app, area, at)
    }

    fn draw(&self, app: &App, area: Rect, buffer: &mut Buffer) {
        self.draw_whole(app, area, buffer);
    }
}
