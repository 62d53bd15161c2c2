//! Everything that reaches the hub's one task, and the channels that bring it.

use std::fmt;
use std::rc::Rc;

use tokio::sync::mpsc;

use super::Hub;
use super::delays::Delays;
use super::outbox::{ConnectionCounts, Outbox};
use crate::api::Ask;
use crate::detect::StreamNews;
use crate::keeper::{FromKeeper, Standing, Tracer};
use crate::model::{AgentName, RunId};
use crate::store::Outcome;

/// Requests that wait their turn; a full channel makes the clients wait.
const REQUESTS_MAX: usize = 64;

/// So many requests come before output that waits: a team whose agents report all the time always has
/// another, and what a person types must be echoed all the same.
const REQUESTS_IN_A_ROW: u32 = 8;

/// Pieces of output that wait their turn. Few, so that what a person waits for is never far behind
/// a flood; a full channel stops the reading of keepers, and so, in the end, the flooding agent.
const OUTPUTS_MAX: usize = 4;

/// Names one connection of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClientId(pub(super) u64);

/// What follows once something is done, on the hub's thread.
pub(super) struct Continuation(pub(super) Box<dyn FnOnce(&mut Hub)>);

impl fmt::Debug for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Continuation")
    }
}

/// Something that happened outside.
#[derive(Debug)]
pub(super) enum HubInput {
    Client(ClientId, ClientNews),
    Keeper(AgentName, RunId, LinkNews),
    /// A child process has ended; which one, the hub finds out.
    ChildEnded,
    /// An agent's own server told of an event, or tells nothing any more.
    Stream {
        agent: AgentName,
        run: RunId,
        news: Option<StreamNews>,
    },
    /// Work beside the hub is done, and something follows from it.
    Continue(Continuation),
    /// A file of settings may have changed.
    SettingsChanged,
    /// What became of what was handed to the record.
    Record(Outcome),
    /// The machine or a person tells the hub's process to end.
    Terminate,
}

/// How a client broke the protocol.
#[derive(Debug, Default)]
pub(super) struct Breach {
    pub(super) reason: String,
    /// What of it was not understood. It may quote a secret: it is for the client and for no log.
    pub(super) quoted: String,
    /// It speaks in lines, as reporters do.
    pub(super) in_lines: bool,
}

/// What a client did.
#[derive(Debug)]
pub(super) enum ClientNews {
    /// A guest came through the door of an agent, and speaks for that one alone.
    Came {
        outbox: Outbox,
        guest: Option<(AgentName, RunId)>,
        standing: Standing,
    },
    Asked(Box<Ask>),
    /// A reporter made for another tool said something, in a line.
    Line(Vec<u8>),
    /// It has taken everything that was sent to it.
    CaughtUp,
    /// It said something that is not a request.
    Broke(Breach),
    Left,
}

/// What a keeper said, or that it is gone.
#[derive(Debug)]
pub(super) enum LinkNews {
    Frame(FromKeeper),
    /// Nobody holds the agent's lock any more.
    Lost,
    /// The run's keeper never came up; a place elsewhere says why.
    NeverCame(Option<String>),
    /// The place where it runs cannot be reached; the text says why.
    OutOfReach(String),
}

/// The hub's end of the channels.
#[derive(Debug)]
pub(super) struct Inbox {
    /// The record's thread never waits for the hub, or neither could end; there is at most one
    /// outcome for each batch.
    outcomes: mpsc::UnboundedReceiver<Outcome>,
    to_outcomes: mpsc::UnboundedSender<Outcome>,
    requests: mpsc::Receiver<HubInput>,
    urgent: mpsc::Receiver<HubInput>,
    outputs: mpsc::Receiver<HubInput>,
    /// How many requests came since something else did.
    requests_in_a_row: u32,
}

/// The other end, for those who bring something.
#[derive(Clone, Debug)]
pub(super) struct Senders {
    pub(super) requests: mpsc::Sender<HubInput>,
    /// Output of a pane that someone is typing into overtakes the rest.
    pub(super) urgent: mpsc::Sender<HubInput>,
    pub(super) outputs: mpsc::Sender<HubInput>,
    pub(super) delays: Rc<Delays>,
    pub(super) visitors: Rc<ConnectionCounts>,
    pub(super) tracer: Rc<Tracer>,
}

impl Inbox {
    pub(super) fn open(tracer: Tracer) -> (Self, Senders) {
        let (to_outcomes, outcomes) = mpsc::unbounded_channel();
        let (to_requests, requests) = mpsc::channel(REQUESTS_MAX);
        let (to_urgent, urgent) = mpsc::channel(OUTPUTS_MAX);
        let (to_outputs, outputs) = mpsc::channel(OUTPUTS_MAX);
        let senders = Senders {
            requests: to_requests,
            urgent: to_urgent,
            outputs: to_outputs,
            delays: Rc::new(Delays::new()),
            visitors: Rc::default(),
            tracer: Rc::new(tracer),
        };
        let requests_in_a_row = 0;
        (Self { outcomes, to_outcomes, requests, urgent, outputs, requests_in_a_row }, senders)
    }

    /// Returns where the record's thread tells what became of a batch.
    pub(super) fn outcomes(&self) -> mpsc::UnboundedSender<Outcome> {
        self.to_outcomes.clone()
    }

    /// Waits for what the record's thread tells next.
    pub(super) async fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.recv().await
    }

    /// Waits for the next input: what waits for the record and what people ask first, floods last.
    pub(super) async fn next(&mut self) -> Option<HubInput> {
        if self.requests_in_a_row >= REQUESTS_IN_A_ROW {
            self.requests_in_a_row = 0;
            if let Ok(input) = self.urgent.try_recv().or_else(|_| self.outputs.try_recv()) {
                return Some(input);
            }
        }
        let (input, is_request) = tokio::select! {
            biased;
            outcome = self.outcomes.recv() => (outcome.map(HubInput::Record), false),
            input = self.requests.recv() => (input, true),
            input = self.urgent.recv() => (input, false),
            input = self.outputs.recv() => (input, false),
        };
        self.requests_in_a_row = if is_request { self.requests_in_a_row + 1 } else { 0 };
        input
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_who_ask_do_not_keep_output_waiting() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut inbox, senders) = Inbox::open(Tracer::default());
            for _ in 0..4 * REQUESTS_IN_A_ROW {
                senders.requests.send(HubInput::SettingsChanged).await.unwrap();
            }
            for _ in 0..3 {
                senders.outputs.send(HubInput::Terminate).await.unwrap();
            }
            let mut places = Vec::new();
            for place in 0..4 * REQUESTS_IN_A_ROW {
                if matches!(inbox.next().await, Some(HubInput::Terminate)) {
                    places.push(place);
                }
            }
            let every = REQUESTS_IN_A_ROW + 1;
            assert_eq!(places, [every - 1, 2 * every - 1, 3 * every - 1]);
        });
    }
}
