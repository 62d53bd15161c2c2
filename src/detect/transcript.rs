//! The conversation as far as it matters: its turns, and the reports in each, every one once.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{BlockKind, Moment};
use crate::report::Report;
use crate::screen::Screen;

use super::align::{Fate, Known, is_earlier, is_same, known_count, refresh_known};
use super::blocks::start_of;
use super::message::Sighting;
use super::rules::Rules;
use super::segment::{Segment, segments};
use super::view::{TextRow, View};

/// A half-drawn frame is complete by then.
const SECOND_LOOK: Duration = Duration::from_millis(150);
/// A line that has not grown for this long is complete, though nothing follows it.
const STILL: Duration = Duration::from_millis(800);
/// Turns that a screen can still show; older ones are forgotten.
const TURNS_MAX: usize = 64;
/// A turn with more reports keeps its last ones.
const REPORTS_MAX: usize = 256;
/// How far above the screen the beginning of a turn is looked for.
const WALK_ROWS_MAX: u64 = 400;
/// Rows that scrolled past between two looks are all read, as far as the history keeps them.
const NEW_ROWS_MAX: u64 = 20_000;

/// What is known of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Transcript {
    turns: Vec<Turn>,
    /// A turn began, and its echo has not been seen yet.
    awaits_echo: bool,
    /// The history has been read up to here.
    committed: u64,
    /// The report that was being written at the last look, and since when it stands like this.
    unfinished: Option<(Sighting, Moment)>,
    /// Counts what became of reports.
    #[serde(skip)]
    changes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Turn {
    /// The first letters of the prompt, where its echo was seen.
    echo: Option<String>,
    /// Its number in the ledger, once its echo was counted there.
    number: Option<u64>,
    reports: Vec<Known>,
}

/// Where a segment belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It is this turn.
    At(usize),
    /// It shows a turn that another segment shows as well.
    Copy,
    New,
}

/// How to read what is in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) now: Moment,
    /// The number of the turn at hand.
    pub(super) turn: u64,
    /// New reports count later; else never.
    pub(super) counts: bool,
    /// Nothing more is being written.
    pub(super) is_final: bool,
    /// The screen had another size a moment ago. Interfaces that draw on the primary screen then
    /// leave a copy of their last rows behind.
    pub(super) was_resized: bool,
}

impl Transcript {
    /// Returns a number that grows with everything that must not be forgotten.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Gives a number to each turn whose echo is new.
    pub(super) fn number_turns(&mut self, mut number: impl FnMut() -> u64) {
        for turn in self.turns.iter_mut().filter(|turn| turn.echo.is_some()) {
            turn.number.get_or_insert_with(&mut number);
        }
    }

    pub(super) fn turn_began(&mut self) {
        self.awaits_echo = true;
    }

    pub(super) fn turn_ended(&mut self) {
        self.awaits_echo = false;
    }

    /// Takes what is in sight.
    pub(super) fn look(&mut self, screen: &Screen, view: &View, rules: &Rules, reading: Reading) {
        let rows = self.gather(screen, view, rules);
        let mut segments = segments(rules, &rows, view.cols);
        let before = self.unfinished.take();
        self.keep_scrolled_away(before.as_ref(), &segments, reading);
        if !reading.is_final {
            // A report that is still being written is read when something follows it.
            let reports = segments.last_mut().map(|segment| &mut segment.reports);
            let last = reports.and_then(|reports| reports.pop_if(|last| !last.is_closed));
            let is_same = before.as_ref().map(|(before, _)| before) == last.as_ref();
            let since = before.filter(|_| is_same).map_or(reading.now, |(_, since)| since);
            self.unfinished = last.map(|last| (last, since));
        }
        if let Some((last, since)) = self.unfinished.as_ref().filter(|(last, _)| is_tagged(last))
            && reading.now >= *since + STILL
            && let Some(segment) = segments.last_mut()
        {
            segment.reports.push(last.clone());
        }
        self.merge(&segments, reading);
    }

    /// Takes a report that was being written when last seen, and whose beginning has left the
    /// screen since. Where the turn is in sight from its beginning it was half of a frame.
    fn keep_scrolled_away(
        &mut self,
        before: Option<&(Sighting, Moment)>,
        segments: &[Segment],
        reading: Reading,
    ) {
        let Some((mut last, _)) = before.cloned() else { return };
        let is_headless = segments.iter().all(|segment| segment.echo.is_none());
        let mut seen = segments.iter().flat_map(|segment| &segment.reports);
        if is_headless && !seen.any(|seen| is_same(&last, seen)) {
            last.is_closed = true;
            self.extend_headless(&[last], reading);
        }
    }

    /// Returns the reports whose time has come, in order, each with the earliest turn that it can
    /// belong to.
    pub(super) fn take_due(&mut self, has_settled: bool) -> Vec<(u64, Report)> {
        let mut due = Vec::new();
        for known in self.turns.iter_mut().flat_map(|turn| &mut turn.reports) {
            let is_due = has_settled || (known.counts_at_once() && known.is_confirmed);
            if known.fate == Fate::Pending && is_due {
                known.fate = Fate::Told;
                due.push((known.turn, known.sighting.report.clone()));
            }
        }
        self.changes += due.len() as u64;
        due
    }

    /// Returns when another look would let a report count.
    pub(super) fn next_look(&self, now: Moment) -> Option<Moment> {
        let is_waiting = |known: &&Known| {
            known.fate == Fate::Pending && known.counts_at_once() && !known.is_confirmed
        };
        if self.reports().into_iter().any(|known| is_waiting(&known)) {
            return Some(now + SECOND_LOOK);
        }
        let unfinished = self.unfinished.as_ref().filter(|(last, _)| is_tagged(last));
        unfinished.map(|(_, since)| *since + STILL).filter(|at| *at > now)
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

    fn merge(&mut self, segments: &[Segment], reading: Reading) {
        let mut turns = self.turns_of(segments);
        self.insert_earlier(segments, &mut turns, reading);
        for (at, segment) in segments.iter().enumerate() {
            let is_last = at + 1 == segments.len();
            match turns[at] {
                _ if segment.echo.is_none() => {
                    let follower = turns.get(at + 1);
                    if follower.is_none_or(|turn| *turn == Place::New) {
                        self.extend_headless(&segment.reports, reading);
                    }
                }
                Place::New => {
                    self.push_turn(Turn { echo: segment.echo.clone(), ..Turn::default() });
                    self.awaits_echo = false;
                    self.extend(self.turns.len() - 1, &segment.reports, true, reading);
                }
                // Earlier turns have ended: nothing can be added to them.
                Place::At(turn) if turn + 1 == self.turns.len() => {
                    self.extend(turn, &segment.reports, true, reading);
                }
                Place::Copy if is_last => self.extend_headless(&segment.reports, reading),
                Place::At(_) | Place::Copy => {}
            }
        }
    }

    /// Takes turns that came back into sight above one that is known: they are older than it, and
    /// what they report was said before.
    fn insert_earlier(&mut self, segments: &[Segment], places: &mut [Place], reading: Reading) {
        let mut below = None;
        for (at, segment) in segments.iter().enumerate().rev() {
            match (places[at], below) {
                (Place::At(turn), _) => below = Some(turn),
                (Place::New, Some(_)) if self.turns.len() >= TURNS_MAX => places[at] = Place::Copy,
                (Place::New, Some(turn)) if segment.echo.is_some() => {
                    self.turns.insert(turn, Turn { echo: segment.echo.clone(), ..Turn::default() });
                    self.extend(turn, &segment.reports, true, Reading { counts: false, ..reading });
                    for place in &mut places[at + 1..] {
                        if let Place::At(later) = place {
                            *later += 1;
                        }
                    }
                    places[at] = Place::At(turn);
                }
                (Place::New | Place::Copy, _) => {}
            }
        }
    }

    /// Returns which turn each segment is. The last one in sight is the last one known with its
    /// prompt, and so on upwards.
    fn turns_of(&self, segments: &[Segment]) -> Vec<Place> {
        let mut places = vec![Place::New; segments.len()];
        let mut below = self.turns.len();
        for (at, segment) in segments.iter().enumerate().rev() {
            let is_it = |turn: &Turn| segment.echoes(turn.echo.as_ref());
            let is_last = at + 1 == segments.len();
            if is_last && self.is_anew(segments, segment) {
                continue;
            }
            places[at] = match self.turns[..below].iter().rposition(is_it) {
                Some(turn) => {
                    below = turn;
                    Place::At(turn)
                }
                None if self.turns.iter().any(is_it) => Place::Copy,
                // Something covers the words of a known prompt.
                None if !self.awaits_echo && is_earlier(&self.reports(), &segment.reports) => {
                    Place::Copy
                }
                None => Place::New,
            };
        }
        places
    }

    /// Says whether the last echo in sight is that of a turn that has just begun, though an
    /// earlier prompt had the same words.
    fn is_anew(&self, segments: &[Segment], last: &Segment) -> bool {
        let in_sight = segments.iter().filter(|segment| segment.echoes(last.echo.as_ref())).count();
        let known: Vec<&Turn> =
            self.turns.iter().filter(|turn| last.echoes(turn.echo.as_ref())).collect();
        let has_lost = known.last().is_some_and(|turn| !turn.reports.is_empty());
        // Its last report may only look unfinished, because nothing follows it yet.
        let has_none = last.reports.is_empty() && self.unfinished.is_none();
        self.awaits_echo && !known.is_empty() && (in_sight > known.len() || (has_lost && has_none))
    }

    fn reports(&self) -> Vec<&Known> {
        self.turns.iter().flat_map(|turn| &turn.reports).collect()
    }

    /// Adds what is new to the last turn, whose beginning is out of sight.
    fn extend_headless(&mut self, seen: &[Sighting], reading: Reading) {
        if seen.is_empty() {
            return;
        }
        if self.turns.is_empty() {
            self.push_turn(Turn::default());
        }
        let turn = self.turns.len() - 1;
        let is_of_turn = known_count(&self.turns[turn].reports, seen) > 0;
        if !is_of_turn && is_earlier(&self.reports(), seen) {
            return;
        }
        self.extend(turn, seen, false, reading);
    }

    fn extend(&mut self, turn: usize, seen: &[Sighting], is_whole: bool, reading: Reading) {
        let number = self.turns[turn].number.unwrap_or(reading.turn);
        let reports = &mut self.turns[turn].reports;
        let count = refresh_known(reports, seen, is_whole);
        for sighting in &seen[count..] {
            let is_copy =
                reading.was_resized && reports.iter().any(|known| known.is_alike(sighting));
            let fate = if reading.counts && !is_copy { Fate::Pending } else { Fate::Old };
            // Something follows it, so it is complete.
            if let Some(last) = reports.last_mut() {
                last.sighting.is_closed = true;
            }
            let (sighting, is_confirmed) = (sighting.clone(), false);
            reports.push(Known { sighting, turn: number, fate, is_confirmed });
            self.changes += 1;
        }
        let extra = reports.len().saturating_sub(REPORTS_MAX);
        reports.drain(..extra);
    }

    fn push_turn(&mut self, turn: Turn) {
        self.turns.push(turn);
        let extra = self.turns.len().saturating_sub(TURNS_MAX);
        self.turns.drain(..extra);
    }
}

fn is_tagged(sighting: &Sighting) -> bool {
    sighting.report.tag.is_some()
}
