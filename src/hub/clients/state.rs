//! Knows who is connected, for whom each client speaks, and who waits for which answer.

use std::collections::BTreeMap;
use std::hash::RandomState;

use super::askers::{Asker, Reply};
use super::views::ClientView;
use crate::api::{Fault, FromHub};
use crate::hub::inbox::ClientId;
use crate::hub::outbox::Outbox;
use crate::keeper::Standing;
use crate::model::{AgentName, Keyed, Moment, RequestId, RunId};

/// All clients.
#[derive(Debug, Default)]
pub(in crate::hub) struct Clients {
    pub(super) by_id: BTreeMap<ClientId, Client>,
    /// Who asked for what is still being carried out.
    askers: BTreeMap<RequestId, Asker>,
    /// Who wants to see the process tree of an agent, oldest first.
    tree_askers: BTreeMap<AgentName, Vec<Asker>>,
    last_request: u64,
    pub(super) status_sent_at: Moment,
    /// Makes the numbers that stand for rows.
    pub(super) marks: RandomState,
}

/// One client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) outbox: Outbox,
    /// Where the process at the other end stands.
    pub(super) standing: Standing,
    /// The agent for which it speaks.
    pub(super) speaker: Option<(AgentName, RunId)>,
    pub(super) is_greeted: bool,
    /// What it said that it speaks.
    pub(super) protocol: Option<u32>,
    /// Why its greeting was not taken.
    refusal: Option<Fault>,
    /// The keys of its requests that are about to be decided.
    keys: BTreeMap<u64, Keyed>,
    pub(super) view: ClientView,
}

impl Clients {
    /// Takes in a client; a guest speaks for an agent from the beginning.
    pub(in crate::hub) fn welcome(
        &mut self,
        client: ClientId,
        outbox: Outbox,
        speaker: Option<(AgentName, RunId)>,
        standing: Standing,
    ) {
        let one = Client {
            outbox,
            standing,
            speaker,
            is_greeted: false,
            protocol: None,
            refusal: None,
            keys: BTreeMap::new(),
            view: ClientView::default(),
        };
        self.by_id.insert(client, one);
    }

    /// Forgets a client, and returns what it had asked for that is still being carried out.
    pub(in crate::hub) fn dismiss(&mut self, client: ClientId) -> Vec<RequestId> {
        self.by_id.remove(&client);
        let is_its = |asker: &Asker| asker.client == client;
        for askers in self.tree_askers.values_mut() {
            askers.retain(|asker| !is_its(asker));
        }
        let requests = self.askers.extract_if(.., |_, asker| is_its(asker));
        requests.map(|(request, _)| request).collect()
    }

    /// Returns the agent, and its run, for which a client speaks; nothing for a person.
    pub(in crate::hub) fn speaker(&self, client: ClientId) -> Option<&(AgentName, RunId)> {
        self.by_id.get(&client)?.speaker.as_ref()
    }

    /// Returns the agent for which a client speaks.
    pub(in crate::hub) fn agent_of(&self, client: ClientId) -> Option<&AgentName> {
        self.speaker(client).map(|(agent, _)| agent)
    }

    pub(in crate::hub) fn is_greeted(&self, client: ClientId) -> bool {
        self.by_id.get(&client).is_some_and(|one| one.is_greeted)
    }

    /// Returns what a client said that it speaks, if it said anything.
    pub(in crate::hub) fn protocol_of(&self, client: ClientId) -> Option<u32> {
        self.by_id.get(&client)?.protocol
    }

    pub(in crate::hub) fn note_refusal(&mut self, client: ClientId, refusal: Option<Fault>) {
        if let Some(one) = self.by_id.get_mut(&client) {
            one.refusal = refusal;
        }
    }

    /// Returns why a client was not greeted, if it tried.
    pub(in crate::hub) fn refusal_of(&self, client: ClientId) -> Option<&Fault> {
        self.by_id.get(&client)?.refusal.as_ref()
    }

    /// Keeps the key of a request until that is decided.
    pub(in crate::hub) fn keep_key(&mut self, asker: Asker, key: Keyed) {
        if let Some(one) = self.by_id.get_mut(&asker.client) {
            one.keys.insert(asker.id, key);
        }
    }

    pub(in crate::hub) fn take_key(&mut self, asker: Asker) -> Option<Keyed> {
        self.by_id.get_mut(&asker.client)?.keys.remove(&asker.id)
    }

    /// Returns a number for a request that is answered later.
    pub(in crate::hub) fn expect_answer(&mut self, asker: Asker) -> RequestId {
        self.last_request += 1;
        let request = RequestId(self.last_request);
        self.askers.insert(request, asker);
        request
    }

    /// Says whether a request counts only if it is on record.
    pub(in crate::hub) fn wants_record(&self, request: RequestId) -> bool {
        self.askers.get(&request).is_some_and(|asker| asker.wants_record)
    }

    /// Answers a request, if somebody still waits for it.
    pub(in crate::hub) fn answer_request(&mut self, request: RequestId, answer: Reply) {
        if let Some(asker) = self.askers.remove(&request) {
            self.answer(asker, answer);
        }
    }

    pub(in crate::hub) fn answer(&self, asker: Asker, outcome: Reply) {
        debug_assert!(
            outcome.as_ref().map_or(true, |response| asker.kind.is_answered_by(response)),
            "{:?} is answered otherwise than its row says: {outcome:?}",
            asker.kind
        );
        self.send(asker.client, &FromHub::Answer { id: asker.id, outcome });
    }

    pub(in crate::hub) fn send(&self, client: ClientId, frame: &FromHub) {
        if let Some(one) = self.by_id.get(&client) {
            one.outbox.send(frame);
        }
    }

    /// Sends a line to a reporter that speaks in lines.
    pub(in crate::hub) fn send_line(&self, client: ClientId, line: &serde_json::Value) {
        if let Some(one) = self.by_id.get(&client) {
            one.outbox.send_line(line);
        }
    }

    /// Lets the next request of a client in.
    pub(in crate::hub) fn note_heard(&self, client: ClientId) {
        if let Some(one) = self.by_id.get(&client) {
            one.outbox.note_heard();
        }
    }

    /// Notes who waits for the process tree of an agent.
    pub(in crate::hub) fn await_tree(&mut self, agent: AgentName, asker: Asker) {
        self.tree_askers.entry(agent).or_default().push(asker);
    }

    /// Returns who has waited longest for the process tree of an agent.
    pub(in crate::hub) fn next_for_tree(&mut self, agent: &AgentName) -> Option<Asker> {
        let askers = self.tree_askers.get_mut(agent).filter(|askers| !askers.is_empty());
        askers.map(|askers| askers.remove(0))
    }

    /// Returns all who wait for the process tree of an agent: its keeper is gone.
    pub(in crate::hub) fn all_for_tree(&mut self, agent: &AgentName) -> Vec<Asker> {
        self.tree_askers.remove(agent).unwrap_or_default()
    }
}
