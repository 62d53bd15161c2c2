//! Leads the person to what waits for them, and takes their answers to dialogs.

use super::actions;
use super::from_hub::words;
use crate::api::{Fault, Request, Response, TaskRequest};
use crate::model::{AgentName, AgentState, AttentionId, Stage};
use crate::tui::app::{App, AttentionCause, AttentionGoal, AttentionItem, Purpose};
use crate::tui::keys::Action;
use crate::tui::overlay::{AgentDialog, Confirm, TaskView};
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// Goes to something that waits for a person.
pub(super) fn follow(app: &mut App, lead: AttentionGoal) {
    app.damage.is_all = true;
    let waiting = match lead {
        AttentionGoal::Next => app.next_waiting(),
        AttentionGoal::To(waiting) => Some(waiting),
    };
    match waiting {
        Some(waiting) => go_to(app, waiting),
        None => app.say(Tone::Dim, "Nothing needs you"),
    }
}

fn go_to(app: &mut App, waiting: AttentionItem) {
    if let Some(agent) = waiting.agent.clone() {
        actions::select(app, agent);
    }
    match waiting.cause {
        AttentionCause::Item(id) => open_item(app, &waiting, id),
        AttentionCause::State | AttentionCause::Receipt => {
            let agent = waiting.agent.as_ref().and_then(|name| app.agent(name));
            let dialog = agent.and_then(|agent| Some((agent.name.clone(), agent.dialog.clone()?)));
            match dialog.filter(|_| waiting.cause == AttentionCause::State) {
                Some((agent, dialog)) => {
                    app.overlays.push(AgentDialog::new(agent, dialog));
                }
                None => app.say(Tone::Warning, remark(app, &waiting)),
            }
        }
    }
    app.attended = Some(waiting);
}

/// Shows what the queue has to say where something can be done about it, and marks it as read.
fn open_item(app: &mut App, waiting: &AttentionItem, id: AttentionId) {
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
            app.overlays.push(Confirm::Item { item: id, agent, ruling, text });
        }
        (None, Some(task)) => {
            let view = TaskView::open(app, task);
            app.overlays.push(view);
        }
        (None, None) => app.say(Tone::Warning, remark(app, waiting)),
    }
}

/// Returns what is wanted, and the key that helps.
fn remark(app: &App, waiting: &AttentionItem) -> String {
    let agent = waiting.agent.as_ref();
    let state = agent.and_then(|name| app.agent(name)).map(|agent| agent.state);
    let (action, what) = match (waiting.cause, state) {
        (AttentionCause::Receipt, _) => (Action::Dismiss, "dismisses it"),
        (AttentionCause::State, Some(AgentState::Waiting)) => (Action::Type, "types into its pane"),
        (AttentionCause::State | AttentionCause::Item(_), _) => {
            (Action::Dispatch, "sends it a prompt")
        }
    };
    let key = app.keymap.hint(action).filter(|_| agent.is_some());
    let key = key.map(|key| format!(" · {key} {what}")).unwrap_or_default();
    let name = agent.map(|name| format!("{name}: ")).unwrap_or_default();
    format!("{name}{}{key}", app.want(waiting))
}

/// Takes what became of an answer.
pub(super) fn take_answer(app: &mut App, agent: &AgentName, outcome: Result<Response, Fault>) {
    app.damage.is_all = true;
    let fault = match outcome {
        Ok(Response::Deed { state: Stage::Accepted, .. }) => None,
        Ok(Response::Deed { state, reason }) => {
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            Some(clean(&format!("{state}{reason}")))
        }
        Ok(_) => Some("Unexpected answer from the hub".to_owned()),
        Err(fault) => Some(words(&fault)),
    };
    let asked =
        app.overlays.take(|question: &AgentDialog| question.agent == *agent && question.is_sent);
    match (fault, asked) {
        (None, Some(question)) => {
            app.say(Tone::Accent, format!("Answered {agent}: {}", question.chosen_words()));
        }
        (None, None) => app.say(Tone::Accent, format!("Answered {agent}")),
        (Some(fault), Some(mut question)) => {
            question.fail(fault);
            question.show_current(app);
            app.overlays.push(question);
        }
        (Some(fault), None) => {
            app.say(Tone::Danger, format!("{agent} was not answered: {fault}"));
        }
    }
}
