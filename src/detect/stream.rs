//! What the events say that `opencode` serves at a port of its own.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::{AgentState, DialogKind};

use super::hook::is_session;

/// Helpers that one conversation may start before the first of them are forgotten.
const CHILDREN_MAX: usize = 1024;
/// A conversation's last messages are the newest ids; so many are told apart from the user's.
const MESSAGES_MAX: usize = 256;
/// Of a turn in which more is said, the last words are kept.
const PARTS_MAX: usize = 64;
/// Dialogs that can be open at once.
const ASKED_MAX: usize = 64;

/// What an event says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamNews {
    pub state: AgentState,
    pub kind: Option<DialogKind>,
    /// The event's name.
    pub line: String,
    /// The conversation's id.
    pub session: Option<String>,
    /// What the agent has said in a turn, at its end.
    pub message: Option<String>,
    /// The command or the file that a dialog asks permission for.
    pub command: Option<String>,
}

/// Reads the events of one connection, in order.
#[derive(Debug, Default)]
pub struct EventReader {
    /// Conversations of helpers: they begin and end within a turn of the main one.
    children: BTreeSet<String>,
    /// Dialogs that nobody has answered yet.
    asked: BTreeSet<String>,
    /// The turn has failed; that it is idle now is no other news.
    has_failed: bool,
    /// The messages of the agent itself; others are what it was asked.
    own: BTreeSet<String>,
    /// What it has said in the turn, by the ids of the parts, in the order in which they began.
    said: Vec<(String, String)>,
}

impl EventReader {
    /// Returns what an event says about the state, if anything.
    pub fn read(&mut self, event: &Value) -> Option<StreamNews> {
        let name = event.get("type")?.as_str()?;
        let properties = event.get("properties")?;
        let text = |at: &[&str]| {
            let found = at.iter().try_fold(properties, |value, key| value.get(*key));
            found.and_then(Value::as_str)
        };
        let session = text(&["sessionID"]);
        let is_child = session.is_some_and(|id| self.children.contains(id));
        let (state, kind) = match name {
            "session.created" | "session.updated" => {
                self.note_child(text(&["info", "id"]), text(&["info", "parentID"]));
                return None;
            }
            "message.updated" => {
                let role = text(&["info", "role"]);
                self.note_own(text(&["info", "id"]), role, text(&["info", "sessionID"]));
                return None;
            }
            "message.part.updated" => {
                self.note_part(properties.get("part")?);
                return None;
            }
            "session.status" if !is_child => (self.status(text(&["status", "type"])?)?, None),
            "session.idle" if !is_child => (self.status("idle")?, None),
            "session.error" if !is_child => (self.failed(text(&["error", "name"]))?, None),
            // A helper's dialog wants a person as well.
            "permission.asked" => (self.asks(text(&["id"])), Some(DialogKind::Approval)),
            "question.asked" => (self.asks(text(&["id"])), Some(DialogKind::Question)),
            "permission.replied" | "question.replied" | "question.rejected" => {
                let id = text(&["requestID"]).or(text(&["permissionID"])).or(text(&["id"]));
                (self.answered(id), None)
            }
            _ => return None,
        };
        let session = session.filter(|id| !is_child && is_session(id)).map(str::to_owned);
        let has_ended = matches!(state, AgentState::Idle | AgentState::Error);
        let message = if has_ended { self.take_message() } else { None };
        let told = ["command", "filepath"].iter().find_map(|key| text(&["metadata", key]));
        let command = told.filter(|_| name == "permission.asked").map(str::to_owned);
        Some(StreamNews { state, kind, line: name.to_owned(), session, message, command })
    }

    fn note_own(&mut self, id: Option<&str>, role: Option<&str>, session: Option<&str>) {
        let is_child = session.is_some_and(|id| self.children.contains(id));
        if let Some(id) = id.filter(|_| role == Some("assistant") && !is_child) {
            self.own.insert(id.to_owned());
            if self.own.len() > MESSAGES_MAX {
                self.own.pop_first();
            }
        }
    }

    /// Takes a part of a message, which is told anew whenever it grows.
    fn note_part(&mut self, part: &Value) {
        let field = |name: &str| part.get(name).and_then(Value::as_str);
        let is_made_up = part.get("synthetic").and_then(Value::as_bool) == Some(true);
        let (Some("text"), false) = (field("type"), is_made_up) else { return };
        let (Some(id), Some(message)) = (field("id"), field("messageID")) else { return };
        let text = field("text").unwrap_or_default();
        if text.is_empty() || !self.own.contains(message) {
            return;
        }
        if let Some((_, known)) = self.said.iter_mut().find(|(known, _)| known == id) {
            text.clone_into(known);
            return;
        }
        self.said.push((id.to_owned(), text.to_owned()));
        let extra = self.said.len().saturating_sub(PARTS_MAX);
        self.said.drain(..extra);
    }

    fn take_message(&mut self) -> Option<String> {
        let parts = std::mem::take(&mut self.said);
        let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
        Some(texts.join("\n\n")).filter(|text| !text.is_empty())
    }

    fn note_child(&mut self, id: Option<&str>, parent: Option<&str>) {
        if let (Some(id), Some(_)) = (id, parent) {
            self.children.insert(id.to_owned());
            if self.children.len() > CHILDREN_MAX {
                self.children.pop_first();
            }
        }
    }

    fn status(&mut self, status: &str) -> Option<AgentState> {
        match status {
            "busy" | "retry" => {
                self.has_failed = false;
                Some(if self.asked.is_empty() { AgentState::Working } else { AgentState::Waiting })
            }
            "idle" => {
                self.asked.clear();
                Some(if self.has_failed { AgentState::Error } else { AgentState::Idle })
            }
            _ => None,
        }
    }

    /// An interruption is told as an error too.
    fn failed(&mut self, error: Option<&str>) -> Option<AgentState> {
        self.has_failed = error != Some("MessageAbortedError");
        self.has_failed.then_some(AgentState::Error)
    }

    fn asks(&mut self, id: Option<&str>) -> AgentState {
        self.asked.insert(id.unwrap_or_default().to_owned());
        if self.asked.len() > ASKED_MAX {
            self.asked.pop_first();
        }
        AgentState::Waiting
    }

    fn answered(&mut self, id: Option<&str>) -> AgentState {
        match id {
            Some(id) => {
                self.asked.remove(id);
            }
            None => self.asked.clear(),
        }
        if self.asked.is_empty() { AgentState::Working } else { AgentState::Waiting }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn states(events: &[Value]) -> Vec<AgentState> {
        let mut reader = EventReader::default();
        events.iter().filter_map(|event| reader.read(event)).map(|news| news.state).collect()
    }

    fn status(session: &str, status: &str) -> Value {
        let properties = json!({"sessionID": session, "status": {"type": status}});
        json!({"type": "session.status", "properties": properties})
    }

    #[test]
    fn a_turn_is_told_from_busy_to_idle() {
        let events = [status("s1", "busy"), status("s1", "retry"), status("s1", "idle")];
        assert_eq!(states(&events), [AgentState::Working, AgentState::Working, AgentState::Idle]);
        let session = EventReader::default().read(&events[0]).unwrap().session;
        assert_eq!(session.as_deref(), Some("s1"));
    }

    #[test]
    fn a_helper_that_ends_does_not_end_the_turn() {
        let helper = json!({"id": "s2", "parentID": "s1"});
        let events = [
            status("s1", "busy"),
            json!({"type": "session.created", "properties": {"info": helper}}),
            status("s2", "busy"),
            status("s2", "idle"),
        ];
        assert_eq!(states(&events), [AgentState::Working]);
    }

    #[test]
    fn every_open_dialog_must_be_answered() {
        let asked = |id: &str| json!({"type": "permission.asked", "properties": {"id": id}});
        let replied =
            |id: &str| json!({"type": "permission.replied", "properties": {"requestID": id}});
        let events = [asked("p1"), asked("p2"), replied("p1"), replied("p2")];
        let (waiting, working) = (AgentState::Waiting, AgentState::Working);
        assert_eq!(states(&events), [waiting, waiting, waiting, working]);
    }

    #[test]
    fn an_error_outlasts_the_end_of_its_turn_and_an_interruption_is_none() {
        let error = |name: &str| {
            let properties = json!({"sessionID": "s1", "error": {"name": name}});
            json!({"type": "session.error", "properties": properties})
        };
        let failed = [status("s1", "busy"), error("APIError"), status("s1", "idle")];
        assert_eq!(states(&failed), [AgentState::Working, AgentState::Error, AgentState::Error]);
        let broken_off = [status("s1", "busy"), error("MessageAbortedError"), status("s1", "idle")];
        assert_eq!(states(&broken_off), [AgentState::Working, AgentState::Idle]);
    }

    #[test]
    fn what_the_agent_said_comes_with_the_end_of_its_turn() {
        let message = |id: &str, role: &str| {
            let info = json!({"id": id, "role": role, "sessionID": "s1"});
            json!({"type": "message.updated", "properties": {"info": info}})
        };
        let part = |message: &str, id: &str, text: &str| {
            let part = json!({"id": id, "messageID": message, "type": "text", "text": text});
            json!({"type": "message.part.updated", "properties": {"part": part}})
        };
        let events = [
            message("m1", "user"),
            part("m1", "p1", "Print STATUS: DONE — x"),
            status("s1", "busy"),
            message("m2", "assistant"),
            part("m2", "p2", "I look."),
            message("m3", "assistant"),
            part("m3", "p3", "It"),
            part("m3", "p3", "It is built."),
            part("m3", "p4", "STATUS: DONE — x"),
            status("s1", "idle"),
            status("s1", "idle"),
        ];
        let mut reader = EventReader::default();
        let news = events.iter().filter_map(|event| reader.read(event));
        let messages: Vec<Option<String>> = news.map(|news| news.message).collect();
        assert_eq!(
            messages,
            [None, Some("I look.\n\nIt is built.\n\nSTATUS: DONE — x".into()), None]
        );
    }

    #[test]
    fn what_is_no_event_says_nothing() {
        for nonsense in [json!(null), json!({"type": 7}), json!({"type": "x", "properties": {}})] {
            assert_eq!(EventReader::default().read(&nonsense), None);
        }
    }
}
