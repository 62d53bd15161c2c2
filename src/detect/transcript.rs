//! The conversation as far as it matters: its turns, and the reports in each, every one once.

use crate::model::BlockKind;
use crate::report::Report;
use crate::screen::Screen;

use super::align::{Fate, Known, is_earlier, is_same, known_count, refresh_known};
use super::blocks::{classify, start_of};
use super::message::{Page, Sighting, sightings};
use super::rules::Rules;
use super::view::{TextRow, View};

/// Turns that a screen can still show; older ones are forgotten.
const TURNS_MAX: usize = 64;
/// A turn with more reports keeps its last ones.
const REPORTS_MAX: usize = 256;
/// How far above the screen the beginning of a turn is looked for.
const WALK_ROWS_MAX: u64 = 400;
/// Rows that scrolled past between two looks are all read, as far as the history keeps them.
const NEW_ROWS_MAX: u64 = 20_000;
/// So many letters of an echo tell it from others at any width.
const ECHO_CHARS: usize = 24;

/// What is known of the conversation.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    turns: Vec<Turn>,
    /// A turn began, and its echo has not been seen yet.
    awaits_echo: bool,
    /// The history has been read up to here.
    committed: u64,
    /// The report that was being written at the last look.
    unfinished: Option<Sighting>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Turn {
    /// The first letters of the prompt, where its echo was seen.
    echo: Option<String>,
    reports: Vec<Known>,
}

/// A turn as it is in sight.
#[derive(Debug, Default)]
struct Segment {
    echo: Option<String>,
    reports: Vec<Sighting>,
}

/// How to read what is in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// New reports count later; else never.
    pub(super) counts: bool,
    /// Nothing more is being written.
    pub(super) is_final: bool,
}

/// What a look found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Merged {
    /// The echo of a prompt that was not there before.
    pub(super) has_new_turn: bool,
    /// Statuses and other reports that are new, counted or not.
    pub(super) new_reports: usize,
}

impl Transcript {
    pub(super) fn turn_began(&mut self) {
        self.awaits_echo = true;
    }

    pub(super) fn turn_ended(&mut self) {
        self.awaits_echo = false;
    }

    /// Takes what is in sight.
    pub(super) fn look(
        &mut self,
        screen: &Screen,
        view: &View,
        rules: &Rules,
        reading: Reading,
    ) -> Merged {
        let rows = self.gather(screen, view, rules);
        let mut segments = segments(rules, &rows, view.cols);
        self.keep_scrolled_away(&segments, reading.counts);
        if !reading.is_final {
            // A report that is still being written is read when something follows it.
            let reports = segments.last_mut().map(|segment| &mut segment.reports);
            self.unfinished = reports.and_then(|reports| reports.pop_if(|last| !last.is_closed));
        }
        self.merge(segments, reading.counts)
    }

    /// Takes a report that was being written when last seen, and whose beginning has left the
    /// screen since. Where the turn is in sight from its beginning it was half of a frame.
    fn keep_scrolled_away(&mut self, segments: &[Segment], counts: bool) {
        let Some(mut last) = self.unfinished.take() else { return };
        let is_headless = segments.iter().all(|segment| segment.echo.is_none());
        let mut seen = segments.iter().flat_map(|segment| &segment.reports);
        if is_headless && !seen.any(|seen| is_same(&last, seen)) {
            last.is_closed = true;
            self.extend_headless(&[last], counts);
        }
    }

    /// Returns the reports whose time has come, in order.
    pub(super) fn take_due(&mut self, has_settled: bool) -> Vec<Report> {
        let mut due = Vec::new();
        for known in self.turns.iter_mut().flat_map(|turn| &mut turn.reports) {
            let is_due = has_settled || (known.counts_at_once() && known.is_confirmed);
            if known.fate == Fate::Pending && is_due {
                known.fate = Fate::Told;
                due.push(known.sighting.report.clone());
            }
        }
        due
    }

    /// Says whether a second look would let a report count.
    pub(super) fn wants_second_look(&self) -> bool {
        let mut known = self.turns.iter().flat_map(|turn| &turn.reports);
        known.any(|known| {
            known.fate == Fate::Pending && known.counts_at_once() && !known.is_confirmed
        })
    }

    /// Returns the rows above the composer, and so many of the history before them as it takes to
    /// read what scrolled past and to see where the turn began.
    fn gather(&mut self, screen: &Screen, view: &View, rules: &Rules) -> Vec<TextRow> {
        let body = view.body();
        if screen.modes().alternate_screen {
            return body.to_vec();
        }
        let kept = screen.history_range();
        let unread = self.committed.max(kept.end.saturating_sub(NEW_ROWS_MAX)).max(kept.start);
        self.committed = screen.committed();
        let row = |number: u64| screen.history_row(number).map(|row| TextRow::new(&row));
        let is_hit = |row: &TextRow| rules.keyword.is_match(&row.text);
        let is_hit_at = |number: &u64| row(*number).is_some_and(|row| is_hit(&row));
        let hit = (unread.min(kept.end)..kept.end).find(is_hit_at);
        if hit.is_none() && !body.iter().any(is_hit) {
            return body.to_vec();
        }
        let from = hit.unwrap_or(kept.end);
        let mut start = from;
        let oldest = from.saturating_sub(WALK_ROWS_MAX).max(kept.start);
        let mut has_echo = false;
        for number in (oldest..from).rev() {
            let Some(row) = row(number) else { break };
            start = number;
            let is_banner = rules.banner.as_ref().is_some_and(|banner| banner.is_match(&row.text));
            let is_echo =
                start_of(rules, &row.text).is_some_and(|block| block.0 == BlockKind::Echo);
            // One row before the echo shows that it begins here.
            if is_banner || (has_echo && !is_echo) {
                break;
            }
            has_echo |= is_echo;
        }
        let mut rows: Vec<TextRow> = (start..kept.end).filter_map(row).collect();
        rows.extend_from_slice(body);
        rows
    }

    fn merge(&mut self, segments: Vec<Segment>, counts: bool) -> Merged {
        let mut merged = Merged::default();
        let mut next_turn = 0;
        let count = segments.len();
        let mut segments = segments.into_iter().enumerate().peekable();
        while let Some((at, segment)) = segments.next() {
            let Some(echo) = &segment.echo else {
                let follower = segments.peek().and_then(|(_, next)| next.echo.as_ref());
                let is_old = follower.is_some_and(|echo| self.find(echo, 0).is_some());
                if !is_old {
                    merged.new_reports += self.extend_headless(&segment.reports, counts);
                }
                continue;
            };
            let is_last = at + 1 == count;
            let known = self.find(echo, next_turn);
            match known.or_else(|| self.find(echo, 0).filter(|_| !(is_last && self.awaits_echo))) {
                Some(turn) if !self.is_anew(turn, &segment, is_last) => {
                    next_turn = turn + 1;
                    // Earlier turns have ended: nothing can be added to them.
                    if next_turn == self.turns.len() {
                        merged.new_reports += self.extend(turn, &segment.reports, true, counts);
                    }
                }
                _ if self.is_shown_again(&segment) => {
                    merged.new_reports += self.extend_headless(&segment.reports, counts);
                }
                _ => {
                    self.push_turn(Turn { echo: Some(echo.clone()), reports: Vec::new() });
                    merged.has_new_turn = true;
                    self.awaits_echo = false;
                    next_turn = self.turns.len();
                    merged.new_reports += self.extend(next_turn - 1, &segment.reports, true, counts);
                }
            }
        }
        merged
    }

    /// Says whether an echo of known words is that of a turn that has just begun.
    fn is_anew(&self, turn: usize, segment: &Segment, is_last: bool) -> bool {
        let known = &self.turns[turn].reports;
        self.awaits_echo && is_last && segment.reports.len() < known.len() && segment.reports.is_empty()
    }

    /// Says whether an unknown echo is that of a known turn after all: something covers its words.
    fn is_shown_again(&self, segment: &Segment) -> bool {
        let all = self.turns.iter().flat_map(|turn| &turn.reports);
        !self.awaits_echo && !segment.reports.is_empty() && is_earlier(all, &segment.reports)
    }

    /// Returns the last turn from `first` on with this echo.
    fn find(&self, echo: &str, first: usize) -> Option<usize> {
        let is_it = |turn: &Turn| {
            turn.echo.as_ref().is_some_and(|known| known.starts_with(echo) || echo.starts_with(known.as_str()))
        };
        let from = first.min(self.turns.len());
        if first == 0 {
            return self.turns.iter().rposition(is_it);
        }
        self.turns[from..].iter().position(is_it).map(|at| from + at)
    }

    /// Adds what is new to the last turn, whose beginning is out of sight.
    fn extend_headless(&mut self, seen: &[Sighting], counts: bool) -> usize {
        if seen.is_empty() {
            return 0;
        }
        if self.turns.is_empty() {
            self.push_turn(Turn::default());
        }
        let turn = self.turns.len() - 1;
        let is_of_turn = known_count(&self.turns[turn].reports, seen) > 0;
        let all = self.turns.iter().flat_map(|turn| &turn.reports);
        if !is_of_turn && is_earlier(all, seen) {
            return 0;
        }
        self.extend(turn, seen, false, counts)
    }

    fn extend(&mut self, turn: usize, seen: &[Sighting], is_whole: bool, counts: bool) -> usize {
        let reports = &mut self.turns[turn].reports;
        let count = refresh_known(reports, seen, is_whole);
        let fate = if counts { Fate::Pending } else { Fate::Old };
        for sighting in &seen[count..] {
            // Something follows it, so it is complete.
            if let Some(last) = reports.last_mut() {
                last.sighting.is_closed = true;
            }
            reports.push(Known { sighting: sighting.clone(), fate, is_confirmed: false });
        }
        let extra = reports.len().saturating_sub(REPORTS_MAX);
        reports.drain(..extra);
        seen.len() - count
    }

    fn push_turn(&mut self, turn: Turn) {
        self.turns.push(turn);
        let extra = self.turns.len().saturating_sub(TURNS_MAX);
        self.turns.drain(..extra);
    }
}

/// Cuts the rows into turns, and finds the reports of each.
fn segments(rules: &Rules, rows: &[TextRow], cols: usize) -> Vec<Segment> {
    let parts = classify(rules, rows);
    let mut segments = vec![Segment::default()];
    let mut at = 0;
    while at < rows.len() {
        let part = parts[at];
        let goes_on = |next: &usize| {
            parts[*next].kind == part.kind && (!parts[*next].is_start || part.kind == BlockKind::Echo && rows[*next - 1].text.len() > 1 && is_single_echo(rules, &rows[*next].text))
        };
        let end = (at + 1..rows.len()).find(|next| !goes_on(next)).unwrap_or(rows.len());
        match part.kind {
            BlockKind::Echo if part.is_start => {
                // The first row in sight may be in the middle of an echo.
                let echo = rows[at..end].iter().map(|row| letters(&row.text));
                let echo = echo.into_iter().find(|echo| !echo.is_empty()).filter(|_| at > 0);
                if echo.is_some() {
                    segments.push(Segment { echo, reports: Vec::new() });
                }
            }
            BlockKind::Own => {
                let code_is_colored = rules.code_is_colored;
                let page = Page { has_start: part.is_start, cols, code_is_colored };
                let mut found = sightings(&rows[at..end], page);
                let is_followed = (end..rows.len()).any(|next| {
                    parts[next].kind != BlockKind::Chrome && !rows[next].text.is_empty()
                });
                close(&mut found, &rows[at..end], is_followed);
                if let Some(segment) = segments.last_mut() {
                    segment.reports.extend(found);
                }
            }
            BlockKind::Echo | BlockKind::Tool | BlockKind::Chrome => {}
        }
        at = end;
    }
    if segments[0].reports.is_empty() {
        segments.remove(0);
    }
    segments
}

/// A report is closed if something of the conversation follows it.
fn close(found: &mut [Sighting], rows: &[TextRow], is_followed: bool) {
    for sighting in found {
        let rest = rows.get(sighting.end..).unwrap_or_default();
        sighting.is_closed = is_followed || rest.iter().any(|row| !row.text.is_empty());
    }
}

/// Says whether each row of an echo carries its mark.
fn is_single_echo(rules: &Rules, text: &str) -> bool {
    start_of(rules, text) == Some((BlockKind::Echo, true))
}

fn letters(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    letters.take(ECHO_CHARS).collect()
}
