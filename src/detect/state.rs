//! Which source is believed, and when.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::{AgentState, DialogKind, Exit, Moment, Source};
use crate::protocol::{Report, ReportKind, Status};

use super::finding::Shown;
use super::general::{BELL, ERROR, STREAM};
use super::look::Verdict;
use super::rules::Rules;
use super::signals::SignalClaim;

/// Between two frames, or two steps of a turn, a prompt may look free for this long.
const SETTLE_SCREEN: Duration = Duration::from_millis(600);
/// A program that reports its own state may flicker when it starts.
const SETTLE_SIGNAL: Duration = Duration::from_millis(150);
/// A program that says that its turn is over, and whose screen still shows work, has its last words yet
/// to draw. Who is told of the end before may go on without them.
const SETTLE_DRAWING: Duration = Duration::from_secs(3);
/// A program that says it is ready has drawn its prompt by then; else its prompt is one that no rule
/// knows.
const SETTLE_START: Duration = Duration::from_secs(10);
/// A program that was just trusted may show its prompt, end, and start itself anew.
const SETTLE_ANEW: Duration = Duration::from_secs(3);
/// A screen that is drawn anew matches nothing for a moment.
const SETTLE_UNKNOWN: Duration = Duration::from_millis(1500);

/// A claim that the program's own display contradicts for this long was wrong, or is over: a prompt
/// may be taken back before anything is drawn, and a hook may send the agent on.
const CLAIM_PATIENCE: Duration = Duration::from_secs(5);

/// Names the status that an agent reported, where others name a rule.
pub(super) const STATUS: &str = "report.status";

/// What a hook of the cli said of the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    pub(super) source: Source,
    pub(super) state: AgentState,
    pub(super) rule: String,
    pub(super) line: String,
    pub(super) since: Moment,
}

/// A status that the agent reported, and which way it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) report: Report,
    pub(super) source: Source,
}

/// Why a claim counts no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dropped {
    /// The program has shown something else since.
    Overtaken,
    /// The program went on to show something else.
    Contradicted,
}

/// What a state says of the turn; only these can contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stance {
    Busy,
    Asking,
    Ended,
}

/// All that the sources say right now.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) claim: Option<Claim>,
    /// The last status that the agent reported in this turn.
    pub(super) status: Option<Told>,
    pub(super) signal: Option<SignalClaim>,
    pub(super) verdict: Option<Verdict>,
    /// What the last dialog in sight wanted.
    pub(super) asked: Option<DialogKind>,
    /// Since when the screen has said the same of the turn.
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
        let is_certain = |verdict: &&Verdict| verdict.rule != BELL;
        if let Some(verdict) = self.verdict_if(is_first).filter(is_certain) {
            return Some(Self::shown_by(verdict, now));
        }
        let Some(turn) = self.turn(rules, now) else {
            // Nothing shows what the program does: then its own word is the best there is.
            let told = self.reported().filter(|told| told.1 != Source::Line)?;
            return Some(shown(told.0, told.1, STATUS, told.2, now));
        };
        // What looks like an error to those who know no rule, or a bell, does not go before a report.
        let is_doubtful = turn.rule == ERROR || turn.rule == BELL && self.reported().is_some();
        let has_ended = matches!(turn.state, AgentState::Idle | AgentState::Done) || is_doubtful;
        let is_error = turn.state == AgentState::Error;
        if !(has_ended || is_error) {
            return Some(turn);
        }
        if let Some(limited) = self.verdict_if(|state| state == AgentState::Limited) {
            return Some(Self::shown_by(limited, now));
        }
        if has_ended && let Some((state, source, line)) = self.reported() {
            return Some(shown(state, source, STATUS, line, now));
        }
        // A program that tells its status tells of its errors, too.
        let tells = self.signal.as_ref().is_some_and(SignalClaim::is_status);
        let may_fail = has_ended && !tells;
        let error = self.verdict_if(|state| state == AgentState::Error).filter(|_| may_fail);
        Some(error.map_or(turn, |error| Self::shown_by(error, now)))
    }

    /// Returns how long the change must last before it is believed.
    pub(super) fn settle(&self, old: &Shown, new: &Shown, rules: &Rules) -> Duration {
        // A hook tells what has happened, not what it looks like.
        if new.source == Source::Hook {
            return Duration::ZERO;
        }
        match new.state {
            AgentState::Waiting | AgentState::Working | AgentState::Exited => Duration::ZERO,
            AgentState::Starting | AgentState::Unknown => SETTLE_UNKNOWN,
            AgentState::Idle
            | AgentState::Done
            | AgentState::Blocked
            | AgentState::Error
            | AgentState::Limited => match old.state {
                AgentState::Waiting
                    if rules.starts_anew && self.asked == Some(DialogKind::Trust) =>
                {
                    SETTLE_ANEW
                }
                AgentState::Working | AgentState::Waiting => self.settle_after_work(rules),
                // Of a program that nobody knows, a line that looks like a prompt may be the
                // beginning of more.
                AgentState::Unknown if rules.output_means_working => self.settle_after_work(rules),
                // Its title may say so before it draws anything.
                AgentState::Starting if rules.composer.is_some() && !self.is_recognised() => {
                    SETTLE_START
                }
                // It is not its first start: what is in sight may be left of the last one.
                AgentState::Starting if rules.starts_anew && old.source != Source::Process => {
                    SETTLE_ANEW
                }
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

    /// Says whether a rule tells what the screen means.
    pub(super) fn is_recognised(&self) -> bool {
        self.verdict_if(|state| state != AgentState::Unknown).is_some()
    }

    /// Says whether the screen shows that the program starts.
    pub(super) fn shows_start(&self) -> bool {
        self.verdict_if(|state| state == AgentState::Starting).is_some()
    }

    /// Says whether the screen shows the agent at work, whatever else is known.
    pub(super) fn shows_work(&self) -> bool {
        self.verdict_if(|state| stance_of(state) == Some(Stance::Busy)).is_some()
    }

    /// Says whether the program itself shows that it is at work, by its signal or else its screen.
    pub(super) fn display_is_busy(&self) -> bool {
        self.display().is_some_and(|(stance, _)| stance == Stance::Busy)
    }

    pub(super) fn settle_after_work(&self, rules: &Rules) -> Duration {
        let of_cli = rules.settle_ms.map(|settle| Duration::from_millis(u64::from(settle)));
        match &self.signal {
            Some(_) if self.shows_work() => SETTLE_DRAWING,
            Some(_) => SETTLE_SIGNAL,
            None => of_cli.unwrap_or(SETTLE_SCREEN),
        }
    }

    /// Returns what the turn does, from a hook, the program's own signal or else the screen.
    fn turn(&self, rules: &Rules, now: Moment) -> Option<Shown> {
        if let Some(claim) = &self.claim {
            return Some(shown(claim.state, claim.source, &claim.rule, &claim.line, now));
        }
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

    /// Returns the state that the agent reported itself, which way, and its words.
    pub(super) fn reported(&self) -> Option<(AgentState, Source, &str)> {
        let told = self.status.as_ref()?;
        let ReportKind::Status(status) = told.report.kind else { return None };
        let state = match status {
            Status::Done => AgentState::Done,
            Status::Blocked => AgentState::Blocked,
            Status::Error => AgentState::Error,
        };
        Some((state, told.source, &told.report.raw))
    }

    fn shown_by(verdict: &Verdict, now: Moment) -> Shown {
        let reset = verdict.reset.clone();
        let shown = shown(verdict.state, Source::Screen, &verdict.rule, &verdict.line, now);
        Shown { reset, ..shown }
    }

    fn verdict_if(&self, is_wanted: impl Fn(AgentState) -> bool) -> Option<&Verdict> {
        self.verdict.as_ref().filter(|verdict| is_wanted(verdict.state))
    }

    /// Drops a claim that no longer holds, and says why if there was one: the program shows something
    /// else since, or has shown something else for too long.
    pub(super) fn drop_stale_claim(&mut self, now: Moment) -> Option<Dropped> {
        let (claim, since) = self.contradicted()?;
        let dropped = if since > claim.since {
            Dropped::Overtaken
        } else if now >= claim.since + CLAIM_PATIENCE {
            Dropped::Contradicted
        } else {
            return None;
        };
        self.claim = None;
        Some(dropped)
    }

    /// Returns when a claim that the program contradicts is dropped.
    pub(super) fn claim_deadline(&self) -> Option<Moment> {
        self.contradicted().map(|(claim, _)| claim.since + CLAIM_PATIENCE)
    }

    /// Returns the claim, and since when the program shows something else, if it does.
    fn contradicted(&self) -> Option<(&Claim, Moment)> {
        let claim = self.claim.as_ref()?;
        let (stance, since) = self.display()?;
        (stance_of(claim.state)? != stance).then_some((claim, since))
    }

    /// Returns what the program itself shows of the turn, and since when.
    fn display(&self) -> Option<(Stance, Moment)> {
        // Last words are drawn after a hook has told of the end: they contradict it only if they go on.
        let since =
            |rule: &str| if rule == STREAM { Moment::default() } else { self.verdict_since };
        let screen = self.verdict.as_ref().map(|verdict| (verdict.state, since(&verdict.rule)));
        let dialog = screen.filter(|(state, _)| *state == AgentState::Waiting);
        let signal = self.signal.as_ref().map(|signal| (signal.state, signal.since));
        let (state, since) = dialog.or(signal).or(screen)?;
        Some((stance_of(state)?, since))
    }
}

/// Says whether a state means that a turn is under way.
pub(super) fn is_at_work(state: AgentState) -> bool {
    matches!(stance_of(state), Some(Stance::Busy | Stance::Asking))
}

/// Returns what a state says of the turn; nothing, if it says that this is not known.
pub(super) fn stance_of(state: AgentState) -> Option<Stance> {
    match state {
        AgentState::Starting | AgentState::Working => Some(Stance::Busy),
        AgentState::Waiting => Some(Stance::Asking),
        AgentState::Idle
        | AgentState::Blocked
        | AgentState::Done
        | AgentState::Error
        | AgentState::Limited => Some(Stance::Ended),
        AgentState::Unknown | AgentState::Exited => None,
    }
}

fn shown(state: AgentState, source: Source, rule: &str, line: &str, now: Moment) -> Shown {
    let (rule, line) = (rule.to_owned(), line.to_owned());
    Shown { state, source, rule, line, reset: None, since: now }
}
