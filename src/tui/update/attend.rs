//! Leads the person to what waits for them, and takes their answers to dialogs.

use super::act;
use super::news::words;
use crate::model::{AgentName, AgentState, Stage};
use crate::tui::action::Action;
use crate::tui::app::{App, Cause, Lead, Waiting};
use crate::tui::look::Tone;
use crate::tui::overlay::{Overlay, Question};
use crate::tui::text::clean;
use crate::wire::{Fault, Response};

/// Goes to something that waits for a person.
pub(super) fn follow(app: &mut App, lead: Lead) {
    app.damage.is_all = true;
    let waiting = match lead {
        Lead::Next => app.next_waiting(),
        Lead::To(waiting) => Some(waiting),
    };
    match waiting {
        Some(waiting) => go_to(app, waiting),
        None => app.say(Tone::Dim, "Nothing waits for you"),
    }
}

fn go_to(app: &mut App, waiting: Waiting) {
    act::select(app, waiting.agent.clone());
    let dialog = app.agent(&waiting.agent).and_then(|agent| agent.dialog.clone());
    match dialog.filter(|_| waiting.cause == Cause::State) {
        Some(dialog) => {
            let question = Question::new(waiting.agent.clone(), dialog);
            app.overlays.push(Overlay::Question(question));
        }
        None => app.say(Tone::Warning, remark(app, &waiting)),
    }
    app.attended = Some(waiting);
}

/// Returns what is wanted, and the key that helps.
fn remark(app: &App, waiting: &Waiting) -> String {
    let state = app.agent(&waiting.agent).map(|agent| agent.state);
    let (action, what) = match (waiting.cause, state) {
        (Cause::Receipt, _) => (Action::Dismiss, "dismisses it"),
        (Cause::State, Some(AgentState::Waiting)) => (Action::Type, "types into its pane"),
        (Cause::State, _) => (Action::Dispatch, "sends it a prompt"),
    };
    let key = app.keymap.hint(action).map(|key| format!(" · {key} {what}"));
    format!("{}: {}{}", waiting.agent, app.want(waiting), key.unwrap_or_default())
}

/// Brings a dialog that was refused up to date with its pane.
pub(super) fn refresh(app: &mut App) {
    for overlay in &mut app.overlays {
        if let Overlay::Question(question) = overlay {
            let agent = app.agents.iter().find(|agent| agent.name == question.agent);
            question.refresh(agent.and_then(|agent| agent.dialog.as_ref()));
        }
    }
}

/// Takes what became of an answer.
pub(super) fn answered(app: &mut App, agent: &AgentName, outcome: Result<Response, Fault>) {
    app.damage.is_all = true;
    let fault = match outcome {
        Ok(Response::Deed { state: Stage::Accepted, .. }) => None,
        Ok(Response::Deed { state, reason }) => {
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            Some(clean(&format!("{state}{reason}")))
        }
        Ok(_) => Some("The hub answered something else".to_owned()),
        Err(fault) => Some(words(&fault)),
    };
    let is_it = |overlay: &Overlay| matches!(overlay, Overlay::Question(question) if question.agent == *agent && question.is_sent);
    let at = app.overlays.iter().position(is_it);
    match (fault, at.map(|at| app.overlays.remove(at))) {
        (None, Some(Overlay::Question(question))) => {
            app.say(Tone::Accent, format!("Answered {agent}: {}", question.chosen_words()));
        }
        (None, _) => app.say(Tone::Accent, format!("Answered {agent}")),
        (Some(fault), Some(Overlay::Question(mut question))) => {
            question.fail(fault);
            app.overlays.push(Overlay::Question(question));
            refresh(app);
        }
        (Some(fault), _) => {
            app.say(Tone::Danger, format!("{agent} was not answered: {fault}"));
        }
    }
}
