//! What the events say that `opencode` serves at a port of its own.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::{AgentState, DialogKind};

use super::hook::is_session;

/// Helpers that one conversation may start before the first of them are forgotten.
const CHILDREN_MAX: usize = 1024;
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
        Some(StreamNews { state, kind, line: name.to_owned(), session })
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
    fn what_is_no_event_says_nothing() {
        for nonsense in [json!(null), json!({"type": 7}), json!({"type": "x", "properties": {}})] {
            assert_eq!(EventReader::default().read(&nonsense), None);
        }
    }
}
