//! Comments on the lines of a diff: written, changed, removed, and sent as one prompt.

use super::super::stack::Next;
use super::view::DiffView;
use crate::api::Request;
use crate::model::{Key, KeyCode};
use crate::tui::app::{App, LocalEffect, Purpose};
use crate::tui::keys::DiffAction;
use crate::tui::keys::{Action, EditAction};
use crate::tui::keys::{is_text, off_the_pad};
use crate::tui::prompt::TextEditor;
use crate::tui::review::{Anchor, Comment, CommentState, Review, as_prompt};
use crate::tui::style::Tone;

/// A comment that is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub anchor: Anchor,
    pub editor: TextEditor,
    /// The comment that it is to be instead of.
    replaces: Option<Comment>,
}

impl DiffView {
    /// Begins to write about the line under the cursor, or goes on with what was written.
    pub(super) fn comment(&mut self, app: &mut App) {
        let page = self.page(app);
        let review = app.reviews.entry(self.agent.clone()).or_default();
        let own = page.comment_at(self.at).and_then(|at| review.comments.get(at)).cloned();
        if let Some(own) = own {
            if own.post != CommentState::Kept {
                return app.say(Tone::Dim, "This comment is already being sent");
            }
            let (anchor, editor) = (own.anchor.clone(), TextEditor::new(&own.text));
            self.writing = Some(Draft { anchor, editor, replaces: Some(own) });
            return self.keep_in_sight(app, &page);
        }
        self.at = page.near_line(self.at).unwrap_or(self.at);
        let anchor = self.shown().and_then(|hunks| page.anchor(self.at, hunks));
        let Some(anchor) = anchor else {
            return app.say(Tone::Dim, "You cannot comment on this line");
        };
        let review = app.reviews.entry(self.agent.clone()).or_default();
        let draft = review.draft.take_if(|(about, _)| *about == anchor);
        let editor = draft.map(|(_, editor)| editor).unwrap_or_default();
        self.writing = Some(Draft { anchor, editor, replaces: None });
        self.keep_in_sight(app, &page);
    }

    pub(super) fn press_in_text(&mut self, app: &mut App, key: Key) -> Next {
        let key = off_the_pad(key);
        let Some(draft) = &mut self.writing else { return Next::Stay };
        if let (true, KeyCode::Char(c)) = (is_text(key), key.code) {
            draft.editor.insert(c.encode_utf8(&mut [0; 4]));
            return Next::Stay;
        }
        match app.keymap.edit_action(key) {
            Some(EditAction::Send | EditAction::SendAnyway) => self.keep(app),
            Some(EditAction::Leave) => self.leave(app),
            Some(EditAction::OpenEditor) => {
                app.wishes.push(LocalEffect::Edit(draft.editor.text().to_owned()));
            }
            Some(EditAction::Older) => drop(draft.editor.go_up()),
            Some(EditAction::Newer) => drop(draft.editor.go_down()),
            Some(writing) => drop(draft.editor.write(writing)),
            None => draft.editor.press(key),
        }
        Next::Stay
    }

    /// Keeps what was written as a comment; nothing written about a line is no comment.
    pub(super) fn keep(&mut self, app: &mut App) {
        let Some(Draft { anchor, editor, replaces }) = self.writing.take() else { return };
        let review = app.reviews.entry(self.agent.clone()).or_default();
        let text = editor.text().trim().to_owned();
        let place = replaces.and_then(|own| review.comments.iter().position(|one| *one == own));
        match place {
            Some(at) if text.is_empty() => drop(review.comments.remove(at)),
            Some(at) => review.comments[at].text = text,
            None if text.is_empty() => {}
            None => review.comments.push(Comment { anchor, text, post: CommentState::Kept }),
        }
        self.go(app, self.at);
    }

    /// Leaves the text; what is new in it is there when the same line is written about again.
    pub(super) fn leave(&mut self, app: &mut App) {
        let Some(Draft { anchor, editor, replaces }) = self.writing.take() else { return };
        if replaces.is_none() && !editor.is_blank() {
            let review = app.reviews.entry(self.agent.clone()).or_default();
            review.draft = Some((anchor, editor));
        }
    }

    pub(super) fn uncomment(&mut self, app: &mut App) {
        let place = self.page(app).comment_at(self.at);
        let review = app.reviews.get_mut(&self.agent);
        let Some((place, review)) = place.zip(review) else {
            return app.say(Tone::Dim, "There is no comment on this line");
        };
        review.comments.remove(place);
        self.go(app, self.at);
    }

    /// Sends all comments as one prompt; each stays until the agent has taken it.
    pub(super) fn send(&self, app: &mut App, anyway: bool) {
        let agent = self.agent.clone();
        let unsent = app.reviews.get(&agent).map_or(0, Review::unsent);
        if unsent == 0 {
            let key = app.keymap.hint(Action::Review(DiffAction::Comment));
            let key = key.unwrap_or_default();
            return app
                .say(Tone::Dim, format!("No comments to send. Press {key} to comment on a line"));
        }
        if !app.is_connected() {
            return app.say(
                Tone::Danger,
                "Not sent: no connection to the hub. Your comments are kept here",
            );
        }
        let Some(review) = app.reviews.get_mut(&agent) else { return };
        let prompt = as_prompt(&review.comments);
        for comment in review.comments.iter_mut().filter(|one| one.post == CommentState::Kept) {
            comment.post = CommentState::Asked;
        }
        app.dismiss(&agent);
        app.say(Tone::Dim, format!("Sending {unsent} to {agent}…"));
        let agents = vec![agent.to_string()];
        let (idempotency_key, command, no_queue) = (None, false, false);
        let request =
            Request::Dispatch { agents, prompt, idempotency_key, anyway, command, no_queue };
        app.ask(Purpose::Review { agent, receipt: None }, request);
    }
}
