//! Reading back: lines that have scrolled off a pane, fetched as they are needed.

use std::collections::BTreeMap;

use super::Pane;
use crate::model::{AgentName, Row};

/// Where in a pane's past the person reads.
///
/// Lines are numbered from the first that ever scrolled off; the rows of the live screen follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scroll {
    pub agent: AgentName,
    /// The line at the top of the tile.
    pub top: u64,
    /// The oldest line that the hub still has.
    pub kept_from: u64,
    rows: BTreeMap<u64, Row>,
    /// An answer is on its way; one at a time is enough.
    pub is_asking: bool,
}

/// Lines fetched at a time: a few pages, so that a wheel does not wait for each turn.
const FETCH_LINES: u16 = 200;

/// Lines held; those farthest from where the person reads go first.
const HELD_LINES_MAX: usize = 4000;

impl Scroll {
    /// Begins at the newest lines. A full-screen program has only those that are on its screen.
    pub(crate) fn new(agent: AgentName, pane: &Pane, height: u16) -> Self {
        let kept_from = if pane.is_alternate { pane.committed } else { 0 };
        let top = newest_top(pane, height);
        Self { agent, top, kept_from, rows: BTreeMap::new(), is_asking: false }
    }

    /// Says whether there is anything above what is seen.
    pub(crate) fn has_past(&self) -> bool {
        self.top > self.kept_from
    }

    /// Moves by lines, up if negative; says whether that ends at the newest line.
    pub(crate) fn move_by(&mut self, lines: i64, pane: &Pane, height: u16) -> bool {
        let newest = newest_top(pane, height);
        let top = self.top.min(newest).saturating_add_signed(lines);
        self.top = top.clamp(self.kept_from.min(newest), newest);
        self.top == newest
    }

    /// Returns a line, if it is known; the live screen's own rows always are.
    pub(crate) fn line<'a>(&'a self, number: u64, pane: &'a Pane) -> Option<&'a Row> {
        match number.checked_sub(pane.committed) {
            Some(live) => pane.rows.get(usize::try_from(live).ok()?),
            None => self.rows.get(&number),
        }
    }

    /// Returns what to ask the hub for: the line before which rows are wanted, and how many.
    pub(crate) fn wanted(&self, pane: &Pane, height: u16) -> Option<(u64, u16)> {
        let last = (self.top + u64::from(height)).min(pane.committed);
        let missing = (self.top.max(self.kept_from)..last).rev();
        let missing = missing.into_iter().find(|number| !self.rows.contains_key(number))?;
        (!self.is_asking).then_some((missing + 1, FETCH_LINES))
    }

    /// Takes in lines from the hub, and says whether they were news.
    pub(crate) fn add(&mut self, first: u64, kept_from: u64, rows: Vec<Row>) -> bool {
        let is_news = !rows.is_empty() || kept_from != self.kept_from;
        self.is_asking = false;
        self.kept_from = kept_from;
        self.top = self.top.max(kept_from);
        self.rows.extend((first..).zip(rows));
        while self.rows.len() > HELD_LINES_MAX {
            let (Some((&low, _)), Some((&high, _))) =
                (self.rows.first_key_value(), self.rows.last_key_value())
            else {
                break;
            };
            let far = if self.top.abs_diff(low) > self.top.abs_diff(high) { low } else { high };
            self.rows.remove(&far);
        }
        is_news
    }
}

fn newest_top(pane: &Pane, height: u16) -> u64 {
    (pane.committed + u64::from(pane.size.rows)).saturating_sub(u64::from(height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::fixture::{pane_view, row};

    fn pane(committed: u64) -> Pane {
        let mut view = pane_view("one", &["live"]);
        view.committed = committed;
        Pane::new(view)
    }

    #[test]
    fn reading_stops_at_the_oldest_and_the_newest_line() {
        let pane = pane(100);
        let mut scroll = Scroll::new("one".parse().unwrap(), &pane, 10);
        assert_eq!(scroll.top, 114);
        assert!(!scroll.move_by(-50, &pane, 10));
        assert!(scroll.add(40, 40, vec![row("x"); 60]));
        assert!(!scroll.add(40, 40, Vec::new()));
        assert!(!scroll.move_by(-1000, &pane, 10));
        assert_eq!(scroll.top, 40);
        assert!(scroll.move_by(1000, &pane, 10));
    }

    #[test]
    fn lines_that_are_missing_are_asked_for_once() {
        let pane = pane(100);
        let mut scroll = Scroll::new("one".parse().unwrap(), &pane, 10);
        assert_eq!(scroll.wanted(&pane, 10), None);
        scroll.move_by(-20, &pane, 10);
        assert_eq!(scroll.wanted(&pane, 10), Some((100, FETCH_LINES)));
        scroll.is_asking = true;
        assert_eq!(scroll.wanted(&pane, 10), None);
        scroll.add(0, 0, vec![row("old"); 100]);
        assert_eq!(scroll.wanted(&pane, 10), None);
        assert_eq!(scroll.line(94, &pane).unwrap().text(), "old");
        assert_eq!(scroll.line(100, &pane).unwrap().text(), "live");
    }

    #[test]
    fn what_is_held_is_bounded() {
        let pane = pane(100_000);
        let mut scroll = Scroll::new("one".parse().unwrap(), &pane, 10);
        scroll.add(0, 0, vec![row("x"); 50_000]);
        assert_eq!(scroll.rows.len(), HELD_LINES_MAX);
        assert!(scroll.rows.contains_key(&49_999));
    }
}
