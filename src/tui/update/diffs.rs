//! Diffs: opened, kept up to date, and what became of the comments that were sent.

use std::collections::BTreeSet;

use super::from_hub::words;
use crate::api::{Fault, Request, Response};
use crate::model::{Against, AgentName, ReceiptId, Stage};
use crate::tui::app::{App, Purpose, has_failed, receipt_line};
use crate::tui::overlay::{DiffView, each_of};
use crate::tui::review::{Comment, CommentState, Review};
use crate::tui::style::Tone;
use crate::tui::text::clean;

/// Shows what the selected agent has changed.
pub(super) fn open(app: &mut App) {
    let Some(agent) = app.selected.clone() else {
        return app.say(Tone::Dim, "No agent is selected");
    };
    let mut view = DiffView::new(agent);
    view.follow_agent(app);
    view.compare(app);
    app.overlays.push(view);
}

/// Takes what the hub says about an agent's changes.
pub(super) fn take_diff(
    app: &mut App,
    agent: &AgentName,
    against: &Against,
    path: Option<(String, String)>,
    outcome: Result<Response, Fault>,
) {
    app.damage.is_all = true;
    let mut told = Some((path, outcome));
    each_of(app, |app, view: &mut DiffView| {
        if view.agent != *agent || !view.is_against(against) {
            return;
        }
        match told.take() {
            Some((None, Ok(Response::Diff(list)))) => view.take_list(app, list),
            Some((Some((path, stamp)), Ok(Response::Hunks(hunks)))) => {
                view.take_hunks(app, path, stamp, *hunks);
            }
            Some((_, Err(fault))) => {
                let text = words(&fault);
                if view.is_known() {
                    app.say(Tone::Danger, text.clone());
                }
                view.fail(app, text);
            }
            Some((_, Ok(_))) | None => {}
        }
    });
}

/// Asks what becomes of the comments that are on their way.
pub(super) fn await_receipts(app: &mut App) {
    let sent = |comment: &Comment| match comment.post {
        CommentState::Sent(receipt) => Some(receipt),
        CommentState::Kept | CommentState::Asked => None,
    };
    let on_their_way = |(agent, review): (&AgentName, &Review)| {
        let receipts: BTreeSet<ReceiptId> = review.comments.iter().filter_map(sent).collect();
        receipts.into_iter().map(|receipt| (agent.clone(), receipt)).collect::<Vec<_>>()
    };
    for (agent, receipt) in app.reviews.iter().flat_map(on_their_way).collect::<Vec<_>>() {
        wait(app, agent, receipt);
    }
}

fn wait(app: &mut App, agent: AgentName, receipt: ReceiptId) {
    let purpose = Purpose::Review { agent, receipt: Some(receipt) };
    app.ask(purpose, Request::AwaitReceipts { receipts: vec![receipt] });
}

/// Takes how far a prompt with comments came in the end. Those that the agent has are done with.
pub(super) fn take_receipt(
    app: &mut App,
    agent: &AgentName,
    id: ReceiptId,
    outcome: Result<Response, Fault>,
) {
    app.damage.is_all = true;
    let receipt = match outcome {
        Ok(Response::Done(done)) => done.receipts.into_iter().find(|one| one.receipt == id),
        Ok(_) | Err(_) => None,
    };
    let is_taken = receipt.as_ref().is_some_and(|receipt| receipt.state == Stage::Accepted);
    let Some(review) = app.reviews.get_mut(agent) else { return };
    if is_taken {
        review.comments.retain(|comment| comment.post != CommentState::Sent(id));
        return;
    }
    for comment in review.comments.iter_mut().filter(|one| one.post == CommentState::Sent(id)) {
        comment.post = CommentState::Kept;
    }
    let state = receipt.as_ref().map_or("nothing is known of it".to_owned(), receipt_line);
    let text = format!("{agent} did not take the comments ({state}): they are kept");
    app.say(Tone::Warning, clean(&text));
}

/// Takes what became of comments that were sent; those that nobody got are kept.
pub(super) fn take_sent(app: &mut App, agent: &AgentName, outcome: Result<Response, Fault>) {
    app.damage.is_all = true;
    let receipts = match outcome {
        Ok(Response::Done(done)) => done.receipts,
        Ok(_) => Vec::new(),
        Err(fault) => {
            settle(app, agent, None);
            return app.say(Tone::Danger, format!("{} · your comments are kept", words(&fault)));
        }
    };
    match receipts.iter().find(|receipt| receipt.agent == *agent) {
        Some(receipt) if !has_failed(receipt) => {
            settle(app, agent, Some(receipt.receipt));
            wait(app, agent.clone(), receipt.receipt);
            app.say(Tone::Dim, format!("Sent to {agent}: {}", receipt.receipt));
        }
        failed => {
            let reason = failed.and_then(|receipt| receipt.reason.as_deref());
            let reason = reason.unwrap_or("no reason given");
            let text = format!("{agent} refused: {reason} · your comments are kept");
            settle(app, agent, None);
            app.say(Tone::Warning, clean(&text));
        }
    }
}

/// Takes note that nobody knows what became of comments that were being sent.
pub(super) fn lose_hub(app: &mut App) {
    let agents: Vec<AgentName> = app.reviews.keys().cloned().collect();
    for agent in agents {
        settle(app, &agent, None);
    }
}

fn settle(app: &mut App, agent: &AgentName, receipt: Option<ReceiptId>) {
    let comments = app.reviews.get_mut(agent).map(|review| review.comments.iter_mut());
    for comment in comments.into_iter().flatten().filter(|one| one.post == CommentState::Asked) {
        comment.post = receipt.map_or(CommentState::Kept, CommentState::Sent);
    }
}
