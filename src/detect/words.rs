//! Whether what a screen shows must stand in the message that the cli itself hands over.
//!
//! A hook or an event hands over the agent's last message of a turn as it was written, with its fences
//! and quotations. So where it comes it decides which status without a tag was said and which was only
//! shown; a screen that rests before it waits for it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::Moment;
use crate::protocol::{Report, ReportKind, read, shown};

/// A hook is a program that is started: on a busy machine its word comes so much later.
const PATIENCE: Duration = Duration::from_secs(2);
/// Turns in a row whose message never came; after so many none is awaited.
const MISSED_MAX: u32 = 2;

/// A message that has more lines of the protocol is read no further.
const LINES_MAX: usize = 64;

/// What is known of the messages that are handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Words {
    /// The cli was told to hand over its messages.
    #[serde(skip)]
    is_told: bool,
    /// The last turn whose message came.
    turn: Option<u64>,
    /// The statuses that it says, as their kinds and letters.
    #[serde(default)]
    said: Vec<(ReportKind, String)>,
    /// What reads like a report in it and is only shown there.
    shown: Vec<(ReportKind, String)>,
    missed: u32,
    /// Since when a report on the screen waits for its message.
    #[serde(skip)]
    since: Option<Moment>,
}

/// What becomes of a report without a tag that a screen shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    Counts,
    /// The message of its turn may still come.
    Waits,
    /// The message of its turn came, and says all that counts.
    IsRead,
}

/// Rules on a report of a turn.
pub(super) type Rule<'r> = dyn FnMut(u64) -> Ruling + 'r;

impl Words {
    /// Notes whether the cli was told to hand over its messages.
    pub(super) fn expect(&mut self, is_told: bool) {
        self.is_told = is_told;
    }

    /// Goes on with what an earlier detector knew.
    pub(super) fn recall(&mut self, earlier: Self) {
        *self = Self { is_told: self.is_told, ..earlier };
    }

    /// Notes that the message of a turn came.
    pub(super) fn note(&mut self, turn: u64, message: &str) {
        self.turn = self.turn.max(Some(turn));
        (self.missed, self.since) = (0, None);
        let kept = |lines: Vec<Report>| -> Vec<(ReportKind, String)> {
            let all = lines.into_iter().map(|line| (line.kind, letters(&line)));
            all.take(LINES_MAX).collect()
        };
        let statuses = |line: &Report| matches!(line.kind, ReportKind::Status(_));
        self.said = kept(read(message).into_iter().filter(statuses).collect());
        self.shown = kept(shown(message));
    }

    /// Says whether a report whose message was read is not one: a status that the message does not say, or
    /// anything else that it only shows.
    pub(super) fn refute(&mut self, report: &Report) -> bool {
        let line = (report.kind, letters(report));
        if matches!(report.kind, ReportKind::Status(_)) {
            // The screen may show less of it, or cut it.
            let goes_on = |said: &String| said.starts_with(&line.1) || line.1.starts_with(said);
            return !self.said.iter().any(|(kind, said)| *kind == line.0 && goes_on(said));
        }
        let at = self.shown.iter().position(|shown| *shown == line);
        at.map(|at| self.shown.remove(at)).is_some()
    }

    /// Says what becomes of a report of a turn, the earliest that it can belong to.
    pub(super) fn rule(&self, turn: u64, now: Moment) -> Ruling {
        if self.turn.is_some_and(|last| turn <= last) {
            return Ruling::IsRead;
        }
        let is_awaited = (self.is_told || self.turn.is_some()) && self.missed < MISSED_MAX;
        let is_late = self.since.is_some_and(|since| now.since(since) >= PATIENCE);
        if is_awaited && !is_late { Ruling::Waits } else { Ruling::Counts }
    }

    /// Notes whether a report on the screen waits for its message now.
    pub(super) fn note_wait(&mut self, waits: bool, now: Moment) {
        if waits {
            self.since.get_or_insert(now);
        } else if let Some(since) = self.since.take() {
            self.missed += u32::from(now.since(since) >= PATIENCE);
        }
    }

    /// Returns when no message is awaited any longer.
    pub(super) fn deadline(&self) -> Option<Moment> {
        self.since.map(|since| since + PATIENCE)
    }
}

fn letters(report: &Report) -> String {
    report.text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_awaited_for_a_while_and_after_two_in_vain_no_more() {
        let mut words = Words::default();
        let mut now = Moment(1000);
        assert_eq!(words.rule(1, now), Ruling::Counts, "nobody hands one over");
        words.expect(true);
        for turn in 1..=2 {
            assert_eq!(words.rule(turn, now), Ruling::Waits);
            words.note_wait(true, now);
            now = words.deadline().unwrap();
            assert_eq!(words.rule(turn, now), Ruling::Counts);
            words.note_wait(false, now);
        }
        assert_eq!(words.rule(3, now), Ruling::Counts, "none has come");
        words.note(3, "Fine.");
        assert_eq!(words.rule(3, now), Ruling::IsRead);
        assert_eq!(words.rule(4, now), Ruling::Waits, "now they come");
    }
}
