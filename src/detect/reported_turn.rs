//! One turn of the conversation: what was seen of it, and which of its reports may be in sight once more.

use serde::{Deserialize, Serialize};

use super::align::{Fate, Known, is_same, known_count};
use super::message::Sighting;

/// A turn with more reports keeps its last ones, and all that have yet to count.
const REPORTS_MAX: usize = 256;
/// Where rows tell which reports are known, those on the screen are enough: all are written down at
/// each report.
const PLACED_MAX: usize = 64;
/// An agent that says more without a tag before it settles is flooding; its oldest are forgotten.
const PENDING_MAX: usize = 8192;

/// A turn, and the reports that were seen in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReportedTurn {
    /// The first letters of the prompt, where its echo was seen.
    pub(super) echo: Option<String>,
    /// Its number in the ledger, once its echo was counted there.
    pub(super) number: Option<u64>,
    pub(super) reports: Vec<Known>,
    /// How many reports before these are forgotten.
    #[serde(default)]
    pub(super) forgotten: usize,
}

/// How much of a turn is in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Its beginning is out of sight.
    End,
    Whole,
    /// All of it, and all of it was printed since the last look, perhaps not for the first time.
    Anew,
}

impl ReportedTurn {
    /// Returns the first known report that may be in sight once more, and those in sight that may
    /// be known or new.
    ///
    /// What stood in rows that had left the screen at the last look is known and cannot be drawn
    /// again there. So only what stood on the screen then is compared with what was printed or drawn
    /// since, and equal lines are counted right. Only where the turn is printed anew, or nothing of
    /// the screen is left, all of it is compared.
    pub(super) fn overlap<'s>(
        &self,
        seen: &'s [Sighting],
        extent: Extent,
        unread_from: Option<u64>,
    ) -> (usize, &'s [Sighting]) {
        let known = &self.reports;
        if let Some(row) = unread_from
            && extent != Extent::Anew
        {
            let seen = &seen[seen.partition_point(|sighting| sighting.is_above(row))..];
            let was_shown = |known: &&Known| !known.sighting.is_above(row);
            let shown = known.iter().rev().take_while(was_shown).count();
            let from = known.len() - shown;
            if shown == 0 || seen.is_empty() || known_count(&known[from..], seen) > 0 {
                return (from, seen);
            }
            return (0, seen);
        }
        // Of a long turn that is printed again the first ones are forgotten.
        let skipped = if extent == Extent::Anew { self.forgotten.min(seen.len()) } else { 0 };
        (0, &seen[skipped..])
    }

    /// Forgets the oldest reports of a turn that has many.
    pub(super) fn forget(&mut self) {
        let count = self.reports.len();
        let is_placed = self.reports.iter().all(|known| known.sighting.row.is_some());
        let mut extra = count.saturating_sub(if is_placed { PLACED_MAX } else { REPORTS_MAX });
        let mut flood = count.saturating_sub(PENDING_MAX);
        self.reports.retain(|known| {
            let is_forgotten = extra > 0 && (known.fate != Fate::Pending || flood > 0);
            extra -= usize::from(is_forgotten);
            flood -= usize::from(is_forgotten && flood > 0);
            !is_forgotten
        });
        self.forgotten += count - self.reports.len();
    }

    /// Notes that the agent's own words have followed all that was reported, but for what is in sight: it
    /// scrolled away before they came.
    pub(super) fn note_followed(&mut self, seen: &[Sighting]) {
        for known in &mut self.reports {
            let is_seen = seen.iter().any(|sighting| is_same(&known.sighting, sighting));
            known.sighting.is_followed |= !is_seen;
        }
    }
}
