//! What is known of a pane at one moment.

use crate::detect::{Rules, Shown, Sight};
use crate::model::{AgentState, Moment, Source};
use crate::screen::Screen;

/// Words of a screen that a reason quotes.
const QUOTE_CHARS_MAX: usize = 100;

/// A pane as it stands.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub screen: &'a Screen,
    pub rules: &'a Rules,
    /// What the detector says that the agent does.
    pub shown: &'a Shown,
    /// When a hook of the cli last told that it took a prompt.
    pub prompt_heard_at: Option<Moment>,
    /// When someone else last typed into the pane.
    pub typed_at: Option<Moment>,
    /// The pane takes more input now.
    pub has_room: bool,
}

impl Scene<'_> {
    pub(super) fn sight(&self) -> Sight {
        Sight::new(self.screen, self.rules)
    }

    /// Returns what the agent does: a dialog in sight before all, then what the program itself
    /// says, then the screen as it is this very moment. The detector may be a moment behind.
    pub(super) fn state(&self, sight: &Sight) -> AgentState {
        if sight.state == Some(AgentState::Waiting) {
            return AgentState::Waiting;
        }
        match self.shown.source {
            Source::Report | Source::Hook | Source::Signal | Source::Process => self.shown.state,
            Source::Line if sight.state != Some(AgentState::Working) => self.shown.state,
            Source::Line | Source::Screen | Source::Silence => {
                sight.state.unwrap_or(AgentState::Unknown)
            }
        }
    }

    /// Says that something stands in the way of any key.
    pub(super) fn stop_sign(&self, sight: &Sight, since: Moment) -> Option<String> {
        match self.state(sight) {
            AgentState::Waiting => return Some(self.dialog_words(sight)),
            AgentState::Exited => return Some("the agent has ended".into()),
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Working
            | AgentState::Blocked
            | AgentState::Done
            | AgentState::Error
            | AgentState::Limited
            | AgentState::Unknown => {}
        }
        let is_disturbed = self.typed_at.is_some_and(|at| at >= since);
        is_disturbed.then(|| "someone else typed into the pane".into())
    }

    pub(super) fn dialog_words(&self, sight: &Sight) -> String {
        let text = sight.dialog.as_ref().map_or(self.shown.line.as_str(), |dialog| &dialog.text);
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        format!("a dialog is open: `{}`", quote(last))
    }
}

/// Returns a text in one line, not too long.
pub(super) fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(QUOTE_CHARS_MAX).collect();
    if short.len() < line.len() { short + "…" } else { short }
}

/// Says whether an agent that does this takes a prompt.
pub(super) fn takes_prompts(state: AgentState) -> bool {
    match state {
        AgentState::Idle
        | AgentState::Done
        | AgentState::Blocked
        | AgentState::Error
        | AgentState::Limited => true,
        AgentState::Starting
        | AgentState::Working
        | AgentState::Waiting
        | AgentState::Unknown
        | AgentState::Exited => false,
    }
}
