//! The reports that were told, and who saw each: told once, whichever source sees it first.
//!
//! A report may reach us three ways: as a line on the screen, in the last message that a hook hands
//! over, and by the agent's own call with its token. Each of them sees its own reports in order and
//! each once; a report that another has told already is only marked as seen. So two lines with the
//! same words are two reports, and a line and a call with the same words are one.

use serde::{Deserialize, Serialize};

use crate::protocol::{Report, ReportKind};

/// A screen shows a turn late by at most one; older ones are settled.
const TURNS_KEPT: u64 = 3;
/// An agent that reports more in three turns is flooding; its oldest ones are forgotten. All are written
/// down at each report.
const ENTRIES_MAX: usize = 128;
/// So many letters in common are not chance, where one text goes on after the other ends.
const BEGINNING_MIN: usize = 12;

/// Which way a report came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Channel {
    Screen,
    /// The last message of a turn, from a hook.
    Message,
    /// The agent's own call.
    Call,
}

/// Who noticed that a turn began, and was not yet joined by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Witness {
    /// Whoever submitted the prompt, or a hook.
    Prompt,
    /// Its echo on the screen.
    Echo,
}

/// A report that was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    turn: u64,
    kind: ReportKind,
    letters: String,
    seen_by: Vec<Channel>,
    /// It named the tag of an attempt, or came by a call.
    #[serde(default)]
    is_addressed: bool,
}

/// What becomes of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is to be told.
    New,
    /// It was told already.
    Known,
    /// Its beginning was told, read from a screen that was still being drawn.
    Amends,
}

/// What was told in the last turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ledger {
    turn: u64,
    lone: Option<Witness>,
    entries: Vec<Entry>,
}

impl Ledger {
    /// Returns the number of the turn at hand.
    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    /// Notes that a prompt was submitted, and says whether its echo is still to come.
    pub(super) fn note_prompt(&mut self) -> bool {
        self.note(Witness::Prompt, Witness::Echo)
    }

    /// Notes that the echo of a prompt was seen, and says whether nobody had told of the prompt.
    pub(super) fn note_echo(&mut self) -> bool {
        self.note(Witness::Echo, Witness::Prompt)
    }

    /// Notes that the turn ended: what begins now is another, whoever notices it.
    pub(super) fn note_end(&mut self) {
        self.lone = None;
    }

    fn note(&mut self, witness: Witness, other: Witness) -> bool {
        let is_joined = self.lone == Some(other);
        self.lone = (!is_joined).then_some(witness);
        if !is_joined {
            self.turn += 1;
            self.entries.retain(|entry| entry.turn + TURNS_KEPT > self.turn);
        }
        !is_joined
    }

    /// Says what becomes of a report of a turn, and remembers who saw it.
    ///
    /// `turn` is the earliest turn that it can belong to: a screen and a hook may be late.
    pub(super) fn admit(&mut self, report: &Report, channel: Channel, turn: u64) -> Admission {
        let letters = letters(&report.text);
        let is_addressed = report.tag.is_some() || channel == Channel::Call;
        if let Some(entry) = self.find(report, channel, turn) {
            // A call may say more than its line, and is what counts; a screen only shows too little.
            let was_half =
                entry.seen_by == [Channel::Screen] && letters.len() > entry.letters.len();
            entry.seen_by.push(channel);
            // What ends a task does so with its tag alone: told without, it is yet to be told.
            let is_status = matches!(report.kind, ReportKind::Status(_));
            if is_status && report.tag.is_some() && !entry.is_addressed {
                (entry.letters, entry.is_addressed) = (letters, true);
                return Admission::New;
            }
            if was_half {
                entry.letters = letters;
                return Admission::Amends;
            }
            return Admission::Known;
        }
        let (kind, seen_by) = (report.kind, vec![channel]);
        let turn = self.turn.max(turn);
        self.entries.push(Entry { turn, kind, letters, seen_by, is_addressed });
        let extra = self.entries.len().saturating_sub(ENTRIES_MAX);
        self.entries.drain(..extra);
        Admission::New
    }

    /// Returns the report that another channel has told and this one sees now.
    fn find(&mut self, report: &Report, channel: Channel, turn: u64) -> Option<&mut Entry> {
        let letters = letters(&report.text);
        // A busy machine draws what a hook has told when the next turn has begun. If it were said anew,
        // the hook would tell it anew.
        let is_drawn_late = |entry: &Entry| {
            let is_status = matches!(entry.kind, ReportKind::Status(_));
            channel == Channel::Screen && is_status && entry.seen_by == [Channel::Message]
        };
        let mut open: Vec<&mut Entry> = self
            .entries
            .iter_mut()
            .filter(|entry| entry.turn >= turn || is_drawn_late(entry))
            .filter(|entry| entry.kind == report.kind && !entry.seen_by.contains(&channel))
            .collect();
        let exact = open.iter().position(|entry| entry.letters == letters);
        let found = exact.or_else(|| {
            open.iter().position(|entry| goes_on(report.kind, &entry.letters, &letters))
        });
        found.map(|at| open.swap_remove(at))
    }

    /// Takes over the rest of a report that the screen showed in part, and says whether nobody else
    /// has told it.
    pub(super) fn amend(&mut self, told: &Report, whole: &Report, turn: u64) -> bool {
        let (told, whole) = (letters(&told.text), (whole.kind, letters(&whole.text)));
        let is_it = |entry: &&mut Entry| {
            entry.turn >= turn && (entry.kind, &entry.letters) == (whole.0, &told)
        };
        let mut entries = self.entries.iter_mut().filter(is_it);
        let Some(entry) = entries.find(|entry| entry.seen_by == [Channel::Screen]) else {
            return false;
        };
        entry.letters = whole.1;
        true
    }
}

/// Says whether one text is the beginning of the other: a line without the evidence that the call
/// had, or one that was cut.
fn goes_on(kind: ReportKind, one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let is_enough = matches!(kind, ReportKind::Status(_)) || short.len() >= BEGINNING_MIN;
    is_enough && long.starts_with(short)
}

/// Returns what neither wrapping nor Markdown changes.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::parse;

    const LINES: [&str; 5] = [
        "BUILD: FAIL — 2 errors",
        "BUILD: PASS",
        "PROGRESS: [1/3] — the first of them",
        "STATUS: DONE — six endpoints",
        "NEED: src/a.rs — the types",
    ];

    fn report(line: &str) -> Report {
        parse(line).unwrap()
    }

    fn tells(ledger: &mut Ledger, report: &Report, channel: Channel, turn: u64) -> bool {
        ledger.admit(report, channel, turn) == Admission::New
    }

    #[test]
    fn what_the_screen_showed_in_part_is_amended_and_what_a_call_said_is_not() {
        let (part, whole) = (report("STATUS: DONE"), report("STATUS: DONE — one line"));
        let mut ledger = Ledger::default();
        assert_eq!(ledger.admit(&part, Channel::Screen, 0), Admission::New);
        assert!(ledger.amend(&part, &whole, 0));
        assert!(!ledger.amend(&part, &whole, 0), "it is whole now");
        assert_eq!(ledger.admit(&whole, Channel::Message, 0), Admission::Known);
        let mut ledger = Ledger::default();
        assert_eq!(ledger.admit(&part, Channel::Screen, 0), Admission::New);
        assert_eq!(ledger.admit(&whole, Channel::Message, 0), Admission::Amends);
        assert!(!ledger.amend(&part, &whole, 0), "the message told it");
        let mut ledger = Ledger::default();
        assert_eq!(ledger.admit(&part, Channel::Call, 0), Admission::New);
        assert_eq!(ledger.admit(&whole, Channel::Screen, 0), Admission::Known);
    }

    #[test]
    fn the_same_words_twice_from_one_side_are_two_and_from_two_sides_one() {
        let mut ledger = Ledger::default();
        let fail = report(LINES[0]);
        assert!(tells(&mut ledger, &fail, Channel::Screen, 0));
        assert!(tells(&mut ledger, &fail, Channel::Screen, 0), "it failed again");
        assert!(!tells(&mut ledger, &fail, Channel::Message, 0));
        assert!(!tells(&mut ledger, &fail, Channel::Message, 0));
        assert!(tells(&mut ledger, &fail, Channel::Message, 0), "a third time");
        assert!(!tells(&mut ledger, &fail, Channel::Screen, 0));
    }

    #[test]
    fn dress_and_missing_evidence_make_no_other_report() {
        let mut ledger = Ledger::default();
        assert!(tells(
            &mut ledger,
            &report("STATUS: DONE — Built `api` + 12 tests"),
            Channel::Call,
            0
        ));
        assert!(!tells(&mut ledger, &report("STATUS(k7f3): DONE — built api"), Channel::Screen, 0));
        assert!(tells(&mut ledger, &report("STATUS: BLOCKED — built api"), Channel::Screen, 0));
        assert!(tells(&mut ledger, &report("BUILD: FAIL — 1 error"), Channel::Call, 0));
        assert!(tells(&mut ledger, &report("BUILD: FAIL — 1 error in b"), Channel::Screen, 0));
    }

    #[test]
    fn a_status_that_a_hook_told_and_the_screen_draws_in_the_next_turn_is_one() {
        let mut ledger = Ledger::default();
        let done = report("STATUS(k7f3): DONE — six endpoints");
        assert!(tells(&mut ledger, &done, Channel::Message, 0));
        assert!(ledger.note_prompt());
        let turn = ledger.turn();
        assert!(!tells(&mut ledger, &done, Channel::Screen, turn), "it is drawn late");
        assert!(tells(&mut ledger, &done, Channel::Message, turn), "it is said anew");
        assert!(!tells(&mut ledger, &done, Channel::Screen, turn));
        assert!(tells(&mut ledger, &done, Channel::Screen, turn), "and once more, with no hook");
    }

    #[test]
    fn a_line_without_the_tag_does_not_hide_the_one_with_it() {
        let mut ledger = Ledger::default();
        assert!(tells(&mut ledger, &report("STATUS: DONE — six"), Channel::Screen, 0));
        let call = report("STATUS(k7f3): DONE — six");
        assert!(tells(&mut ledger, &call, Channel::Call, 0));
        assert!(!tells(&mut ledger, &call, Channel::Message, 0));
    }

    #[test]
    fn what_was_said_in_another_turn_is_said_again() {
        let mut ledger = Ledger::default();
        let done = report(LINES[3]);
        assert!(tells(&mut ledger, &done, Channel::Message, 0));
        assert!(ledger.note_prompt());
        assert!(!ledger.note_echo(), "the echo of the same prompt");
        let late = ledger.turn() - 1;
        assert!(!tells(&mut ledger, &done, Channel::Screen, late), "the line of the last turn");
        let turn = ledger.turn();
        assert!(tells(&mut ledger, &done, Channel::Message, turn));
        assert!(!tells(&mut ledger, &done, Channel::Screen, turn));
        assert!(ledger.note_echo(), "nobody told of this prompt");
        assert!(!ledger.note_prompt(), "its hook comes late");
    }

    proptest! {
        /// Whatever is said, and whichever side is ahead: each report is told once.
        #[test]
        fn each_report_of_a_turn_is_told_once_whoever_sees_it_first(
            turns in prop::collection::vec(prop::collection::vec(0..LINES.len(), 0..6), 1..5),
            order in prop::collection::vec(0..3_usize, 60),
        ) {
            let mut ledger = Ledger::default();
            let mut order = order.into_iter().cycle();
            for said in turns {
                ledger.note_prompt();
                ledger.note_echo();
                let mut ahead = [0_usize; 3];
                let mut told = Vec::new();
                while ahead.iter().any(|at| *at < said.len()) {
                    let side = order.next().unwrap();
                    let channel = [Channel::Screen, Channel::Message, Channel::Call][side];
                    let behind = ahead.iter().position(|at| *at < said.len()).unwrap();
                    let (side, channel) = if ahead[side] < said.len() {
                        (side, channel)
                    } else {
                        (behind, [Channel::Screen, Channel::Message, Channel::Call][behind])
                    };
                    let line = said[ahead[side]];
                    ahead[side] += 1;
                    let turn = ledger.turn();
                    if tells(&mut ledger, &report(LINES[line]), channel, turn) {
                        told.push(line);
                    }
                }
                let mut expected = said.clone();
                expected.sort_unstable();
                told.sort_unstable();
                prop_assert_eq!(told, expected);
            }
        }
    }
}
