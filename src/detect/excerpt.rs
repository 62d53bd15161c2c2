//! The part of a conversation that one look reads, and which of its rows were read before.

use serde::{Deserialize, Serialize};

use crate::model::Size;
use crate::screen::Screen;

use super::blocks::is_echo;
use super::general_blocks::Prompts;
use super::rules::Rules;
use super::view::{TextRow, View};

/// How far above the screen the beginning of a turn is looked for.
const WALK_ROWS_MAX: u64 = 400;
/// Where the rows before are known, it is looked for only to tell whose words the new ones are.
const WALK_ROWS_NEAR: u64 = 120;
/// Rows that scrolled past between two looks are all read, as far as the history keeps them.
const NEW_ROWS_MAX: u64 = 20_000;

/// How far the rows of a pane have been read.
///
/// A row that has left the screen never changes and keeps its number, so whatever stands in one that
/// was read is known, even if others say the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bookmark {
    /// Rows before this one had left the screen at the last look.
    committed: u64,
    /// Another size breaks lines elsewhere, and numbers the rows anew.
    #[serde(default)]
    size: Option<Size>,
}

/// Rows of the history and of the screen below them.
#[derive(Debug)]
pub(super) struct Excerpt {
    pub(super) rows: Vec<TextRow>,
    /// How many of them are history, and the number of the first.
    past: usize,
    past_from: u64,
    /// The number of the first row of the screen: so many have left it. A program that draws over
    /// all of the screen lets none leave it, so its rows have no numbers.
    pub(super) committed: Option<u64>,
    /// Rows before this one were read by an earlier look; nothing where that cannot be told.
    pub(super) unread_from: Option<u64>,
    /// What was known of the rows' numbers holds no longer.
    pub(super) is_renumbered: bool,
}

impl Excerpt {
    /// Returns the number of one of its rows.
    pub(super) fn number(&self, index: usize) -> Option<u64> {
        match index.checked_sub(self.past) {
            Some(below) => self.committed.map(|committed| committed + below as u64),
            None => Some(self.past_from + index as u64),
        }
    }
}

impl Bookmark {
    /// Returns the rows above the composer, and so many of the history before them as it takes to
    /// read what scrolled past and to see where the turn began.
    pub(super) fn read_on(
        &mut self,
        screen: &Screen,
        view: &View,
        rules: &Rules,
        prompts: &Prompts,
    ) -> Excerpt {
        let body = view.body();
        let (kept, committed) = (screen.history_range(), screen.committed());
        let mut excerpt = Excerpt {
            rows: Vec::new(),
            past: 0,
            past_from: kept.end,
            committed: None,
            unread_from: None,
            is_renumbered: false,
        };
        if screen.modes().alternate_screen {
            excerpt.rows = body.to_vec();
            return excerpt;
        }
        let before = std::mem::replace(self, Self { committed, size: Some(screen.size()) });
        excerpt.committed = Some(committed);
        excerpt.is_renumbered = before.size != self.size;
        excerpt.unread_from = Some(before.committed).filter(|_| !excerpt.is_renumbered);
        let unread = before.committed.max(kept.end.saturating_sub(NEW_ROWS_MAX)).max(kept.start);
        let row = |number: u64| screen.history_row(number).map(|row| TextRow::new(&row));
        let is_hit = |row: &TextRow| rules.keyword.is_match(&row.text);
        let is_hit_at = |number: &u64| row(*number).is_some_and(|row| is_hit(&row));
        let hit = (unread.min(kept.end)..kept.end).find(is_hit_at);
        if hit.is_some() || body.iter().any(is_hit) {
            let from = hit.unwrap_or(kept.end);
            let far = if excerpt.is_renumbered { WALK_ROWS_MAX } else { WALK_ROWS_NEAR };
            let oldest = from.saturating_sub(far).max(kept.start);
            excerpt.past_from = beginning(oldest..from, row, rules, prompts);
            excerpt.rows = (excerpt.past_from..kept.end).filter_map(row).collect();
            excerpt.past = excerpt.rows.len();
        }
        excerpt.rows.extend_from_slice(body);
        excerpt
    }
}

/// Returns the row in which to begin so as to see where the turn did, if it began in these rows.
fn beginning(
    rows: std::ops::Range<u64>,
    row: impl Fn(u64) -> Option<TextRow>,
    rules: &Rules,
    prompts: &Prompts,
) -> u64 {
    let mut start = rows.end;
    let mut has_echo = false;
    for number in rows.rev() {
        let Some(row) = row(number) else { break };
        start = number;
        let is_banner = rules.banner.as_ref().is_some_and(|banner| banner.is_match(&row.text));
        let is_echo = is_echo(rules, &row, prompts);
        // One row before the echo shows that it begins here.
        if is_banner || (has_echo && !is_echo) {
            break;
        }
        has_echo |= is_echo;
    }
    start
}
