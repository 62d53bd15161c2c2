//! A turn that the hub has asked for: that it is over is told, though nobody saw it at work.
//!
//! A short turn begins and ends between two looks. What the agent does is then what it did before,
//! and no change of state says that it may get its next prompt.

use crate::model::{HookMeaning, Moment};
use crate::screen::Signal;

use super::detector::Detector;
use super::finding::Finding;
use super::hook::HookNews;
use super::state::{Stance, is_at_work, stance_of};

/// A turn of which neither the work nor the end was seen yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Awaited {
    /// When its prompt was submitted.
    since: Moment,
    /// The program said that it works.
    was_at_work: bool,
    /// Since when all that is known says that it is over.
    over_since: Option<Moment>,
}

impl Awaited {
    pub(super) fn new(now: Moment) -> Self {
        Self { since: now, was_at_work: false, over_since: None }
    }

    pub(super) fn since(self) -> Moment {
        self.since
    }
}

impl Detector {
    /// Says whether a prompt was submitted, and neither the work on it nor its end was seen yet.
    pub fn awaits_turn(&self) -> bool {
        self.turn.awaited.is_some()
    }

    /// Takes a signal, and says whether it was one about the state.
    pub(super) fn take_signal(&mut self, signal: &Signal, now: Moment) -> bool {
        if !self.options.uses_signals {
            return false;
        }
        let is_about_state = self.signals.take(signal, &self.rules, now);
        let claim = self.signals.claim(self.evidence.is_recognised());
        let is_working = claim.is_some_and(|claim| is_at_work(claim.state));
        if let Some(awaited) = &mut self.turn.awaited {
            awaited.was_at_work |= is_about_state && is_working;
        }
        self.general.note_signal(signal, now) || is_about_state
    }

    /// Tells that the awaited turn is over, if a hook says so of this very turn: those of the turn
    /// before may come late.
    pub(super) fn heed_end(&mut self, news: &HookNews, findings: &mut Vec<Finding>) {
        let is_end = match news.meaning {
            HookMeaning::Ended | HookMeaning::Failed | HookMeaning::Message => true,
            HookMeaning::Session
            | HookMeaning::Prompt
            | HookMeaning::Asks
            | HookMeaning::Compacted => false,
        };
        let Some(awaited) = self.turn.awaited.filter(|_| is_end) else { return };
        if self.is_of_awaited(awaited, news) {
            self.turn.awaited = None;
            findings.push(Finding::TurnEnded);
        }
    }

    /// Says whether a hook tells of a turn before the one that is awaited. One that names no prompt,
    /// of a cli that never told that it took one, may tell of either.
    pub(super) fn is_of_earlier_turn(&self, news: &HookNews) -> bool {
        let names_turns = news.prompt.is_some() || self.turn.heard_at.is_some();
        let is_earlier = |awaited| names_turns && !self.is_of_awaited(awaited, news);
        self.turn.awaited.is_some_and(is_earlier)
    }

    /// Says whether a hook surely tells of the awaited turn.
    fn is_of_awaited(&self, awaited: Awaited, news: &HookNews) -> bool {
        let was_taken = self.turn.heard_at.is_some_and(|at| at >= awaited.since);
        was_taken || news.prompt.as_ref().is_some_and(|prompt| self.is_own_prompt(prompt))
    }

    /// Tells that the awaited turn is over, if the program has said that it works and does no more, or
    /// if its answer stands below the prompt, and that has lasted.
    pub(super) fn watch_awaited(&mut self, now: Moment, findings: &mut Vec<Finding>) {
        let is_over = stance_of(self.shown.state) == Some(Stance::Ended)
            && self.has_settled()
            && !self.evidence.shows_work();
        let is_answered = self.transcript.is_answered(self.ledger.turn(), &self.turn.prompt);
        let Some(awaited) = &mut self.turn.awaited else { return };
        if !is_over || !(awaited.was_at_work || is_answered) {
            awaited.over_since = None;
            return;
        }
        awaited.over_since.get_or_insert(now);
        if self.awaited_deadline().is_some_and(|at| at <= now) {
            self.turn.awaited = None;
            findings.push(Finding::TurnEnded);
        }
    }

    /// Returns when the end of the awaited turn has lasted.
    pub(super) fn awaited_deadline(&self) -> Option<Moment> {
        let since = self.turn.awaited?.over_since?;
        Some(since.max(self.evidence.output_at) + self.evidence.settle_after_work(&self.rules))
    }
}
