//! Reads a screen of which no rule knows anything, by what all agent programs share.
//!
//! A dialog is a choice with its keys and no composer. Work is what moves, or a key that stops it. Idle is a
//! composer on a screen where nothing moves. Anything else is not known.

use std::time::Duration;

use crate::model::{AgentState, Moment};
use crate::screen::Screen;

use super::choices;
use super::look::Verdict;
use super::motion::{Extent, Motion, Motions};
use super::view::{TextRow, View};

/// A key that stops something is named so near to the composer, or to the bottom.
const HINT_ROWS: usize = 4;
/// A hint that stands while nothing at all is drawn for this long is part of a footer.
const HINT_PATIENCE: Duration = Duration::from_secs(15);

/// Names the weakest sign of work: text that grows.
pub(super) const STREAM: &str = "any.stream";

/// Remembers what the last look saw.
#[derive(Clone, Debug, Default)]
pub(super) struct General {
    motions: Motions,
    /// Since when nothing was drawn.
    drawn_at: Moment,
    /// It shows a hint that may prove to be part of a footer.
    has_hint: bool,
    /// It has waited for input on a line of its own, without a frame, on the main screen.
    has_line: bool,
    /// A composer was seen last that the rules do not know, though they know one.
    is_foreign: bool,
}

impl General {
    /// Says what the screen shows; nothing, if nobody can tell.
    pub(super) fn look(
        &mut self,
        view: &View,
        screen: &Screen,
        drawn_at: Moment,
        now: Moment,
    ) -> Option<Verdict> {
        self.drawn_at = drawn_at;
        let body = view.composer_rows.as_ref().map_or(view.rows.len(), |rows| rows.start);
        let extent = Extent { cols: screen.size().cols, scrolled: screen.history_range().end };
        let hint = hint(view).filter(|_| now.since(drawn_at) < HINT_PATIENCE);
        if std::mem::replace(&mut self.has_hint, hint.is_some()) && hint.is_none() {
            self.motions.sign_has_gone();
        }
        let motion = self.motions.look(&view.rows, body, extent, now);
        let is_at_line = view.composer_rows.as_ref().is_some_and(|rows| rows.len() == 1);
        let has_frame = view.composer_rows.is_some() && !is_at_line;
        let is_main = !screen.modes().alternate_screen;
        self.has_line = is_main && !has_frame && (self.has_line || is_at_line);
        if let Some(verdict) = dialog(view) {
            return Some(verdict);
        }
        if let Some(motion) = motion {
            let (rule, line) = match motion {
                Motion::Spinner(row) => ("any.spinner", row),
                Motion::Flow => (STREAM, String::new()),
            };
            return Some(verdict(AgentState::Working, rule, &line));
        }
        if let Some(row) = hint {
            return Some(verdict(AgentState::Working, "any.hint", row));
        }
        if self.has_line && view.composer_rows.is_none() && !awaits_words(view, screen) {
            // What was typed there was taken, and the next line has not been offered yet.
            return Some(verdict(AgentState::Working, "any.taken", ""));
        }
        let line = &view.rows.get(view.composer_rows.as_ref()?.start)?.text;
        Some(verdict(AgentState::Idle, "any.composer", line))
    }

    /// Puts what all programs share under the rules of one. Where the composer that the rules know is not in sight,
    /// a choice in its place wants a person, whatever weaker sign they found. And if another composer was seen
    /// instead, the rules are those of another version: they may say anything.
    pub(super) fn combine(
        &mut self,
        ruled: Option<Verdict>,
        general: Option<Verdict>,
        view: &View,
        knows_composer: bool,
    ) -> Option<Verdict> {
        let is_other = knows_composer && view.composer_rows.is_some();
        self.is_foreign = !view.has_composer && (self.is_foreign || is_other);
        let Some(ruled) = ruled else { return general };
        let is_weak = matches!(
            ruled.state,
            AgentState::Idle | AgentState::Working | AgentState::Starting | AgentState::Unknown
        );
        let is_better = |general: &Verdict| general.state == AgentState::Waiting || self.is_foreign;
        let better = general.filter(|general| is_weak && !view.has_composer && is_better(general));
        Some(better.unwrap_or(ruled))
    }

    /// Returns when to look again though nothing is drawn.
    pub(super) fn deadline(&self) -> Option<Moment> {
        let hint = self.has_hint.then(|| self.drawn_at + HINT_PATIENCE);
        self.motions.deadline().into_iter().chain(hint).min()
    }
}

/// Says what can be told without memory: a dialog, or a key that stops what runs.
pub(super) fn glance(view: &View) -> Option<Verdict> {
    dialog(view).or_else(|| Some(verdict(AgentState::Working, "any.hint", hint(view)?)))
}

/// Returns the dialog in sight, which no composer stands below.
pub(super) fn dialog(view: &View) -> Option<Verdict> {
    if view.composer_rows.is_some() {
        return None;
    }
    let seen = choices::find(&view.rows, 0)?;
    let waiting = verdict(AgentState::Waiting, "any.dialog", &seen.line);
    Some(Verdict { kind: Some(seen.kind), ..waiting })
}

/// Returns a row near the composer that names a key which stops what runs.
fn hint(view: &View) -> Option<&str> {
    let written = |rows: std::ops::Range<usize>| {
        let rows = view.rows.get(rows).unwrap_or_default();
        rows.iter().filter(|row| !row.text.is_empty())
    };
    let stops = |row: &&TextRow| stops(&row.text);
    let end = view.rows.len();
    let found = match &view.composer_rows {
        // Above it the conversation may quote one; there a spinner or a clock stands beside it, which moves.
        Some(composer) => written(composer.start..composer.start + 1)
            .chain(written(composer.end.saturating_sub(1)..end))
            .find(stops),
        None => written(0..end).rev().take(HINT_ROWS).find(stops),
    };
    found.map(|row| row.text.trim())
}

/// Says whether the cursor stands behind words that may ask for something.
fn awaits_words(view: &View, screen: &Screen) -> bool {
    let cursor = screen.cursor();
    let row = view.rows.get(usize::from(cursor.row)).map_or("", |row| row.text.as_str());
    let is_behind = usize::from(cursor.col) <= row.chars().count() + 2;
    cursor.visible && is_behind && row.ends_with([':', '?', '>', ']', ')', '$', '#', '%'])
}

/// Says whether a row says `esc to interrupt`, `ctrl+c cancel` or the like.
fn stops(row: &str) -> bool {
    // Whoever offers arrows offers a choice.
    if choices::names_arrows(row) {
        return false;
    }
    let row = row.to_lowercase();
    let keys = ["esc", "ctrl+c", "ctrl-c", "^c"];
    keys.iter().flat_map(|key| row.match_indices(key)).any(|(at, key)| {
        let after: String = row[at + key.len()..].chars().take(26).collect();
        let is_word = !row[..at].ends_with(char::is_alphanumeric);
        // Another hint lies between them. Behind a colon stands what a key of a legend does, at any time.
        let before_other = after.split(['·', '|', '•', ',', ':']).next().unwrap_or_default();
        is_word && before_other.split(|c: char| !c.is_alphanumeric()).any(is_stop)
    })
}

/// Says whether the word tells to stop something, and not that it was stopped. A narrow screen cuts it.
fn is_stop(word: &str) -> bool {
    let is_cut = |verb: &str| verb.starts_with(word) && word.len() > 2;
    ["interrupt", "cancel", "stop", "abort"].into_iter().any(is_cut)
}

fn verdict(state: AgentState, rule: &str, line: &str) -> Verdict {
    let (rule, line) = (rule.to_owned(), line.trim().to_owned());
    Verdict { state, kind: None, rule, line, reset: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stops_something_is_told_from_other_keys() {
        for row in [
            "⬝⬝■■  esc interrupt",
            "(2s • esc to interrupt)",
            "◎ Working · 216 B esc esc interrupt",
            "Press Ctrl+C to stop",
            "Retrying in 4s... (escape to cancel)",
        ] {
            assert!(stops(row), "{row}");
        }
        for row in [
            "ctrl+c to exit",
            "esc clear · ctrl+x stop",
            "description: stop",
            "? for help",
            "^C KeyboardInterrupt",
            "Esc was pressed: interrupted",
            "shift+enter: newline | ctrl+c: cancel",
            "↑↓ navigate • Enter select • Esc cancel",
        ] {
            assert!(!stops(row), "{row}");
        }
    }
}
