//! Reads a screen of which no rule knows anything, by what all agent programs share.
//!
//! A dialog is a choice with its keys and no composer. Work is what moves, or a key that stops it. Idle is a
//! composer on a screen where nothing moves. Anything else is not known.

use std::time::Duration;

use crate::model::{AgentState, Moment};
use crate::screen::{Screen, Signal};

use super::choices;
use super::failure::{self, Failure};
use super::look::Verdict;
use super::marks::Marks;
use super::motion::{Extent, Motion, Motions};
use super::rules::Rules;
use super::view::{TextRow, View};

/// A key that stops something is named so near to the composer, or to the bottom.
const HINT_ROWS: usize = 4;
/// A hint that stands while nothing at all is drawn for this long is part of a footer.
const HINT_PATIENCE: Duration = Duration::from_secs(15);
/// Who says that it tries again may wait for this long before it does, and draw nothing meanwhile.
const RETRY_PATIENCE: Duration = Duration::from_mins(2);

/// Names the weakest sign of work: text that grows.
pub(super) const STREAM: &str = "any.stream";
/// Names a bell on a screen that tells nothing else.
pub(super) const BELL: &str = "any.bell";
/// Names a request that is tried again.
const RETRY: &str = "any.retry";
/// Names an error that no rule knows.
pub(super) const ERROR: &str = "any.error";

/// Remembers what the last look saw.
#[derive(Clone, Debug, Default)]
pub(super) struct General {
    motions: Motions,
    /// Since when nothing was drawn.
    drawn_at: Moment,
    /// It shows a hint that may prove to be part of a footer.
    has_hint: bool,
    /// It says that it tries something again, and may wait for that until then.
    retries_until: Option<Moment>,
    /// How far it came: errors and bells are those of a turn.
    stage: Stage,
    marks: Marks,
    /// It has waited for input on a line of its own, without a frame, on the main screen.
    has_line: bool,
    /// A composer was seen last that the rules do not know, though they know one.
    is_foreign: bool,
}

/// How far a program has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Starting,
    Ready,
    /// It has had a turn.
    Used,
}

impl General {
    /// Notes that a prompt was submitted.
    pub(super) fn note_prompt(&mut self) {
        self.stage = Stage::Used;
    }

    /// Takes a signal, and says whether it counts here.
    pub(super) fn note_signal(&mut self, signal: &Signal, now: Moment) -> bool {
        self.marks.take(signal, now)
    }

    /// Says what the screen shows; nothing, if nobody can tell.
    pub(super) fn look(
        &mut self,
        view: &View,
        screen: &Screen,
        drawn_at: Moment,
        now: Moment,
    ) -> Option<Verdict> {
        let verdict = self.seen(view, screen, drawn_at, now);
        self.stage = match (self.stage, verdict.as_ref().map(|verdict| verdict.state)) {
            (Stage::Starting, Some(AgentState::Idle)) => Stage::Ready,
            (Stage::Ready, Some(AgentState::Working)) => Stage::Used,
            (stage, _) => stage,
        };
        verdict
    }

    fn seen(
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
        let failure = view.rows.get(..body).and_then(failure::find);
        let is_retried = matches!(failure, Some(Failure::Retried(_)));
        let patience = Some(drawn_at + RETRY_PATIENCE).filter(|until| now < *until);
        self.retries_until = patience.filter(|_| is_retried);
        let motion = self.motions.look(&view.rows, body, extent, now);
        let is_at_line = view.composer_rows.as_ref().is_some_and(|rows| rows.len() == 1);
        let has_frame = view.composer_rows.is_some() && !is_at_line;
        let is_main = !screen.modes().alternate_screen;
        self.has_line = is_main && !has_frame && (self.has_line || is_at_line);
        if let Some(verdict) = dialog(view) {
            return Some(verdict);
        }
        let mark = self.marks.state().filter(|_| !has_frame);
        let is_at_prompt = mark == Some(AgentState::Idle);
        match motion {
            Some(Motion::Spinner(row)) => {
                return Some(verdict(AgentState::Working, "any.spinner", &row));
            }
            // What grows at a prompt is typed.
            Some(Motion::Flow) if !is_at_prompt => {
                return Some(verdict(AgentState::Working, STREAM, ""));
            }
            Some(Motion::Flow) | None => {}
        }
        if let Some(row) = hint {
            return Some(verdict(AgentState::Working, "any.hint", row));
        }
        if is_at_prompt {
            return Some(verdict(AgentState::Idle, "any.prompt", ""));
        }
        // It ends a turn or asks for something: both want a person.
        let is_bare = view.composer_rows.is_none();
        if is_bare && self.stage == Stage::Used && self.marks.rings(drawn_at) {
            return Some(verdict(AgentState::Waiting, BELL, ""));
        }
        if mark == Some(AgentState::Working) {
            return Some(verdict(AgentState::Working, "any.command", ""));
        }
        if self.has_line && is_bare && !awaits_words(view, screen) {
            // What was typed there was taken, and the next line has not been offered yet.
            return Some(verdict(AgentState::Working, "any.taken", ""));
        }
        self.at_composer(view, failure)
    }

    /// Says what a composer on a still screen means, by the last words above it.
    fn at_composer(&self, view: &View, failure: Option<Failure>) -> Option<Verdict> {
        let composer = view.composer_rows.as_ref()?;
        Some(match failure.filter(|_| self.stage == Stage::Used) {
            Some(Failure::Retried(row)) if self.retries_until.is_some() => {
                verdict(AgentState::Working, RETRY, row)
            }
            Some(Failure::GivenUp(row)) => verdict(AgentState::Error, ERROR, row),
            Some(Failure::Retried(_)) | None => {
                verdict(AgentState::Idle, "any.composer", &view.rows.get(composer.start)?.text)
            }
        })
    }

    /// Puts what all programs share under the rules of one. Where the composer that the rules know is not in sight,
    /// a choice in its place wants a person, whatever weaker sign they found. And if another composer was seen
    /// instead, the rules are those of another version: they may say anything.
    pub(super) fn combine(
        &mut self,
        by_rules: Option<Verdict>,
        general: Option<Verdict>,
        view: &View,
        rules: &Rules,
    ) -> Option<Verdict> {
        let is_other = rules.composer.is_some() && view.composer_rows.is_some();
        self.is_foreign = !view.has_composer && (self.is_foreign || is_other);
        let Some(by_rules) = by_rules else { return general };
        // Rules that know no errors see a free prompt alone.
        let tells_failure = |general: &Verdict| general.rule == ERROR || general.rule == RETRY;
        if by_rules.state == AgentState::Idle
            && !rules.states.iter().any(|rule| rule.state == AgentState::Error)
            && general.as_ref().is_some_and(tells_failure)
        {
            return general;
        }
        let is_weak = matches!(
            by_rules.state,
            AgentState::Idle | AgentState::Working | AgentState::Starting | AgentState::Unknown
        );
        let is_dialog =
            |general: &Verdict| general.state == AgentState::Waiting && general.rule != BELL;
        let is_better = |general: &Verdict| is_dialog(general) || self.is_foreign;
        let better = general.filter(|general| is_weak && !view.has_composer && is_better(general));
        Some(better.unwrap_or(by_rules))
    }

    /// Says whether the composer that was seen last is not the one that the rules know.
    pub(super) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Returns when to look again though nothing is drawn.
    pub(super) fn deadline(&self) -> Option<Moment> {
        let hint = self.has_hint.then(|| self.drawn_at + HINT_PATIENCE);
        self.motions.deadline().into_iter().chain(hint).chain(self.retries_until).min()
    }
}

/// Says what can be told without memory: a dialog, or a key that stops what runs.
pub(super) fn glance(view: &View) -> Option<Verdict> {
    dialog(view).or_else(|| Some(verdict(AgentState::Working, "any.hint", hint(view)?)))
}

/// Returns the dialog in sight.
pub(super) fn dialog(view: &View) -> Option<Verdict> {
    let seen = match &view.composer_rows {
        Some(composer) => choices::above(view.rows.get(..composer.start)?)?,
        None => choices::find(&view.rows, 0)?,
    };
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
