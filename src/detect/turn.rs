//! What is known of the turn at hand, and what of a pane outlives its detector.

use serde::{Deserialize, Serialize};

use crate::model::{AgentState, Moment};

use super::awaited::Awaited;
use super::detector::Detector;
use super::ledger::Ledger;
use super::meter::Meter;
use super::reporter::Reporters;
use super::state::{Claim, Told};
use super::transcript::Transcript;

/// What is known of the turn at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    /// A prompt was submitted, or the agent was seen at work.
    pub(super) is_open: bool,
    /// Until when its last words may still come.
    pub(super) open_until: Moment,
    #[serde(default)]
    pub(super) progress: Progress,
    /// The status of the turn has been shown as the agent's state.
    pub(super) status_was_shown: bool,
    /// The prompt as it was submitted, without blanks.
    pub(super) prompt: String,
    /// The tag that counts.
    pub(super) tag: Option<String>,
    /// It was asked for, and nobody has seen anything of it yet.
    #[serde(skip)]
    pub(super) awaited: Option<Awaited>,
    /// When a hook last told that a prompt was taken.
    #[serde(skip)]
    pub(super) heard_at: Option<Moment>,
    /// The last message that a hook handed over: some clis hand it over more than once.
    pub(super) message: Option<String>,
    /// It was told that the conversation was compacted in this turn.
    #[serde(default)]
    pub(super) is_compacted: bool,
}

/// What the program itself, by a signal or on its screen, has shown of the work on the last prompt that
/// was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Progress {
    #[default]
    Unseen,
    /// Nothing, when a hook told what became of it.
    ToldAhead(Moment),
    Seen,
}

/// What outlives the detector: which reports of a conversation were told, and how far it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    transcript: Transcript,
    ledger: Ledger,
    turn: Turn,
    status: Option<Told>,
    state: AgentState,
    #[serde(default)]
    meter: Meter,
    /// What a hook or a reporter last said.
    #[serde(default)]
    claim: Option<Claim>,
    #[serde(default)]
    reporters: Reporters,
}

impl Detector {
    /// Returns what a new detector of the same pane needs so as to tell nothing twice.
    pub fn memory(&self) -> Memory {
        Memory {
            transcript: self.transcript.clone(),
            ledger: self.ledger.clone(),
            turn: self.turn.clone(),
            status: self.evidence.status.clone(),
            state: self.shown.state,
            meter: self.meter.clone(),
            claim: self.evidence.claim.clone(),
            reporters: self.reporters.clone(),
        }
    }

    /// Goes on where another detector of the same pane ended.
    pub fn remember(&mut self, memory: Memory) {
        self.transcript = memory.transcript;
        self.ledger = memory.ledger;
        self.turn = memory.turn;
        self.evidence.status = memory.status;
        self.shown.state = memory.state;
        self.meter = memory.meter;
        self.reporters = memory.reporters;
        // A clock that was set back would let a claim outlive what contradicts it.
        let begun = self.shown.since;
        let known = |claim: Claim| Claim { since: claim.since.min(begun), ..claim };
        self.evidence.claim = memory.claim.map(known);
        self.is_news = true;
    }

    /// Returns a number that grows whenever the memory holds something that must not be lost.
    pub fn changes(&self) -> u64 {
        self.changes + self.transcript.changes()
    }
}
