//! What is known of the turn at hand, and what of a pane outlives its detector.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{AgentState, Moment, RulesFit, Source};

use super::awaited::Awaited;
use super::detector::{Detector, RESIZE_GRACE};
use super::ledger::Ledger;
use super::meter::Meter;
use super::reporter::Reporters;
use super::state::{Claim, Dropped, Told};
use super::transcript::Transcript;
use super::words::Words;

/// The last words of a turn may be drawn after its end is known: a busy machine lets a program that
/// tells its state beside the screen draw seconds later.
pub(super) const TURN_GRACE: Duration = Duration::from_secs(8);

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
    /// The prompt that it named.
    #[serde(skip)]
    pub(super) heard: Option<String>,
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

/// Returns a prompt as two of them are compared: a terminal wraps where it likes.
pub(super) fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
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
    #[serde(default)]
    words: Words,
    #[serde(default)]
    fit: RulesFit,
}

impl Detector {
    /// Notes the beginning of a turn as soon as work is seen, or a question about it.
    pub(super) fn watch_work(&mut self, now: Moment) {
        // A claim that was dropped must not come back from what was written down.
        if let Some(dropped) = self.evidence.drop_stale_claim(now) {
            self.changes += 1;
            self.fit.contradictions += u32::from(dropped == Dropped::Contradicted);
        }
        let resolved = self.evidence.resolve(&self.rules, now);
        // Output alone is no new turn for a program that has reported what became of its work.
        let is_output = resolved.as_ref().is_some_and(|shown| shown.source == Source::Silence);
        let wanted = resolved.map(|wanted| wanted.state);
        let begins = match self.shown.state {
            AgentState::Working | AgentState::Waiting => {
                !self.turn.is_open && wanted == Some(AgentState::Working)
            }
            AgentState::Starting | AgentState::Unknown | AgentState::Exited => {
                wanted == Some(AgentState::Working)
            }
            AgentState::Idle
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited => {
                matches!(wanted, Some(AgentState::Working | AgentState::Waiting))
            }
        };
        // A hook may be ahead of the terminal: then the work on what it told of is seen only now.
        let is_ahead = match self.turn.progress {
            Progress::ToldAhead(at) => begins && now.since(at) < TURN_GRACE,
            Progress::Unseen | Progress::Seen => false,
        };
        if is_ahead || self.evidence.display_is_busy() {
            self.turn.progress = Progress::Seen;
        }
        if is_ahead {
            (self.turn.is_open, self.turn.open_until) = (true, now + TURN_GRACE);
        } else if begins {
            self.begin_turn(true, now);
            let is_kept = |told: &Told| is_output && told.source != Source::Line;
            if self.turn.status_was_shown && !self.evidence.status.as_ref().is_some_and(is_kept) {
                self.evidence.status = None;
                self.turn.status_was_shown = false;
            }
        }
    }

    /// Opens a turn; the echo of its prompt is still to come, unless it was seen already.
    pub(super) fn begin_turn(&mut self, awaits_echo: bool, now: Moment) {
        self.changes += 1;
        self.turn.is_open = true;
        self.turn.open_until = now + TURN_GRACE;
        self.turn.message = None;
        self.resized_at = self.resized_at.filter(|at| now.since(*at) < RESIZE_GRACE);
        self.turn.is_compacted = false;
        self.meter.turn_began(&self.rules);
        // Without rules, what looks like work is no proof of another prompt.
        let is_certain = !self.rules.is_general || !self.transcript.knows_prompts();
        if awaits_echo && is_certain {
            self.transcript.turn_began();
        }
    }

    pub(super) fn end_turn(&mut self, before: AgentState, now: Moment) {
        let was_busy = matches!(before, AgentState::Working | AgentState::Waiting);
        if was_busy && self.shown.state != AgentState::Waiting && self.turn.is_open {
            self.changes += 1;
            self.fit.turns += 1;
            self.fit.composers += u32::from(self.general.is_foreign());
            self.turn.is_open = false;
            self.turn.open_until = now + TURN_GRACE;
            self.transcript.turn_ended();
            self.ledger.note_end();
        }
    }

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
            words: self.words.clone(),
            fit: self.fit,
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
        self.words.recall(memory.words);
        self.fit = memory.fit;
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
