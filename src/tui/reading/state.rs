//! The copy of a pane that is read, the cursor in it, and the part of it that is seen.

use std::collections::VecDeque;

use super::cells::LineCells;
use super::search::{PaneSearch, SearchInput};
use super::selection::{Selection, SelectionShape};
use crate::model::{AgentName, Moment, Row, Size};
use crate::tui::app::{Pane, PaneOffset};

/// Reading in a pane.
///
/// Lines are numbered from the first that ever scrolled off; the rows of the screen follow, as they
/// were when reading began. What scrolled off is fetched as it is needed, the newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PaneReading {
    pub agent: AgentName,
    /// Keys went to the pane before; what is typed goes there again.
    pub was_typing: bool,
    rows: VecDeque<Row>,
    /// The number of the first of these rows.
    loaded_from: u64,
    /// The oldest line that the hub still has.
    kept_from: u64,
    /// The first row of the screen.
    screen_from: u64,
    /// The row in which the cursor of the program was.
    pub(super) typed_line: u64,
    /// The oldest line that somebody wants to see.
    wanted_from: u64,
    /// An answer is on its way; one at a time is enough.
    pub is_asking: bool,
    /// What is done once every line is here.
    pub after_loading: Option<AfterLoading>,
    /// The line at the top of the tile, and the column at its left.
    pub top: u64,
    pub left: u16,
    pub cursor: TextPlace,
    /// The column that lines are passed in, though shorter ones have none.
    pub(super) goal: u16,
    pub selection: Option<Selection>,
    pub search: Option<PaneSearch>,
    /// The pattern that is being typed.
    pub input: Option<SearchInput>,
    /// How often the next motion is done, as far as it was typed.
    pub count: Option<u32>,
    /// The mouse is held down beyond the tile's edge.
    pub drag: Option<Drag>,
}

/// A cell of the copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextPlace {
    pub line: u64,
    pub col: u16,
}

/// A stretch of the copy, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextSpan {
    pub from: TextPlace,
    pub to: TextPlace,
}

/// What waits for every line of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterLoading {
    /// To the first hit.
    Search,
    /// To the last error.
    LastError,
    /// Opens all of it in an editor; reading may have begun for nothing else.
    Editor { leaves: bool },
}

/// A selection that goes on beyond the edge of its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drag {
    /// Lines that it goes on at a time, up if negative.
    pub lines: i64,
    pub due: Moment,
}

/// Lines that are fetched with those that are seen, so that a wheel does not wait for each turn.
const NEAR_LINES: u64 = 200;

/// Lines fetched at a time when all are wanted: what the hub gives at most.
const PAGE_LINES: u16 = 1000;

/// Lines held, whatever the hub keeps.
const LINES_MAX: u64 = 100_000;

impl PaneReading {
    /// Begins with what the tile shows.
    pub(crate) fn new(agent: AgentName, pane: &Pane, offset: PaneOffset) -> Self {
        let mut reading = Self::of_rows(agent, pane.committed, pane.rows.clone());
        if pane.is_alternate {
            // A full-screen program has no lines but those on its screen.
            reading.kept_from = reading.screen_from;
        }
        reading.top += u64::from(offset.row);
        reading.left = offset.col;
        reading.cursor.line += u64::from(pane.cursor.row);
        reading.typed_line = reading.cursor.line;
        (reading.cursor.col, reading.goal) = (pane.cursor.col, pane.cursor.col);
        reading
    }

    /// Begins with the rows of a screen; the first gets that number once it scrolls off.
    pub(crate) fn of_rows(agent: AgentName, first: u64, rows: Vec<Row>) -> Self {
        Self {
            agent,
            was_typing: false,
            rows: rows.into(),
            loaded_from: first,
            kept_from: first.saturating_sub(LINES_MAX),
            screen_from: first,
            typed_line: u64::MAX,
            wanted_from: first,
            is_asking: false,
            after_loading: None,
            top: first,
            left: 0,
            cursor: TextPlace { line: first, col: 0 },
            goal: 0,
            selection: None,
            search: None,
            input: None,
            count: None,
            drag: None,
        }
    }

    /// Returns the number behind that of the last line.
    pub(crate) fn end(&self) -> u64 {
        self.loaded_from + u64::try_from(self.rows.len()).unwrap_or_default()
    }

    pub(crate) fn kept_from(&self) -> u64 {
        self.kept_from
    }

    pub(super) fn loaded_from(&self) -> u64 {
        self.loaded_from
    }

    /// Returns how many lines have scrolled off since reading began.
    pub(crate) fn news(&self, pane: &Pane) -> u64 {
        pane.committed.saturating_sub(self.screen_from)
    }

    /// Returns the last line that says something.
    pub(super) fn last_text_line(&self) -> u64 {
        let filled = self.rows.iter().rposition(|row| !row.text().trim().is_empty());
        let last = self.loaded_from + u64::try_from(filled.unwrap_or(0)).unwrap_or_default();
        last.max(self.kept_from)
    }

    /// Returns a line, if it is here.
    pub(crate) fn line(&self, number: u64) -> Option<&Row> {
        let at = number.checked_sub(self.loaded_from)?;
        self.rows.get(usize::try_from(at).ok()?)
    }

    /// Returns the cells of a line; of one that is not here, none.
    pub(crate) fn cells(&self, number: u64) -> LineCells {
        self.line(number).map(LineCells::of).unwrap_or_default()
    }

    /// Says whether the text of a line goes on in the next one.
    pub(super) fn is_wrapped(&self, number: u64) -> bool {
        self.line(number).is_some_and(|row| row.wrapped)
    }

    /// Says whether every line that there is can be read.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded_from <= self.kept_from
    }

    /// Asks for every line that there is.
    pub(crate) fn want_all(&mut self) {
        self.wanted_from = self.kept_from;
    }

    /// Asks for the lines around one.
    pub(crate) fn want(&mut self, line: u64) {
        let near = line.saturating_sub(NEAR_LINES / 2).max(self.kept_from);
        self.wanted_from = self.wanted_from.min(near);
    }

    /// Returns what to ask the hub for: the line before which rows are wanted, and how many.
    pub(crate) fn wanted(&self) -> Option<(u64, u16)> {
        let wanted_from = self.wanted_from.min(self.top).max(self.kept_from);
        if self.is_asking || wanted_from >= self.loaded_from {
            return None;
        }
        let missing = (self.loaded_from - wanted_from).max(NEAR_LINES);
        Some((self.loaded_from, u16::try_from(missing).unwrap_or(PAGE_LINES).min(PAGE_LINES)))
    }

    /// Takes in lines from the hub, which come before all that are here.
    pub(crate) fn add(&mut self, first: u64, kept_from: u64, rows: Vec<Row>) {
        self.is_asking = false;
        let ends = first + u64::try_from(rows.len()).unwrap_or_default();
        let fits = ends == self.loaded_from && !rows.is_empty();
        // What the hub has let go meanwhile cannot be read any more.
        self.kept_from = if fits { self.kept_from.max(kept_from) } else { self.loaded_from };
        self.kept_from = self.kept_from.min(self.loaded_from);
        if fits {
            let skipped = self.kept_from.saturating_sub(first);
            let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(rows.len());
            for row in rows.into_iter().skip(skipped).rev() {
                self.rows.push_front(row);
            }
            let before = self.loaded_from;
            self.loaded_from = first.max(self.kept_from);
            self.add_hits(before);
        }
        self.wanted_from = self.wanted_from.max(self.kept_from);
        self.top = self.top.max(self.kept_from);
        self.cursor.line = self.cursor.line.max(self.kept_from);
        if self.is_loaded() {
            self.find_all();
        }
    }

    /// Says whether there is anything above what is seen.
    pub(crate) fn has_past(&self) -> bool {
        self.top > self.kept_from
    }

    fn newest_top(&self, view: Size) -> u64 {
        self.end().saturating_sub(u64::from(view.rows)).max(self.kept_from)
    }

    /// Turns by lines, up if negative, and takes the cursor along; says whether that ends at the
    /// newest line.
    pub(crate) fn scroll_by(&mut self, lines: i64, view: Size) -> bool {
        let newest = self.newest_top(view);
        let top = self.top.min(newest);
        self.top = top.saturating_add_signed(lines).clamp(self.kept_from, newest);
        self.want(self.top);
        let bottom = self.top + u64::from(view.rows.max(1)) - 1;
        self.go(TextPlace { line: self.cursor.line.clamp(self.top, bottom), col: self.goal });
        self.top == newest
    }

    /// Turns by a page or a part of it; the cursor keeps its row.
    pub(crate) fn page_by(&mut self, lines: i64, view: Size) {
        let before = self.top;
        self.scroll_by(lines, view);
        let moved = self.top.abs_diff(before);
        // At an end only the cursor is left to move.
        let rest = lines.unsigned_abs().saturating_sub(moved);
        let by = i64::try_from(if moved == 0 { rest } else { moved }).unwrap_or(0) * lines.signum();
        let line = self.cursor.line.saturating_add_signed(by);
        let bottom = self.top + u64::from(view.rows.max(1)) - 1;
        let line = line.clamp(self.top, bottom.min(self.end().saturating_sub(1)));
        self.go(TextPlace { line, col: self.goal });
    }

    /// Moves the cursor, and what is seen as far as it has to follow; the column is the new goal.
    pub(crate) fn move_to(&mut self, place: TextPlace, view: Size) {
        self.goal = place.col;
        self.go(place);
        self.show_cursor(view);
    }

    /// Moves the cursor to a line, in the column that it had.
    pub(super) fn move_to_line(&mut self, line: u64, view: Size) {
        self.go(TextPlace { line, col: self.goal });
        self.show_cursor(view);
    }

    /// Moves the cursor as near to a place as there is text, or any cell of a block.
    fn go(&mut self, place: TextPlace) {
        let line =
            place.line.clamp(self.kept_from, self.end().saturating_sub(1).max(self.kept_from));
        let is_block =
            self.selection.is_some_and(|selection| selection.shape == SelectionShape::Block);
        let cells = self.cells(line);
        let col = match self.line(line) {
            Some(_) if !is_block => cells.col(cells.index(place.col.min(cells.last_col()))),
            _ => place.col,
        };
        self.cursor = TextPlace { line, col };
    }

    /// Lets what is seen follow the cursor.
    pub(crate) fn show_cursor(&mut self, view: Size) {
        let (rows, cols) = (u64::from(view.rows.max(1)), view.cols.max(1));
        let line = self.cursor.line;
        self.top = self.top.min(line).max((line + 1).saturating_sub(rows));
        self.top = self.top.min(self.newest_top(view));
        let col = self.cursor.col;
        if col < self.left {
            self.left = col;
        } else if col >= self.left + cols {
            self.left = col + 1 - cols;
        }
        self.want(self.top);
    }

    /// Brings a line to the middle of what is seen.
    pub(crate) fn centre(&mut self, place: TextPlace, view: Size) {
        self.move_to(place, view);
        let top = self.cursor.line.saturating_sub(u64::from(view.rows / 2));
        self.top = top.clamp(self.kept_from, self.newest_top(view));
        self.want(self.top);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tui::tests::fixture::{pane_view, row};

    pub(in crate::tui::reading) const VIEW: Size = Size { rows: 10, cols: 40 };

    /// Returns a pane of 24 rows, with those lines at its top, off which so many have scrolled.
    pub(in crate::tui::reading) fn reading(committed: u64, lines: &[&str]) -> PaneReading {
        let mut view = pane_view("one", lines);
        view.committed = committed;
        let pane = Pane::new(view);
        PaneReading::new("one".parse().unwrap(), &pane, pane.view(VIEW.cols, VIEW.rows))
    }

    #[test]
    fn reading_stops_at_the_oldest_and_the_newest_line() {
        let mut reading = reading(100, &["live"]);
        assert_eq!(reading.top, 100, "what the tile showed");
        assert!(reading.scroll_by(1000, VIEW));
        assert_eq!(reading.top, 114);
        assert!(!reading.scroll_by(-50, VIEW));
        reading.add(40, 40, vec![row("x"); 60]);
        assert!(!reading.scroll_by(-1000, VIEW));
        assert_eq!((reading.top, reading.cursor.line), (40, 49));
    }

    #[test]
    fn lines_that_are_missing_are_asked_for_once() {
        let mut reading = reading(1500, &["live"]);
        assert_eq!(reading.wanted(), None);
        reading.scroll_by(-20, VIEW);
        assert_eq!(reading.wanted(), Some((1500, 200)));
        reading.is_asking = true;
        assert_eq!(reading.wanted(), None);
        reading.add(1300, 0, vec![row("old"); 200]);
        assert_eq!(reading.wanted(), None);
        assert_eq!(reading.line(1494).unwrap().text(), "old");
        assert_eq!(reading.line(1500).unwrap().text(), "live");
        reading.want_all();
        assert_eq!(reading.wanted(), Some((1300, 1000)));
        assert!(!reading.is_loaded());
    }

    #[test]
    fn what_the_hub_has_let_go_ends_the_past() {
        let mut reading = reading(1500, &["live"]);
        reading.want_all();
        reading.add(900, 1000, vec![row("old"); 600]);
        assert!(reading.is_loaded());
        assert_eq!((reading.kept_from(), reading.line(999)), (1000, None));
        assert_eq!(reading.wanted(), None);
        let mut reading = self::reading(1500, &["live"]);
        reading.want_all();
        reading.add(1600, 1600, Vec::new());
        assert!(reading.is_loaded(), "its lines were numbered anew, or all are gone");
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut reading = reading(250_000, &["live"]);
        reading.want_all();
        reading.add(149_000, 0, vec![row("x"); 101_000]);
        assert!(reading.is_loaded());
        assert_eq!(reading.end() - reading.kept_from(), LINES_MAX + 24);
        assert_eq!(reading.line(149_999), None);
    }

    #[test]
    fn what_is_seen_follows_the_cursor_sideways_too() {
        let mut reading = reading(0, &[&"x".repeat(80)]);
        reading.move_to(TextPlace { line: 0, col: 70 }, VIEW);
        assert_eq!((reading.left, reading.cursor.col), (31, 70));
        reading.move_to(TextPlace { line: 0, col: 3 }, VIEW);
        assert_eq!(reading.left, 3);
    }
}
