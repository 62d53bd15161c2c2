//! Holds what is known of a pane at one moment, and what that proves of a prompt.

use crate::detect::{Input, Rules, Shown, Sight};
use crate::model::{AgentState, Moment, Source};
use crate::screen::Screen;

use super::text_signature::TextSignature;

/// Words of a screen that a reason quotes.
const QUOTE_CHARS_MAX: usize = 100;

/// A pane as it stands.
#[derive(Clone, Copy, Debug)]
pub struct PaneSnapshot<'a> {
    pub screen: &'a Screen,
    pub rules: &'a Rules,
    /// What the detector says that the agent does.
    pub shown: &'a Shown,
    /// When a hook of the cli last told that it took a prompt.
    pub prompt_heard_at: Option<Moment>,
    /// The prompt that it named, if it named one.
    pub prompt_heard: Option<&'a str>,
    /// A prompt was submitted, and neither the work on it nor its end was seen yet.
    pub awaits_turn: bool,
    /// When someone else last typed into the pane.
    pub typed_at: Option<Moment>,
    /// The pane takes more input now.
    pub has_room: bool,
}

impl PaneSnapshot<'_> {
    pub(super) fn sight(&self) -> Sight {
        Sight::new(self.screen, self.rules)
    }

    /// Returns what the agent does: what the detector says, who ranks all sources. A dialog in sight
    /// or a program that starts anew goes before it: a dialog is shown only once two looks agree.
    pub(super) fn state(&self, sight: &Sight) -> AgentState {
        match sight.state {
            Some(state @ (AgentState::Waiting | AgentState::Starting)) => state,
            _ => self.shown.state,
        }
    }

    /// Returns what the agent does as it is drawn this very moment, where rules say anything of that:
    /// the detector believes a change only once it has lasted.
    pub(super) fn drawn(&self, sight: &Sight) -> AgentState {
        match self.shown.source {
            Source::Line if sight.state != Some(AgentState::Working) => self.state(sight),
            Source::Line | Source::Screen | Source::Silence => {
                sight.state.unwrap_or(AgentState::Unknown)
            }
            Source::Report | Source::Hook | Source::Signal | Source::Process => self.state(sight),
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

    /// Returns why nothing may be typed now.
    pub(super) fn obstacle(&self, sight: &Sight) -> Option<String> {
        match self.state(sight) {
            AgentState::Waiting => return Some(self.dialog_words(sight)),
            AgentState::Starting => return Some("the agent is still starting".into()),
            AgentState::Working => return Some("the agent is working".into()),
            AgentState::Exited => return Some("the agent has ended".into()),
            AgentState::Unknown => {
                let why = "no rule of its cli tells what its screen means, so nothing is typed";
                return Some(why.into());
            }
            AgentState::Idle
            | AgentState::Done
            | AgentState::Blocked
            | AgentState::Error
            | AgentState::Limited => {}
        }
        let Some(input) = &sight.input else {
            return Some("its prompt is not in sight".into());
        };
        let typed = input.typed.as_deref().filter(|typed| !typed.is_empty())?;
        Some(format!("something else is typed there already: `{}`", quote(typed)))
    }

    /// Says whether the key would submit the text that stands there. Where there is no composer,
    /// a prompt with text behind it matches no rule; the text itself tells what the screen is.
    pub(super) fn is_free(&self, sight: &Sight) -> bool {
        let has_composer = |input: &Input| input.is_composer;
        !sight.input.as_ref().is_some_and(has_composer) || takes_prompts(self.state(sight))
    }

    /// Returns what proves that this text was taken after the key was pressed. `stands` says
    /// whether it is still where it was typed, `is_echoed` whether the conversation shows it anew.
    pub(super) fn proof(
        &self,
        sight: &Sight,
        sign: &TextSignature,
        stands: Option<bool>,
        (pressed, is_echoed): (Moment, bool),
    ) -> Option<&'static str> {
        if self.prompt_heard_at.is_some_and(|heard| heard >= pressed) {
            // A hook that names another prompt is no proof of this one, nor is the work on that.
            let is_this = self.prompt_heard.is_none_or(|heard| sign.is_of(heard));
            return is_this.then_some("the cli told that it took the prompt");
        }
        if stands == Some(true) {
            return None;
        }
        if sight.input.as_ref().is_some_and(|input| !input.is_composer) {
            return Some("the line was taken");
        }
        // What the program put there in place of the text was not submitted.
        if replacement(sight).is_some() && !is_echoed {
            return None;
        }
        let is_sign = match self.shown.state {
            AgentState::Working
            | AgentState::Done
            | AgentState::Blocked
            | AgentState::Error
            | AgentState::Limited => self.shown.source != Source::Silence,
            AgentState::Starting
            | AgentState::Idle
            | AgentState::Waiting
            | AgentState::Unknown
            | AgentState::Exited => false,
        };
        if is_sign && self.shown.since >= pressed {
            return Some("the agent began to work");
        }
        // Where neither composer nor dialog is in sight, what looks like an echo may be the
        // composer itself in a shape that no rule knows.
        let is_readable = sight.input.is_some() || sight.dialog.is_some();
        (is_readable && is_echoed).then_some("the conversation shows the prompt")
    }

    pub(super) fn dialog_words(&self, sight: &Sight) -> String {
        let text = sight.dialog.as_ref().map_or(self.shown.line.as_str(), |dialog| &dialog.text);
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        format!("a dialog is open: `{}`", quote(last))
    }
}

/// Returns what proves that a command was taken: many have no turn, and some open a dialog.
pub(super) fn proof_of_command(sight: &Sight) -> Option<&'static str> {
    if sight.dialog.is_some() {
        return Some("a dialog is open now");
    }
    let is_empty = replacement(sight).is_none();
    (sight.input.is_some() && is_empty).then_some("the line was taken")
}

/// Returns what stands in the composer, if anything does.
pub(super) fn replacement(sight: &Sight) -> Option<&str> {
    let input = sight.input.as_ref().filter(|input| input.is_composer)?;
    input.typed.as_deref().filter(|typed| !typed.trim().is_empty())
}

/// Returns a text in one line, not too long.
pub(super) fn quote(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(QUOTE_CHARS_MAX).collect();
    if short.len() < line.len() { short + "…" } else { short }
}

/// Says whether an agent that does this takes a prompt.
fn takes_prompts(state: AgentState) -> bool {
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
