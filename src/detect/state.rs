//! Which source is believed, and when.

use std::time::Duration;

use crate::model::{AgentState, Exit, Moment, Source};
use crate::report::{Report, ReportKind, Status};

use super::finding::Shown;
use super::look::Verdict;
use super::rules::Rules;
use super::signals::SignalClaim;

/// Between two frames, or two steps of a turn, a prompt may look free for this long.
const SETTLE_SCREEN: Duration = Duration::from_millis(600);
/// A program that reports its own state may flicker when it starts.
const SETTLE_SIGNAL: Duration = Duration::from_millis(150);
/// A screen that is drawn anew matches nothing for a moment.
const SETTLE_UNKNOWN: Duration = Duration::from_millis(1500);

/// Names the status that an agent reported, where others name a rule.
pub(super) const STATUS: &str = "report.status";

/// What a trusted source said: a report with a token, or a hook of the cli.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) source: Source,
    pub(super) state: AgentState,
    pub(super) rule: String,
    pub(super) line: String,
    pub(super) since: Moment,
}

/// All that the sources say right now.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) claim: Option<Claim>,
    /// The last status that the agent reported in this turn.
    pub(super) status: Option<Report>,
    pub(super) signal: Option<SignalClaim>,
    pub(super) verdict: Option<Verdict>,
    /// Since when the screen has said the same.
    pub(super) verdict_since: Moment,
    /// When something was last written.
    pub(super) output_at: Moment,
    pub(super) exit: Option<Exit>,
}

impl Evidence {
    /// Returns the state that the highest source which still holds gives.
    pub(super) fn resolve(&self, rules: &Rules, now: Moment) -> Option<Shown> {
        if let Some(exit) = self.exit {
            let line = exit.to_string();
            return Some(shown(AgentState::Exited, Source::Process, "process.exited", &line, now));
        }
        // A dialog in sight wants a person, and a program that starts anew takes nothing, whatever
        // was said before.
        let is_first = |state| matches!(state, AgentState::Waiting | AgentState::Starting);
        if let Some(verdict) = self.verdict_if(is_first) {
            return Some(Self::shown_by(verdict, now));
        }
        if let Some(claim) = self.claim.as_ref().filter(|claim| !self.is_stale(claim)) {
            return Some(shown(claim.state, claim.source, &claim.rule, &claim.line, now));
        }
        let turn = self.turn(rules, now)?;
        let has_ended = matches!(turn.state, AgentState::Idle | AgentState::Done);
        let is_error = turn.state == AgentState::Error;
        if !(has_ended || is_error) {
            return Some(turn);
        }
        if let Some(limited) = self.verdict_if(|state| state == AgentState::Limited) {
            return Some(Self::shown_by(limited, now));
        }
        if has_ended && let Some((state, line)) = self.reported() {
            return Some(shown(state, Source::Line, STATUS, line, now));
        }
        let error = self.verdict_if(|state| state == AgentState::Error).filter(|_| has_ended);
        Some(error.map_or(turn, |error| Self::shown_by(error, now)))
    }

    /// Returns how long the change must last before it is believed.
    pub(super) fn settle(&self, old: AgentState, new: &Shown, rules: &Rules) -> Duration {
        match new.state {
            AgentState::Waiting | AgentState::Working | AgentState::Exited => Duration::ZERO,
            AgentState::Starting | AgentState::Unknown => SETTLE_UNKNOWN,
            AgentState::Idle
            | AgentState::Done
            | AgentState::Blocked
            | AgentState::Error
            | AgentState::Limited => match old {
                AgentState::Working | AgentState::Waiting => self.settle_after_work(rules),
                AgentState::Starting
                | AgentState::Idle
                | AgentState::Blocked
                | AgentState::Done
                | AgentState::Error
                | AgentState::Limited
                | AgentState::Unknown
                | AgentState::Exited => Duration::ZERO,
            },
        }
    }

    fn settle_after_work(&self, rules: &Rules) -> Duration {
        let of_cli = rules.settle_ms.map(|settle| Duration::from_millis(u64::from(settle)));
        match &self.signal {
            Some(_) => SETTLE_SIGNAL,
            None => of_cli.unwrap_or(SETTLE_SCREEN),
        }
    }

    /// Returns what the turn does, from the program's own signal or else from the screen.
    fn turn(&self, rules: &Rules, now: Moment) -> Option<Shown> {
        if let Some(signal) = &self.signal {
            return Some(shown(signal.state, Source::Signal, &signal.rule, &signal.line, now));
        }
        if let Some(verdict) = &self.verdict {
            return Some(Self::shown_by(verdict, now));
        }
        let is_busy = rules.output_means_working && now.since(self.output_at) < SETTLE_UNKNOWN;
        is_busy.then(|| {
            let rule = format!("{}.output", rules.cli);
            shown(AgentState::Working, Source::Silence, &rule, "", now)
        })
    }

    /// Returns the state that the agent reported itself, and its words.
    pub(super) fn reported(&self) -> Option<(AgentState, &str)> {
        let report = self.status.as_ref()?;
        let ReportKind::Status(status) = report.kind else { return None };
        let state = match status {
            Status::Done => AgentState::Done,
            Status::Blocked => AgentState::Blocked,
            Status::Error => AgentState::Error,
        };
        Some((state, &report.raw))
    }

    fn shown_by(verdict: &Verdict, now: Moment) -> Shown {
        let reset = verdict.reset.clone();
        let shown = shown(verdict.state, Source::Screen, &verdict.rule, &verdict.line, now);
        Shown { reset, ..shown }
    }

    fn verdict_if(&self, is_wanted: impl Fn(AgentState) -> bool) -> Option<&Verdict> {
        self.verdict.as_ref().filter(|verdict| is_wanted(verdict.state))
    }

    /// A claim holds until the program shows something else.
    fn is_stale(&self, claim: &Claim) -> bool {
        let signal = self.signal.as_ref().map(|signal| signal.since);
        let screen = self.verdict.as_ref().map(|_| self.verdict_since);
        signal.or(screen).is_some_and(|since| since > claim.since)
    }
}

fn shown(state: AgentState, source: Source, rule: &str, line: &str, now: Moment) -> Shown {
    let (rule, line) = (rule.to_owned(), line.to_owned());
    Shown { state, source, rule, line, reset: None, since: now }
}
