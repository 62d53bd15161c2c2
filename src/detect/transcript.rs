//! The conversation as far as it matters: its turns, and the reports in each, every one once.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::Moment;
use crate::screen::Screen;

use super::align::{Due, Fate, Known, Outgrown, is_earlier, is_same, known_count, refresh_known};
use super::excerpt::{Bookmark, Excerpt};
use super::general_blocks::Prompts;
use super::message::Sighting;
use super::reported_turn::{Extent, ReportedTurn};
use super::rules::Rules;
use super::segment::{Segment, letters, segments};
use super::view::View;
use super::words::Rule;

/// A half-drawn frame is complete by then.
pub(super) const SECOND_LOOK: Duration = Duration::from_millis(150);
/// A line that has not grown for this long is complete, though nothing follows it.
const STILL: Duration = Duration::from_millis(800);
/// Turns that a screen can still show; older ones are forgotten.
const TURNS_MAX: usize = 64;

/// What is known of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Transcript {
    turns: Vec<ReportedTurn>,
    /// A turn began, and its echo has not been seen yet.
    awaits_echo: bool,
    /// What was sent, where that is known.
    #[serde(default)]
    prompts: Prompts,
    /// Work on the last of them has come to an end before.
    #[serde(default)]
    has_ended: bool,
    #[serde(default)]
    bookmark: Bookmark,
    /// The report that was being written at the last look, and since when it stands like this.
    unfinished: Option<(Sighting, Moment)>,
    /// The echo of the last turn in sight, if the agent has said something below it.
    #[serde(skip)]
    answered: Option<String>,
    /// Counts what became of reports.
    #[serde(skip)]
    changes: u64,
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
    /// A report that nothing follows is complete once it has read the same for so long; nothing, if
    /// more is being written.
    pub(super) rest: Option<Duration>,
    /// What is printed may be a copy of what was: interfaces that draw on the primary screen leave one
    /// behind when it gets another size.
    pub(super) may_repeat: bool,
}

/// How to read the rows at hand.
#[derive(Clone, Copy, Debug)]
struct Pass {
    reading: Reading,
    /// Reports above this row are known; nothing where rows do not tell.
    unread_from: Option<u64>,
    /// Rows above this one have left the screen for good.
    committed: Option<u64>,
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

    /// Says whether the turn of this number, and of this prompt, has an answer in sight.
    pub(super) fn is_answered(&self, turn: u64, prompt: &str) -> bool {
        let is_at_hand = self.turns.last().is_some_and(|last| last.number == Some(turn));
        let is_it = |echo: &String| !echo.is_empty() && letters(prompt).starts_with(echo.as_str());
        is_at_hand && self.answered.as_ref().is_some_and(is_it)
    }

    /// Notes the words of a prompt, by which its echo is known; it is still to come.
    pub(super) fn note_prompt(&mut self, prompt: &str) {
        self.prompts.note(prompt);
        (self.awaits_echo, self.has_ended) = (true, false);
    }

    /// Says whether prompts are known by their words, so that none is missed.
    pub(super) fn knows_prompts(&self) -> bool {
        !self.prompts.is_empty()
    }

    pub(super) fn turn_began(&mut self) {
        self.awaits_echo = true;
    }

    pub(super) fn turn_ended(&mut self) {
        self.awaits_echo = false;
        self.has_ended = true;
    }

    /// Says whether work on the last prompt has ended before, where prompts are known by their words.
    pub(super) fn has_ended(&self) -> bool {
        self.knows_prompts() && self.has_ended
    }

    /// Takes what is in sight.
    pub(super) fn look(&mut self, screen: &Screen, view: &View, rules: &Rules, reading: Reading) {
        let excerpt = self.bookmark.read_on(screen, view, rules, &self.prompts);
        let mut segments = segments(rules, &excerpt, view.cols, &self.prompts);
        let last = segments.last().filter(|segment| segment.is_answered);
        self.answered = last.and_then(|segment| segment.echo.clone());
        let before = self.unfinished.take();
        let pass = self.pass(&excerpt, before.as_ref(), reading);
        self.keep_scrolled_away(before.as_ref(), &segments, pass);
        // A report that may still be written is read when something follows it, or when it has rested.
        let reports = segments.last_mut().map(|segment| &mut segment.reports);
        let last = reports.and_then(|reports| reports.pop_if(|last| !last.is_closed));
        let reads_as_before =
            |last: &Sighting| before.as_ref().is_some_and(|(before, _)| before.reads_as(last));
        let is_same = last.as_ref().is_some_and(reads_as_before);
        let since = before.filter(|_| is_same).map_or(reading.now, |(_, since)| since);
        self.unfinished = last.map(|last| (last, since));
        if let Some((last, _)) = &self.unfinished
            && self.whole_at(reading.rest).is_some_and(|at| at <= reading.now)
            && let Some(segment) = segments.last_mut()
        {
            segment.reports.push(last.clone());
        }
        self.merge(&segments, pass);
    }

    /// Returns what the numbers of the rows tell in this look.
    fn pass(
        &mut self,
        excerpt: &Excerpt,
        unfinished: Option<&(Sighting, Moment)>,
        reading: Reading,
    ) -> Pass {
        if excerpt.is_renumbered {
            let reports = self.turns.iter_mut().flat_map(|turn| &mut turn.reports);
            reports.for_each(|known| known.sighting.row = None);
        }
        // What was unfinished is not known yet.
        let unfinished = unfinished.and_then(|(last, _)| last.row).unwrap_or(u64::MAX);
        let unread_from = excerpt.unread_from.map(|row| row.min(unfinished));
        Pass { reading, unread_from, committed: excerpt.committed }
    }

    /// Takes a report that was being written when last seen, and whose beginning has left the
    /// screen since. Where the turn is in sight from its beginning it was half of a frame.
    fn keep_scrolled_away(
        &mut self,
        before: Option<&(Sighting, Moment)>,
        segments: &[Segment],
        pass: Pass,
    ) {
        let Some((mut last, _)) = before.cloned() else { return };
        let is_headless = segments.iter().all(|segment| segment.echo.is_none());
        let mut seen = segments.iter().flat_map(|segment| &segment.reports);
        if is_headless && !seen.any(|seen| is_same(&last, seen)) {
            last.is_closed = true;
            self.extend_headless(&[last], pass);
        }
    }

    /// Returns the reports whose time has come, in order; those without a tag are ruled on.
    pub(super) fn take_due(&mut self, has_settled: bool, rule: &mut Rule<'_>) -> Vec<Due> {
        let due = self.collect(|known, is_past| known.take_due(has_settled, is_past, rule));
        self.changes += due.len() as u64;
        due
    }

    /// Returns the reports of which more words were seen since they were told.
    pub(super) fn take_outgrown(&mut self) -> Vec<Outgrown> {
        let outgrown = self.collect(Known::take_outgrown);
        self.changes += outgrown.len() as u64;
        outgrown
    }

    /// Returns what is taken from each report; it is told of each whether its turn is one before the
    /// last that began.
    fn collect<T>(&mut self, mut take: impl FnMut(&mut Known, bool) -> Option<T>) -> Vec<T> {
        let (last, awaits_echo) = (self.turns.len().saturating_sub(1), self.awaits_echo);
        let mut taken = Vec::new();
        for (at, turn) in self.turns.iter_mut().enumerate() {
            // Where no prompt was ever seen, none is missed.
            let is_past = at < last || (awaits_echo && turn.echo.is_some());
            taken.extend(turn.reports.iter_mut().filter_map(|known| take(known, is_past)));
        }
        taken
    }

    /// Returns when another look would let a report count; `rest` as in a reading.
    pub(super) fn next_look(&self, rest: Option<Duration>, now: Moment) -> Option<Moment> {
        let is_waiting = |known: &&Known| {
            known.fate == Fate::Pending && known.counts_at_once() && !known.is_confirmed
        };
        if self.reports().into_iter().any(|known| is_waiting(&known)) {
            return Some(now + SECOND_LOOK);
        }
        self.whole_at(rest).filter(|at| *at > now)
    }

    /// Returns when the report that nothing follows is complete, unless it is written on.
    fn whole_at(&self, rest: Option<Duration>) -> Option<Moment> {
        let (last, since) = self.unfinished.as_ref()?;
        let still = last.report.tag.as_ref().map(|_| STILL);
        Some(*since + rest.into_iter().chain(still).min()?)
    }

    fn merge(&mut self, segments: &[Segment], pass: Pass) {
        let mut turns = self.turns_of(segments);
        self.insert_earlier(segments, &mut turns, pass);
        let last = self.turns.len().saturating_sub(1);
        for (at, segment) in segments.iter().enumerate() {
            let is_last = at + 1 == segments.len();
            match turns[at] {
                _ if segment.echo.is_none() => {
                    let follower = turns.get(at + 1);
                    if follower.is_none_or(|turn| *turn == Place::New) {
                        // What stands above the echo that is awaited was said in the turn before.
                        let turns_ago = u64::from(follower.is_some() && self.awaits_echo);
                        let turn = pass.reading.turn.saturating_sub(turns_ago);
                        let reading = Reading { turn, ..pass.reading };
                        self.extend_headless(&segment.reports, Pass { reading, ..pass });
                    }
                }
                Place::New => {
                    self.push_turn(ReportedTurn {
                        echo: segment.echo.clone(),
                        ..ReportedTurn::default()
                    });
                    self.awaits_echo = false;
                    self.extend(self.turns.len() - 1, &segment.reports, Extent::Anew, pass);
                }
                // Earlier turns have ended: nothing can be added to them.
                Place::At(turn) if turn + 1 == self.turns.len() => {
                    let begin = segment.row.zip(pass.unread_from);
                    let is_printed = begin.is_none_or(|(begin, unread)| begin >= unread);
                    let extent = if is_printed { Extent::Anew } else { Extent::Whole };
                    self.extend(turn, &segment.reports, extent, pass);
                }
                Place::Copy if is_last => self.extend_headless(&segment.reports, pass),
                Place::At(_) | Place::Copy => {}
            }
        }
        let is_last = |place: &Place| *place == Place::New || *place == Place::At(last);
        if let (Some(segment), Some(turn)) = (segments.last(), self.turns.last_mut())
            && segment.ends_in_words
            && (segment.echo.is_none() || turns.last().is_some_and(is_last))
        {
            turn.note_followed(&segment.reports);
        }
    }

    /// Takes turns that came back into sight above one that is known: they are older than it, and
    /// what they report was said before.
    fn insert_earlier(&mut self, segments: &[Segment], places: &mut [Place], pass: Pass) {
        let mut below = None;
        for (at, segment) in segments.iter().enumerate().rev() {
            match (places[at], below) {
                (Place::At(turn), _) => below = Some(turn),
                (Place::New, Some(_)) if self.turns.len() >= TURNS_MAX => places[at] = Place::Copy,
                (Place::New, Some(turn)) if segment.echo.is_some() => {
                    self.turns.insert(
                        turn,
                        ReportedTurn { echo: segment.echo.clone(), ..ReportedTurn::default() },
                    );
                    let reading = Reading { counts: false, ..pass.reading };
                    let pass = Pass { reading, ..pass };
                    self.extend(turn, &segment.reports, Extent::Anew, pass);
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
            let is_it = |turn: &ReportedTurn| segment.echoes(turn.echo.as_ref());
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
        let known: Vec<&ReportedTurn> =
            self.turns.iter().filter(|turn| last.echoes(turn.echo.as_ref())).collect();
        let Some(before) = known.last().filter(|_| self.awaits_echo) else { return false };
        let has_lost = !before.reports.is_empty();
        // Its last report may only look unfinished, because nothing follows it yet.
        let has_none = last.reports.is_empty() && self.unfinished.is_none();
        in_sight > known.len() || (has_lost && (has_none || self.has_others(before, last)))
    }

    /// Says whether a segment that begins like a known turn reports something else: another turn, which
    /// came to its end before anybody looked.
    fn has_others(&self, turn: &ReportedTurn, segment: &Segment) -> bool {
        let is_at_hand = self.turns.last().is_some_and(|last| std::ptr::eq(last, turn));
        let has_tag = |seen: &Sighting| seen.report.tag.is_some();
        // Without a tag it may be what the turn at hand said last, seen late or half drawn.
        let is_certain = !is_at_hand || segment.reports.iter().any(has_tag);
        let is_other = !segment.reports.is_empty();
        is_other && is_certain && known_count(&turn.reports, &segment.reports) == 0
    }

    fn reports(&self) -> Vec<&Known> {
        self.turns.iter().flat_map(|turn| &turn.reports).collect()
    }

    /// Adds what is new to the last turn, whose beginning is out of sight.
    fn extend_headless(&mut self, seen: &[Sighting], pass: Pass) {
        if seen.is_empty() {
            return;
        }
        if self.turns.is_empty() {
            self.push_turn(ReportedTurn::default());
        }
        let turn = self.turns.len() - 1;
        if known_count(&self.turns[turn].reports, seen) == 0 && is_earlier(&self.reports(), seen) {
            return;
        }
        self.extend(turn, seen, Extent::End, pass);
    }

    fn extend(&mut self, turn: usize, seen: &[Sighting], extent: Extent, pass: Pass) {
        let number = self.turns[turn].number.unwrap_or(pass.reading.turn);
        let (from, seen) = self.turns[turn].overlap(seen, extent, pass.unread_from);
        let reports = &mut self.turns[turn].reports;
        let is_whole = extent != Extent::End;
        let count = refresh_known(reports, from, seen, (is_whole, pass.unread_from));
        for sighting in &seen[count..] {
            let is_copy =
                pass.reading.may_repeat && reports.iter().any(|known| known.is_alike(sighting));
            let is_old = is_copy || pass.unread_from.is_some_and(|row| sighting.is_above(row));
            let fate = if pass.reading.counts && !is_old { Fate::Pending } else { Fate::Old };
            // Something follows it, so it is complete.
            if let Some(last) = reports.last_mut() {
                last.sighting.is_closed = true;
            }
            // What has left the screen is not half of a frame.
            let is_confirmed = sighting.is_closed && pass.has_left(sighting);
            reports.push(Known::new(sighting.clone(), number, fate, is_confirmed));
            self.changes += 1;
        }
        self.turns[turn].forget();
    }

    fn push_turn(&mut self, turn: ReportedTurn) {
        self.turns.push(turn);
        let extra = self.turns.len().saturating_sub(TURNS_MAX);
        self.turns.drain(..extra);
    }
}

impl Pass {
    /// Says whether all of a report has left the screen.
    fn has_left(&self, sighting: &Sighting) -> bool {
        let end = sighting.row.map(|row| row + sighting.height());
        end.zip(self.committed).is_some_and(|(end, committed)| end <= committed)
    }
}
