//! Names what is to be done in a pane and how far a prompt or an answer has come, and remembers which stages were told.

use crate::model;

/// One thing to do; a list of them is carried out in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaneAction {
    /// Types bytes into the pane.
    Write(Vec<u8>),
    /// Records how far it has come, before what follows it is done.
    Stage(DeliveryStage),
}

/// How far it has come, or how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryStage {
    /// Its first byte is about to be typed. Until this is on record, nothing was.
    Typed {
        /// Characters of the text that could have pressed keys, and were left out.
        left_out: usize,
    },
    /// The screen shows it.
    Seen,
    /// The key that submits it is about to be pressed. Until this is on record, it was not.
    Submitted,
    /// The agent has taken it.
    Accepted { evidence: String },
    /// Nothing was typed.
    Refused { reason: String },
    /// It was typed and did not come through; the reason tells where it stands now.
    Stalled { reason: String },
    /// Nobody can tell from the screen.
    Unknown { reason: String },
}

impl DeliveryStage {
    /// Says whether keys follow it that may be pressed only once it is on record.
    pub fn awaits_record(&self) -> bool {
        matches!(self, Self::Typed { .. } | Self::Submitted)
    }

    /// Says whether nothing follows.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Typed { .. } | Self::Seen | Self::Submitted => false,
            Self::Accepted { .. }
            | Self::Refused { .. }
            | Self::Stalled { .. }
            | Self::Unknown { .. } => true,
        }
    }

    /// Returns what a receipt says of it.
    pub fn into_receipt(self) -> (model::Stage, Option<String>) {
        match self {
            Self::Typed { left_out: 0 } => (model::Stage::Typed, None),
            Self::Typed { left_out } => {
                let words = "control characters were left out";
                (model::Stage::Typed, Some(format!("{left_out} {words}")))
            }
            Self::Seen => (model::Stage::Seen, None),
            Self::Submitted => (model::Stage::Submitted, None),
            Self::Accepted { evidence } => (model::Stage::Accepted, Some(evidence)),
            Self::Refused { reason } => (model::Stage::Refused, Some(reason)),
            Self::Stalled { reason } => (model::Stage::Stalled, Some(reason)),
            Self::Unknown { reason } => (model::Stage::Unknown, Some(reason)),
        }
    }
}

/// How far a prompt has come; no stage is told twice.
#[derive(Debug, Default)]
pub(super) struct StageRecord {
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

impl StageRecord {
    /// Tells a stage, and says whether that is news.
    pub(super) fn tell(&mut self, stage: DeliveryStage, acts: &mut Vec<PaneAction>) -> bool {
        let told = match stage {
            DeliveryStage::Typed { .. } => Told::Typed,
            DeliveryStage::Seen => Told::Seen,
            DeliveryStage::Submitted => Told::Submitted,
            DeliveryStage::Accepted { .. }
            | DeliveryStage::Refused { .. }
            | DeliveryStage::Stalled { .. }
            | DeliveryStage::Unknown { .. } => unreachable!("an end is told once, by whoever ends"),
        };
        let is_news = told > self.told;
        if is_news {
            self.told = told;
            self.awaits_record = stage.awaits_record();
            acts.push(PaneAction::Stage(stage));
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
