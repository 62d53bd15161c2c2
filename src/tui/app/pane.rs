//! An agent's screen as the hub last told it, and what of it has to be drawn anew.

use std::collections::BTreeMap;

use crate::api::{MouseWish, PaneView, ViewCursor};
use crate::model::{AgentName, Row, Size};

/// What a pane shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pane {
    pub size: Size,
    pub rows: Vec<Row>,
    pub cursor: ViewCursor,
    pub mouse: MouseWish,
    pub is_alternate: bool,
    /// How many lines have ever scrolled off.
    pub committed: u64,
}

/// The part of a pane that a tile shows: its first row and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaneOffset {
    pub row: u16,
    pub col: u16,
}

/// A view moves sideways in steps, so that it does not follow every letter.
const SIDE_STEP: u16 = 8;

/// Rows under the cursor that a tile shows, if it can.
const ROWS_BELOW_MAX: u16 = 2;

impl Pane {
    /// Returns the pane of its first view.
    pub(crate) fn new(view: PaneView) -> Self {
        let mut pane = Self {
            size: view.size.clamped(),
            rows: Vec::new(),
            cursor: view.cursor,
            mouse: MouseWish::Nothing,
            is_alternate: false,
            committed: 0,
        };
        pane.apply(view);
        pane
    }

    /// Takes in what changed.
    pub(crate) fn apply(&mut self, view: PaneView) {
        self.size = view.size.clamped();
        if view.is_full {
            self.rows.clear();
        }
        self.rows.resize(usize::from(self.size.rows), Row::default());
        for (at, row) in view.rows {
            if let Some(place) = self.rows.get_mut(usize::from(at)) {
                *place = row;
            }
        }
        self.cursor = view.cursor;
        self.mouse = view.mouse;
        self.is_alternate = view.is_alternate;
        self.committed = view.committed;
    }

    /// Returns the part that fits a tile of that many columns and rows: the one with the cursor.
    pub(crate) fn view(&self, width: u16, height: u16) -> PaneOffset {
        // What stands under an input line belongs to it.
        let below = (height / 4).min(ROWS_BELOW_MAX);
        let row = (self.cursor.row + 1 + below).saturating_sub(height);
        let beyond = (self.cursor.col + 1).saturating_sub(width).next_multiple_of(SIDE_STEP);
        PaneOffset {
            row: row.min(self.size.rows.saturating_sub(height)),
            col: beyond.min(self.size.cols.saturating_sub(width)),
        }
    }

    /// Returns the last lines that say something, oldest first, for a card.
    pub(crate) fn last_lines(&self, count: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for row in self.rows.iter().rev() {
            if lines.len() == count {
                break;
            }
            let text = row.text();
            // Frames around an input line say nothing on a card.
            let inside = text.trim_matches(|c: char| c.is_whitespace() || is_frame(c));
            if inside.chars().any(char::is_alphanumeric) {
                lines.push(inside.to_owned());
            }
        }
        lines.reverse();
        lines
    }
}

fn is_frame(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}' | '|')
}

/// What has to be drawn anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Damage {
    pub is_all: bool,
    /// The labels that tell how long something has been so.
    pub has_labels: bool,
    pub panes: BTreeMap<AgentName, PaneDamage>,
}

/// What has to be drawn anew of one pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaneDamage {
    pub is_whole: bool,
    /// Rows of the pane; may name one twice.
    pub rows: Vec<u16>,
}

impl Damage {
    /// Says whether there is nothing to draw.
    pub(crate) fn is_none(&self) -> bool {
        !self.is_all && !self.has_labels && self.panes.is_empty()
    }

    /// Takes note of rows of a pane that changed.
    pub(crate) fn add_rows(&mut self, agent: &AgentName, rows: impl Iterator<Item = u16>) {
        if let Some(pane) = self.panes.get_mut(agent) {
            pane.rows.extend(rows);
        } else {
            let pane = PaneDamage { is_whole: false, rows: rows.collect() };
            self.panes.insert(agent.clone(), pane);
        }
    }

    /// Takes note of a pane of which nothing stays.
    pub(crate) fn add_pane(&mut self, agent: &AgentName) {
        self.panes.entry(agent.clone()).or_default().is_whole = true;
    }

    /// Takes the damage of one pane out, so that it can be drawn before the rest.
    #[must_use]
    pub(crate) fn take_pane(&mut self, agent: &AgentName) -> Option<Self> {
        let pane = self.panes.remove(agent)?;
        let panes = BTreeMap::from([(agent.clone(), pane)]);
        Some(Self { panes, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::fixture::{pane_view, row};

    #[test]
    fn a_view_changes_only_the_rows_that_it_names() {
        let mut pane = Pane::new(pane_view("one", &["a", "b", "c"]));
        let mut change = pane_view("one", &[]);
        change.is_full = false;
        change.rows = vec![(1, row("B")), (999, row("nowhere"))];
        pane.apply(change);
        let texts: Vec<_> = pane.rows.iter().take(3).map(Row::text).collect();
        assert_eq!(texts, ["a", "B", "c"]);
        assert_eq!(pane.rows.len(), 24);
    }

    #[test]
    fn a_small_tile_shows_the_part_with_the_cursor() {
        let mut pane = Pane::new(pane_view("one", &[]));
        assert_eq!(pane.view(40, 10), PaneOffset { row: 0, col: 0 });
        (pane.cursor.row, pane.cursor.col) = (20, 60);
        assert_eq!(pane.view(40, 10), PaneOffset { row: 13, col: 24 });
        (pane.cursor.row, pane.cursor.col) = (23, 79);
        assert_eq!(pane.view(40, 10), PaneOffset { row: 14, col: 40 });
        assert_eq!(pane.view(200, 60), PaneOffset { row: 0, col: 0 });
    }

    #[test]
    fn a_card_gets_the_last_lines_that_say_something() {
        let lines = ["first", "", "╭────╮", "│ > hi │", "╰────╯", "  ? for shortcuts", "", "----"];
        let pane = Pane::new(pane_view("one", &lines));
        assert_eq!(pane.last_lines(2), ["> hi", "? for shortcuts"]);
        assert_eq!(pane.last_lines(9).len(), 3);
    }
}
