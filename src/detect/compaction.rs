//! Notices that a cli has compacted its conversation, on the screen or by a hook.

use crate::model::Region;

use super::detector::Detector;
use super::finding::Finding;
use super::view::View;

impl Detector {
    /// Says whether a sign of a compaction has come into sight.
    pub(super) fn sees_compaction(&mut self, view: &View) -> bool {
        let Some(pattern) = &self.rules.compacted else { return false };
        let is_there = view.region(Region::Tail).is_some_and(|text| pattern.is_match(text));
        let was_there = std::mem::replace(&mut self.shows_compaction, is_there);
        is_there && !was_there
    }

    /// Tells of a compaction once in a turn, whichever way it was noticed.
    pub(super) fn note_compaction(&mut self) -> Option<Finding> {
        let is_told = std::mem::replace(&mut self.turn.is_compacted, true);
        self.changes += u64::from(!is_told);
        (!is_told).then_some(Finding::Compacted)
    }
}
