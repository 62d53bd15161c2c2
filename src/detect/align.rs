//! Tells which of the reports in sight are new, and which are only drawn again.

use serde::{Deserialize, Serialize};

use crate::protocol::{Report, ReportKind};

use super::message::Sighting;
use super::words::{Rule, Ruling};

/// A report that was seen before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) sighting: Sighting,
    /// The earliest turn that it can belong to.
    pub(super) turn: u64,
    pub(super) fate: Fate,
    /// A later look has seen it again: it is not half of a frame.
    pub(super) is_confirmed: bool,
    /// What was told of it, where more words were seen since.
    #[serde(default)]
    outgrown: Option<Report>,
}

/// A report whose time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// The earliest turn that it can belong to.
    pub(super) turn: u64,
    /// Its turn is one before the last that began.
    pub(super) is_past: bool,
    /// The message of its turn was read.
    pub(super) is_read: bool,
    pub(super) report: Report,
}

/// A report that was told while it was still being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outgrown {
    pub(super) turn: u64,
    /// Its turn is one before the last that began.
    pub(super) is_past: bool,
    pub(super) told: Report,
    pub(super) whole: Report,
}

impl Known {
    pub(super) fn new(sighting: Sighting, turn: u64, fate: Fate, is_confirmed: bool) -> Self {
        Self { sighting, turn, fate, is_confirmed, outgrown: None }
    }

    /// Takes over what this look has seen of it.
    fn refresh(&mut self, seen: &Sighting) {
        let known = &mut self.sighting;
        let (old, new) = (letters(&known.report), letters(&seen.report));
        if !known.is_closed && new.len() >= old.len() {
            let told = std::mem::replace(&mut known.report, seen.report.clone());
            if self.fate == Fate::Told && new != old {
                self.outgrown.get_or_insert(told);
            }
        }
        known.is_closed |= seen.is_closed;
        if seen.context.len() > known.context.len() {
            known.context.clone_from(&seen.context);
        }
        known.context_is_whole |= seen.context_is_whole;
        known.is_followed = seen.is_followed;
        (known.start, known.end) = (seen.start, seen.end);
        known.row = seen.row.or(known.row);
        self.is_confirmed = true;
    }

    /// Returns it if its time has come; without a tag it is ruled on by its turn.
    pub(super) fn take_due(
        &mut self,
        has_settled: bool,
        is_past: bool,
        rule: &mut Rule<'_>,
    ) -> Option<Due> {
        let is_due = has_settled || (self.counts_at_once() && self.is_confirmed);
        if self.fate != Fate::Pending || !is_due {
            return None;
        }
        // Without a tag, what ends a turn must be its last word: whoever goes on has quoted it.
        let needs_end = self.is_status() && !self.counts_at_once();
        if self.sighting.is_followed && needs_end {
            self.fate = Fate::Old;
            return None;
        }
        let ruling = if self.counts_at_once() { Ruling::Counts } else { rule(self.turn) };
        if ruling == Ruling::Waits {
            return None;
        }
        let is_read = ruling == Ruling::IsRead;
        self.fate = Fate::Told;
        Some(Due { turn: self.turn, is_past, is_read, report: self.sighting.report.clone() })
    }

    pub(super) fn take_outgrown(&mut self, is_past: bool) -> Option<Outgrown> {
        let told = self.outgrown.take()?;
        Some(Outgrown { turn: self.turn, is_past, told, whole: self.sighting.report.clone() })
    }

    /// A tag says that it is meant, whatever the agent does next.
    pub(super) fn counts_at_once(&self) -> bool {
        self.sighting.report.tag.is_some()
    }

    fn is_status(&self) -> bool {
        matches!(self.sighting.report.kind, ReportKind::Status(_))
    }

    /// Says whether both have the same words, wherever they stand.
    pub(super) fn is_alike(&self, seen: &Sighting) -> bool {
        let (old, new) = (&self.sighting.report, &seen.report);
        (old.kind, &old.tag) == (new.kind, &new.tag) && letters(old) == letters(new)
    }
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Fate {
    /// It was there before, or nobody had asked for it.
    Old,
    /// It counts as soon as the agent has settled.
    Pending,
    Told,
}

/// Returns how many of the reports in sight are known: those that follow are new.
///
/// They are matched in order. What is not matched before a match was drawn over, or the first
/// ones have scrolled away.
pub(super) fn known_count(known: &[Known], seen: &[Sighting]) -> usize {
    matches(known, seen).last().map_or(0, |(at, _)| at + 1)
}

/// Takes over what this look has seen, and returns how many of the reports in sight are known; they
/// are compared with those from `from` on.
///
/// What was only pending and is gone from sight was half of a frame. If `is_whole`, the turn is
/// in sight from its beginning; else its first reports may have scrolled away. What stands above
/// `left` has left the screen, and with it the frames.
pub(super) fn refresh_known(
    known: &mut Vec<Known>,
    from: usize,
    seen: &[Sighting],
    (is_whole, left): (bool, Option<u64>),
) -> usize {
    let mut matched = matches(&known[from..], seen);
    for (at, of) in &mut matched {
        *of += from;
        known[*of].refresh(&seen[*at]);
    }
    let first = matched.first().map_or(known.len(), |(_, of)| *of);
    let visible = if is_whole { from } else { first };
    let mut index = 0;
    known.retain(|known| {
        let is_seen = matched.iter().any(|(_, of)| *of == index);
        let has_left = left.is_some_and(|row| known.sighting.is_above(row));
        let is_kept = index < visible || is_seen || has_left || known.fate != Fate::Pending;
        index += 1;
        is_kept
    });
    matched.last().map_or(0, |(at, _)| at + 1)
}

/// Returns which report in sight is which known one.
fn matches(known: &[Known], seen: &[Sighting]) -> Vec<(usize, usize)> {
    let mut next = 0;
    let mut matched = Vec::new();
    for (at, sighting) in seen.iter().enumerate() {
        let found = known[next..].iter().position(|known| is_same(&known.sighting, sighting));
        if let Some(found) = found {
            matched.push((at, next + found));
            next += found + 1;
        }
    }
    matched
}

/// Says whether all that is in sight stands somewhere in what is known: an earlier part of the
/// conversation that is shown again.
pub(super) fn is_earlier(known: &[&Known], seen: &[Sighting]) -> bool {
    let is_it = |window: &[&Known]| {
        window.iter().zip(seen).all(|(known, seen)| is_same(&known.sighting, seen))
    };
    !seen.is_empty() && known.windows(seen.len()).any(is_it)
}

/// Says whether both are the same report, one perhaps still being written, or its message cut.
pub(super) fn is_same(known: &Sighting, seen: &Sighting) -> bool {
    let (old, new) = (&known.report, &seen.report);
    if (old.kind, &old.tag) != (new.kind, &new.tag) || !contexts_agree(known, seen) {
        return false;
    }
    let (old, new) = (letters(old), letters(new));
    old == new
        || (!known.is_closed && new.starts_with(&old))
        || (!seen.is_closed && old.starts_with(&new))
}

fn contexts_agree(known: &Sighting, seen: &Sighting) -> bool {
    let (old, new) = (known.context.as_str(), seen.context.as_str());
    if known.context_is_whole && seen.context_is_whole {
        return old == new;
    }
    old.ends_with(new) || new.ends_with(old)
}

/// Returns what no wrapping changes.
fn letters(report: &Report) -> String {
    report.text.chars().filter(|c| !c.is_whitespace()).collect()
}
