//! What the program says beside the screen: its status, its title, its progress.

use std::time::Duration;

use crate::model::{AgentState, DialogKind, Moment};
use crate::screen::{Progress, Signal};

use super::motion::is_strong;
use super::rules::Rules;
use super::stream::StreamNews;

/// What is drawn this soon after a notification belongs to what it tells of.
const NOTIFICATION_GRACE: Duration = Duration::from_secs(2);

/// Names the program's own status.
const STATUS_RULE: &str = "osc7501";

/// What is shown of a notification in an explanation.
const LINE_CHARS_MAX: usize = 120;

/// Words of a notification that says that a turn is over.
const ENDS: &[&str] =
    &["waiting for your input", "complete", "finished", "all done", "is done", "ready for"];

/// Words of a notification that wants a person.
const ASKS: &[&str] = &[
    "approv",
    "permission",
    "confirm",
    "needs you",
    "needs input",
    "needs attention",
    "input required",
    "action required",
    "question",
    "waiting for you",
    "wants to",
];

/// What a signal says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignalClaim {
    pub(super) state: AgentState,
    pub(super) kind: Option<DialogKind>,
    pub(super) rule: String,
    pub(super) line: String,
    pub(super) since: Moment,
}

impl SignalClaim {
    /// Says whether it is the program's own status.
    pub(super) fn is_status(&self) -> bool {
        self.rule == STATUS_RULE
    }
}

/// The last word of each kind of signal.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The events of the cli's own server. They are a signal like the others and no claim: they
    /// come for as long as the program lives, and nobody proves with a token who sends them.
    stream: Option<SignalClaim>,
    status: Option<SignalClaim>,
    title: Option<SignalClaim>,
    progress: Option<SignalClaim>,
    /// The end of progress, a pause in it, or a notification. Each tells of one moment and not of all
    /// that follow: they count where no rule knows the screen, and until something else is drawn.
    moment: Option<SignalClaim>,
}

impl Signals {
    /// Returns what holds: the program's own status before its title, its title before its
    /// progress.
    pub(super) fn claim(&self, is_screen_known: bool) -> Option<&SignalClaim> {
        let moment = if is_screen_known { &None } else { &self.moment };
        let known = [&self.stream, &self.status, &self.title, &self.progress, moment];
        known.into_iter().find_map(Option::as_ref)
    }

    /// Drops what told of one moment: nobody knows what was drawn since.
    pub(super) fn forget_moment(&mut self) {
        self.moment = None;
    }

    /// Notes that the program has drawn something.
    pub(super) fn note_output(&mut self, now: Moment) {
        let is_over = |claim: &SignalClaim| now.since(claim.since) > NOTIFICATION_GRACE;
        if self.moment.as_ref().is_some_and(is_over) {
            self.moment = None;
        }
    }

    /// Takes what an event said; nothing, if the events no longer come.
    pub(super) fn take_stream(&mut self, news: Option<&StreamNews>, rules: &Rules, now: Moment) {
        let claim = news.map(|news| SignalClaim {
            state: news.state,
            kind: news.kind,
            rule: format!("{}.event", rules.cli),
            line: news.line.clone(),
            since: now,
        });
        replace(&mut self.stream, claim);
    }

    /// Says whether the signal was one about the state.
    pub(super) fn take(&mut self, signal: &Signal, rules: &Rules, now: Moment) -> bool {
        match signal {
            Signal::ProgramStatus(text) => {
                let claim = read_status(text, now);
                replace(&mut self.status, claim);
            }
            Signal::Title(title) => {
                let found = rules.titles.iter().find(|(pattern, _)| pattern.is_match(title));
                // A title that no rule knows tells of work alone: its end may be a dialog as well.
                let turns = rules.titles.is_empty() && title.trim_start().starts_with(is_strong);
                let found = found.map(|(_, state)| *state);
                let state = found.or(turns.then_some(AgentState::Working));
                let claim = state.map(|state| SignalClaim {
                    state,
                    kind: None,
                    rule: format!("{}.title", rules.cli),
                    line: title.trim().to_owned(),
                    since: now,
                });
                replace(&mut self.title, claim);
            }
            Signal::Progress(progress) => self.take_progress(*progress, now),
            Signal::Notification { title, body } => {
                let Some(claim) = read_notification(title.as_deref(), body, now) else {
                    return false;
                };
                self.moment = Some(claim);
            }
            Signal::IconName(_)
            | Signal::Bell
            | Signal::Directory(_)
            | Signal::ShellMark(_)
            | Signal::Clipboard(_) => return false,
        }
        true
    }
}

impl Signals {
    fn take_progress(&mut self, progress: Progress, now: Moment) {
        let claim = |state| SignalClaim {
            state,
            kind: None,
            rule: "osc9.progress".into(),
            line: format!("{progress:?}"),
            since: now,
        };
        let was_under_way = self.progress.is_some();
        let (lasting, passing) = match progress {
            Progress::Percent(_) | Progress::Indeterminate => (Some(AgentState::Working), None),
            Progress::Error(_) => (Some(AgentState::Error), None),
            Progress::Paused(_) => (None, Some(AgentState::Waiting)),
            // Programs clear a progress that they never showed when they start.
            Progress::None => (None, was_under_way.then_some(AgentState::Idle)),
        };
        replace(&mut self.progress, lasting.map(claim));
        if lasting.is_some() || passing.is_some() {
            self.moment = passing.map(claim);
        }
    }
}

/// Reads what a notification says of the turn; nothing, if its words do not tell.
fn read_notification(title: Option<&str>, body: &str, now: Moment) -> Option<SignalClaim> {
    let text = format!("{}: {body}", title.unwrap_or_default()).to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let state = if has(ENDS) {
        AgentState::Idle
    } else if has(ASKS) {
        AgentState::Waiting
    } else {
        return None;
    };
    let line = [title.unwrap_or_default(), body].join(" ").trim().to_owned();
    let line = line.chars().take(LINE_CHARS_MAX).collect();
    Some(SignalClaim { state, kind: None, rule: "osc.notification".to_owned(), line, since: now })
}

/// Keeps the time at which the state was first said.
fn replace(slot: &mut Option<SignalClaim>, mut claim: Option<SignalClaim>) {
    if let (Some(old), Some(new)) = (&slot, &mut claim)
        && old.state == new.state
        && old.kind == new.kind
    {
        new.since = old.since;
    }
    *slot = claim;
}

/// Reads `state=blocked:app=codex:kind=permission`.
fn read_status(text: &str, now: Moment) -> Option<SignalClaim> {
    let field =
        |name: &str| text.split(':').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    let kind = match field("kind") {
        Some("permission") => Some(DialogKind::Approval),
        Some("question") => Some(DialogKind::Question),
        Some("auth") => Some(DialogKind::Login),
        _ => None,
    };
    let state = match field("state")? {
        // A turn that has ended leaves the prompt free; whether the task is done is not in it.
        "idle" | "done" => AgentState::Idle,
        "working" => AgentState::Working,
        "blocked" => AgentState::Waiting,
        "error" => AgentState::Error,
        _ => return None,
    };
    let rule = STATUS_RULE.to_owned();
    Some(SignalClaim { state, kind, rule, line: text.chars().take(120).collect(), since: now })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(title: Option<&str>, body: &str) -> Option<AgentState> {
        read_notification(title, body, Moment(0)).map(|claim| claim.state)
    }

    #[test]
    fn a_notification_says_what_its_words_say_and_no_more() {
        let (waits, ended) = (Some(AgentState::Waiting), Some(AgentState::Idle));
        assert_eq!(said(None, "Approval requested: run `ls`"), waits);
        assert_eq!(said(Some("Claude Code"), "Claude needs your permission to use Bash"), waits);
        assert_eq!(said(Some("Claude Code"), "Claude is waiting for your input"), ended);
        assert_eq!(said(Some("amp"), "Task complete"), ended);
        assert_eq!(said(None, "I have read the files and changed two of them."), None);
    }

    #[test]
    fn the_end_of_a_progress_ends_the_turn_until_something_is_drawn() {
        let mut signals = Signals::default();
        signals.take_progress(Progress::None, Moment(1));
        assert_eq!(signals.claim(false), None, "nothing was under way");
        signals.take_progress(Progress::Indeterminate, Moment(2));
        assert_eq!(signals.claim(true).map(|claim| claim.state), Some(AgentState::Working));
        signals.take_progress(Progress::None, Moment(3));
        assert_eq!(signals.claim(false).map(|claim| claim.state), Some(AgentState::Idle));
        assert_eq!(signals.claim(true), None, "the screen says it better");
        signals.note_output(Moment(1000));
        assert!(signals.claim(false).is_some(), "that is still the end of the turn");
        signals.note_output(Moment(9000));
        assert_eq!(signals.claim(false), None);
        signals.take_progress(Progress::Paused(50), Moment(9001));
        assert_eq!(signals.claim(false).map(|claim| claim.state), Some(AgentState::Waiting));
    }
}
