//! Prompts: the line they are written in, what became of them, and interrupts.

use super::from_hub::words;
use crate::api::{Fault, Request, Response};
use crate::model::{AgentName, AgentState, Done, Receipt, Stage};
use crate::tui::app::{App, PromptKind, Purpose, has_failed};
use crate::tui::keys::{Action, EditAction};
use crate::tui::overlay::PromptBox;
use crate::tui::prompt::TextEditor;
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// Opens the line for the selected pane.
pub(super) fn write(app: &mut App) {
    match app.selected.clone() {
        Some(agent) => app.overlays.push(PromptBox::for_pane(app, agent)),
        None => say_nobody_is_there(app),
    }
}

/// Opens the line for everyone.
pub(super) fn write_to_all(app: &mut App) {
    if app.agents.is_empty() {
        say_nobody_is_there(app);
    } else {
        app.overlays.push(PromptBox::for_all(app));
    }
}

fn say_nobody_is_there(app: &mut App) {
    let hint = app.keymap.hint(Action::Teams).unwrap_or_default();
    app.say(Tone::Warning, format!("There is no agent. Press {hint} to start a team"));
}

/// Takes what became of a dispatch; a prompt that nobody got is there for the next try.
pub(super) fn take_receipts(
    app: &mut App,
    kind: PromptKind,
    draft: &str,
    outcome: Result<Response, Fault>,
) {
    let receipts = match outcome {
        Ok(Response::Done(done)) => done.receipts,
        Ok(_) => return,
        Err(fault) => {
            restore(app, kind, draft);
            app.say(Tone::Danger, words(&fault));
            return;
        }
    };
    let (failed, taken): (Vec<_>, Vec<_>) = receipts.into_iter().partition(has_failed);
    let taken_words: Vec<_> =
        taken.iter().map(|one| format!("{} {}", one.agent, one.receipt)).collect();
    let mut text = taken_words.join(", ");
    for receipt in &failed {
        let reason = receipt.reason.as_deref().unwrap_or("no reason given");
        let comma = if text.is_empty() { "" } else { " · " };
        text = format!("{text}{comma}{} refused: {reason}", receipt.agent);
    }
    if failed.is_empty() {
        app.say(Tone::Dim, clean(&format!("Sent to {text}")));
        return;
    }
    if taken.is_empty() {
        restore(app, kind, draft);
        let key = app.keymap.hint(Action::Write(EditAction::SendAnyway));
        let is_unsure = |one: &Receipt| {
            app.agent(&one.agent).is_some_and(|agent| agent.state == AgentState::Unknown)
        };
        if let Some(key) = key.filter(|_| failed.iter().all(is_unsure)) {
            text = format!("{text} · press {key} in the prompt to send it anyway");
        }
    }
    app.say(Tone::Warning, clean(&text));
}

fn restore(app: &mut App, kind: PromptKind, draft: &str) {
    let own = &mut app.drafts[kind as usize];
    if own.is_blank() {
        *own = TextEditor::new(draft);
    }
}

/// Takes back the latest prompt of the selected pane, if it still waits.
pub(super) fn withdraw(app: &mut App) {
    let Some(agent) = app.selected_agent() else { return };
    let (name, queued) = (agent.name.clone(), agent.queued);
    let latest = agent.receipt.as_ref().filter(|receipt| receipt.state == Stage::Queued);
    match latest.map(|receipt| receipt.receipt) {
        Some(_) if !app.is_connected() => {
            app.say(Tone::Danger, "Not taken back: no connection to the hub");
        }
        Some(receipt) => {
            app.ask(Purpose::Withdraw, Request::Withdraw { receipt });
            app.say(Tone::Dim, format!("Taking {receipt} back from {name}…"));
        }
        None if queued > 0 => {
            let hint = "`wheelhouse withdraw RECEIPT` takes back an earlier one";
            app.say(
                Tone::Warning,
                format!("The latest prompt for {name} is no longer queued; {hint}"),
            );
        }
        None => app.say(Tone::Dim, format!("No prompt is queued for {name}")),
    }
}

pub(super) fn say_withdrawn(app: &mut App, done: &Done) {
    for receipt in &done.receipts {
        let (id, agent) = (receipt.receipt, &receipt.agent);
        app.say(Tone::Dim, format!("{id} was taken back from {agent}"));
    }
}

/// Ends what the selected agent is doing.
pub(super) fn interrupt(app: &mut App) {
    let Some(agent) = app.selected_agent() else { return };
    let (name, has_ended) = (agent.name.clone(), agent.has_ended());
    if has_ended {
        app.say(Tone::Dim, format!("{name} has already ended"));
    } else if app.is_connected() {
        let agent = name.to_string();
        app.say(Tone::Dim, format!("Interrupting {name}…"));
        app.ask(Purpose::Interrupt { agent: name }, Request::Interrupt { agent });
    } else {
        app.say(Tone::Danger, format!("{name} was not interrupted: no connection to the hub"));
    }
}

pub(super) fn say_interrupted(
    app: &mut App,
    agent: &AgentName,
    state: Stage,
    reason: Option<String>,
) {
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let (tone, word) = match state {
        Stage::Accepted => (Tone::Accent, "interrupted".to_owned()),
        Stage::Queued
        | Stage::Typed
        | Stage::Seen
        | Stage::Submitted
        | Stage::Refused
        | Stage::Stalled
        | Stage::Unknown
        | Stage::Withdrawn => (Tone::Warning, format!("not interrupted, {state}")),
    };
    app.say(tone, clean(&format!("{agent} {word}{reason}")));
}
