//! Which stages of a prompt were told, and whether the record has the last of them.

use super::act::{Act, Stage};

/// How far a prompt has come; no stage is told twice.
#[derive(Debug, Default)]
pub(super) struct Progress {
    told: Told,
    awaits_record: bool,
}

/// The last stage that was told, in the order in which they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    #[default]
    Nothing,
    Typed,
    Seen,
    Submitted,
}

impl Progress {
    /// Tells a stage, and says whether that is news.
    pub(super) fn tell(&mut self, stage: Stage, acts: &mut Vec<Act>) -> bool {
        let told = match stage {
            Stage::Typed { .. } => Told::Typed,
            Stage::Seen => Told::Seen,
            Stage::Submitted => Told::Submitted,
            Stage::Accepted { .. }
            | Stage::Refused { .. }
            | Stage::Stalled { .. }
            | Stage::Unknown { .. } => unreachable!("an end is told once, by whoever ends"),
        };
        let is_news = told > self.told;
        if is_news {
            self.told = told;
            self.awaits_record = stage.awaits_record();
            acts.push(Act::Stage(stage));
        }
        is_news
    }

    /// Says whether no key may be pressed yet.
    pub(super) fn awaits_record(&self) -> bool {
        self.awaits_record
    }

    pub(super) fn note_recorded(&mut self) {
        self.awaits_record = false;
    }
}
