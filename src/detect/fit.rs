//! Counts what shows that the rules of a cli do not fit the version of it that runs.
//!
//! Rules were recorded with some versions. Others draw otherwise, and nothing tells by itself that a screen is
//! misread. But what one source says can be held against another, and against what a person does.

use std::time::Duration;

use crate::model::{AgentState, Moment, RulesFit, Source};

use super::detector::Detector;
use super::finding::Shown;

/// A screen that nobody could read for so long was no half of a frame.
const UNKNOWN_LONG: Duration = Duration::from_secs(10);
/// A dialog that the cli tells of is drawn by then.
const DIALOG_DRAWN: Duration = Duration::from_secs(2);
/// A prompt is seen to be taken by then, if the screen can be read.
const PROMPT_SEEN: Duration = Duration::from_secs(10);
/// Work that draws nothing for so long is no work.
const STILL: Duration = Duration::from_secs(3);
/// What a key brings about is drawn by then.
const ANSWERED: Duration = Duration::from_secs(2);
/// What was typed so recently may be what Enter submits.
const TYPED: Duration = Duration::from_mins(1);

/// Takes a state that is shown no longer.
pub(super) fn note_past(fit: &mut RulesFit, past: &Shown, knows_all: bool, now: Moment) {
    let lasted = now.since(past.since);
    let is_told = matches!(past.source, Source::Hook | Source::Signal);
    match past.state {
        AgentState::Unknown if knows_all && lasted >= UNKNOWN_LONG => fit.unknown += 1,
        AgentState::Waiting if knows_all && is_told && lasted >= DIALOG_DRAWN => fit.dialogs += 1,
        AgentState::Unknown
        | AgentState::Waiting
        | AgentState::Starting
        | AgentState::Idle
        | AgentState::Working
        | AgentState::Blocked
        | AgentState::Done
        | AgentState::Error
        | AgentState::Limited
        | AgentState::Exited => {}
    }
}

/// Takes a prompt that was asked for at this time, and that another one follows.
pub(super) fn note_unseen_prompt(fit: &mut RulesFit, since: Moment, now: Moment) {
    fit.prompts += u32::from(now.since(since) >= PROMPT_SEEN);
}

impl Detector {
    /// Notes that a person typed into the pane, and whether that was Enter and nothing else.
    pub fn note_typing(&mut self, is_enter: bool, now: Moment) {
        self.answers.note_typing(is_enter, &self.shown, self.evidence.output_at, now);
    }

    /// Returns how often the screen was seen to be misread.
    pub fn fit(&self) -> RulesFit {
        self.fit
    }
}

/// Sees dialogs that were answered by a person while the screen was read as work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answers {
    /// When Enter was pressed on a screen that stood still.
    key_at: Option<Moment>,
    /// When something else was typed: Enter submits that.
    typed_at: Option<Moment>,
}

impl Answers {
    fn note_typing(&mut self, is_enter: bool, shown: &Shown, output_at: Moment, now: Moment) {
        if !is_enter {
            (self.key_at, self.typed_at) = (None, Some(now));
            return;
        }
        let submits = self.typed_at.take().is_some_and(|at| now.since(at) < TYPED);
        let is_by_screen = matches!(shown.source, Source::Screen | Source::Silence);
        let is_still = now.since(output_at) >= STILL && now.since(shown.since) >= STILL;
        let is_doubtful = shown.state == AgentState::Working && is_by_screen && is_still;
        self.key_at = (is_doubtful && !submits).then_some(now);
    }

    /// Says whether what is drawn now answers the key.
    pub(super) fn take(&mut self, now: Moment) -> bool {
        self.key_at.take().is_some_and(|at| now.since(at) < ANSWERED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(state: AgentState, source: Source) -> Shown {
        let (rule, line) = (String::new(), String::new());
        Shown { state, source, rule, line, reset: None, since: Moment(0) }
    }

    #[test]
    fn what_lasts_and_what_is_told_beside_the_screen_are_signs() {
        let mut fit = RulesFit::default();
        let unknown = shown(AgentState::Unknown, Source::Silence);
        note_past(&mut fit, &unknown, true, Moment(3000));
        note_past(&mut fit, &unknown, false, Moment(60_000));
        note_past(&mut fit, &shown(AgentState::Waiting, Source::Screen), true, Moment(60_000));
        note_past(&mut fit, &shown(AgentState::Waiting, Source::Hook), true, Moment(900));
        assert_eq!(fit, RulesFit::default());
        note_past(&mut fit, &unknown, true, Moment(12_000));
        note_past(&mut fit, &shown(AgentState::Waiting, Source::Hook), true, Moment(60_000));
        assert_eq!((fit.unknown, fit.dialogs), (1, 1));
    }

    #[test]
    fn a_key_that_moves_what_stood_still_as_work_answers_a_dialog() {
        let working = shown(AgentState::Working, Source::Screen);
        let mut answers = Answers::default();
        answers.note_typing(true, &working, Moment(9500), Moment(10_000));
        assert!(!answers.take(Moment(10_100)), "it moved by itself");
        answers.note_typing(true, &working, Moment(5000), Moment(10_000));
        assert!(answers.take(Moment(10_100)));
        assert!(!answers.take(Moment(10_200)), "once");
        answers.note_typing(false, &working, Moment(5000), Moment(10_000));
        answers.note_typing(true, &working, Moment(5000), Moment(12_000));
        assert!(!answers.take(Moment(12_100)), "it submits what was typed");
        answers.note_typing(
            true,
            &shown(AgentState::Idle, Source::Screen),
            Moment(0),
            Moment(10_000),
        );
        assert!(!answers.take(Moment(10_100)));
    }
}
