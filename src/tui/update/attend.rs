//! Leads the person to what waits for them, and takes their answers to dialogs.

use super::act;
use super::news::words;
use crate::model::{AgentName, AgentState, AttentionId, Stage};
use crate::tui::action::Action;
use crate::tui::app::{App, Cause, Lead, Purpose, Waiting};
use crate::tui::look::Tone;
use crate::tui::overlay::{Confirm, Overlay, Question, TaskView};
use crate::tui::text::clean;
use crate::wire::{Fault, Request, Response, TaskRequest};

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
    if let Some(agent) = waiting.agent.clone() {
        act::select(app, agent);
    }
    match waiting.cause {
        Cause::Item(id) => open_item(app, &waiting, id),
        Cause::State | Cause::Receipt => {
            let agent = waiting.agent.as_ref().and_then(|name| app.agent(name));
            let dialog = agent.and_then(|agent| Some((agent.name.clone(), agent.dialog.clone()?)));
            match dialog.filter(|_| waiting.cause == Cause::State) {
                Some((agent, dialog)) => {
                    app.overlays.push(Overlay::Question(Question::new(agent, dialog)));
                }
                None => app.say(Tone::Warning, remark(app, &waiting)),
            }
        }
    }
    app.attended = Some(waiting);
}

/// Shows what the queue has to say where something can be done about it, and marks it as read.
fn open_item(app: &mut App, waiting: &Waiting, id: AttentionId) {
    let Some(item) = app.item(id).cloned() else { return };
    if !item.read && app.is_connected() {
        let ask = TaskRequest::MarkRead { items: vec![item.id.clone()] };
        app.ask(Purpose::Upkeep, Request::Task { ask });
    }
    let task = item.task.as_ref().and_then(|task| task.parse().ok());
    match (item.ruling, task) {
        (Some(ruling), _) => {
            let text = clean(&item.text);
            let agent = waiting.agent.clone();
            app.overlays.push(Overlay::Confirm(Confirm::Item { item: id, agent, ruling, text }));
        }
        (None, Some(task)) => {
            let view = TaskView::open(app, task);
            app.overlays.push(Overlay::TaskView(view));
        }
        (None, None) => app.say(Tone::Warning, remark(app, waiting)),
    }
}

/// Returns what is wanted, and the key that helps.
fn remark(app: &App, waiting: &Waiting) -> String {
    let agent = waiting.agent.as_ref();
    let state = agent.and_then(|name| app.agent(name)).map(|agent| agent.state);
    let (action, what) = match (waiting.cause, state) {
        (Cause::Receipt, _) => (Action::Dismiss, "dismisses it"),
        (Cause::State, Some(AgentState::Waiting)) => (Action::Type, "types into its pane"),
        (Cause::State | Cause::Item(_), _) => (Action::Dispatch, "sends it a prompt"),
    };
    let key = app.keymap.hint(action).filter(|_| agent.is_some());
    let key = key.map(|key| format!(" · {key} {what}")).unwrap_or_default();
    let name = agent.map(|name| format!("{name}: ")).unwrap_or_default();
    format!("{name}{}{key}", app.want(waiting))
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
