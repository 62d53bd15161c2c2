//! What the hub is asked: why, under which key, and what it has not answered yet. Whatever is sent
//! again after the hub went away is done once.

use std::collections::BTreeMap;

use super::App;
use crate::api::{Ask, Request};
use crate::model::{Against, AgentName, ReceiptId, TaskId};
use crate::tui::grid::Layout;
use crate::tui::reading::TextPlace;

/// Why something was asked, so that its answer is understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Hello,
    /// The answer matters only if it is a refusal.
    Order,
    /// Not even a refusal matters: the next notice tells the truth.
    Upkeep,
    Status,
    Teams,
    Up {
        layout: Option<Layout>,
    },
    History {
        agent: AgentName,
    },
    /// The links of a pane; the one at a place, if one is named.
    Links {
        agent: AgentName,
        at: Option<TextPlace>,
    },
    /// A part of a pane's text, for whoever searches all of them.
    Search {
        agent: AgentName,
    },
    Clis,
    Add {
        agent: AgentName,
    },
    Dispatch(SentPrompt),
    Withdraw,
    Answer {
        agent: AgentName,
    },
    Interrupt {
        agent: AgentName,
    },
    /// All about one task.
    Task {
        task: TaskId,
    },
    /// What the form on top asked for.
    TaskForm,
    /// Which files differ; or the lines of one, with the stamp that it had.
    Diff {
        agent: AgentName,
        against: Against,
        path: Option<(String, String)>,
    },
    /// The comments on an agent's changes: that they are sent, or what becomes of them then.
    Review {
        agent: AgentName,
        receipt: Option<ReceiptId>,
    },
}

/// How a prompt finds its agents; each kind has a draft of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptKind {
    Dispatch,
    Broadcast,
}

/// A prompt that was handed to the hub, for as long as its answer is not here.
///
/// It has all that it takes to hand it over again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentPrompt {
    pub kind: PromptKind,
    /// All that was written, addresses included.
    pub draft: String,
    pub agents: Vec<String>,
    pub prompt: String,
    /// The hub sends it once under this name, however often it is asked to.
    pub key: String,
    pub anyway: bool,
}

impl SentPrompt {
    pub(crate) fn request(&self) -> Request {
        Request::Dispatch {
            agents: self.agents.clone(),
            prompt: self.prompt.clone(),
            idempotency_key: Some(self.key.clone()),
            anyway: self.anyway,
            command: false,
            no_queue: false,
        }
    }
}

/// What the hub had not answered when it went away; more than a person sends again.
const LOST_MAX: usize = 16;

/// Which request stands under which key.
#[derive(Debug, Default)]
pub(crate) struct RequestKeys {
    /// By their numbers: what was asked, and its key.
    open: BTreeMap<u64, (String, String)>,
    lost: Vec<(String, String)>,
}

impl RequestKeys {
    /// Returns the key of a request: that of the same one whose answer was lost, or a new one.
    pub(super) fn key(&mut self, id: u64, request: &Request, new: String) -> Option<String> {
        if !request.takes_key() || request.own_key().is_some() {
            return None;
        }
        let asked = request.essence();
        let before = self.lost.iter().position(|(lost, _)| *lost == asked);
        let key = before.map_or(new, |at| self.lost.remove(at).1);
        self.open.insert(id, (asked, key.clone()));
        Some(key)
    }

    /// Takes note that a request was answered.
    pub(crate) fn note_answer(&mut self, id: u64) {
        self.open.remove(&id);
    }

    /// Takes note that the hub went away.
    pub(crate) fn lose_hub(&mut self) {
        self.lost.extend(std::mem::take(&mut self.open).into_values());
        let excess = self.lost.len().saturating_sub(LOST_MAX);
        self.lost.drain(..excess);
    }
}

impl App {
    /// Returns a key that nothing else was asked under.
    pub(crate) fn new_key(&self) -> String {
        format!("dashboard-{}-{}-{}", std::process::id(), self.now.0, self.next_id)
    }

    /// Hands a prompt to the hub.
    pub(crate) fn post(&mut self, mail: SentPrompt) {
        let request = mail.request();
        self.ask(Purpose::Dispatch(mail), request);
    }

    /// Asks the hub for something; its answer comes back with the purpose.
    pub(crate) fn ask(&mut self, purpose: Purpose, request: Request) {
        // Keys of one burst travel together.
        if let Request::Keys { agent, keys } = &request
            && let Some(Ask { request: Request::Keys { agent: before, keys: earlier }, .. }) =
                self.asks.last_mut()
            && agent == before
        {
            earlier.extend_from_slice(keys);
            return;
        }
        let (id, new) = (self.next_id, self.new_key());
        self.next_id += 1;
        self.pending.insert(id, purpose);
        let key = self.repeats.key(id, &request, new);
        self.asks.push(Ask { id, key, request });
    }

    /// Returns what was asked since the last time.
    pub(crate) fn take_asks(&mut self) -> Vec<Ask> {
        std::mem::take(&mut self.asks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_lost_and_is_the_same_keeps_its_key() {
        let forget = |name: &str| Request::Forget { agents: vec![name.to_owned()], abandon: false };
        let mut repeats = RequestKeys::default();
        let key =
            |repeats: &mut RequestKeys, id, name| repeats.key(id, &forget(name), format!("k{id}"));
        assert_eq!(key(&mut repeats, 1, "one").unwrap(), "k1");
        assert_eq!(key(&mut repeats, 2, "one").unwrap(), "k2", "it is asked for twice");
        repeats.note_answer(1);
        repeats.lose_hub();
        assert_eq!(key(&mut repeats, 3, "two").unwrap(), "k3");
        assert_eq!(key(&mut repeats, 4, "one").unwrap(), "k2");
        assert_eq!(key(&mut repeats, 5, "one").unwrap(), "k5");
        assert_eq!(repeats.key(6, &Request::Status, "k6".to_owned()), None);
    }
}
