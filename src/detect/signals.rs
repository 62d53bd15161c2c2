//! What the program says beside the screen: its status, its title, its progress.

use crate::model::{AgentState, DialogKind, Moment};
use crate::screen::{Progress, Signal};

use super::rules::Rules;
use super::stream::StreamNews;

/// What a signal says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignalClaim {
    pub(super) state: AgentState,
    pub(super) kind: Option<DialogKind>,
    pub(super) rule: String,
    pub(super) line: String,
    pub(super) since: Moment,
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
}

impl Signals {
    /// Returns what holds: the program's own status before its title, its title before its
    /// progress.
    pub(super) fn claim(&self) -> Option<&SignalClaim> {
        let known = [&self.stream, &self.status, &self.title, &self.progress];
        known.into_iter().find_map(Option::as_ref)
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
                let claim = found.map(|(_, state)| SignalClaim {
                    state: *state,
                    kind: None,
                    rule: format!("{}.title", rules.cli),
                    line: title.trim().to_owned(),
                    since: now,
                });
                replace(&mut self.title, claim);
            }
            Signal::Progress(progress) => {
                let state = match progress {
                    Progress::Percent(_) | Progress::Indeterminate => Some(AgentState::Working),
                    Progress::Error(_) => Some(AgentState::Error),
                    Progress::None | Progress::Paused(_) => None,
                };
                let claim = state.map(|state| SignalClaim {
                    state,
                    kind: None,
                    rule: "osc9.progress".into(),
                    line: format!("{progress:?}"),
                    since: now,
                });
                replace(&mut self.progress, claim);
            }
            Signal::IconName(_)
            | Signal::Bell
            | Signal::Directory(_)
            | Signal::Notification { .. }
            | Signal::ShellMark(_)
            | Signal::Clipboard(_) => return false,
        }
        true
    }
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
    let rule = "osc7501".to_owned();
    Some(SignalClaim { state, kind, rule, line: text.chars().take(120).collect(), since: now })
}
