//! Everything that reaches the hub's one task, and the channels that bring it.

use std::rc::Rc;

use tokio::sync::mpsc;

use super::artifacts::Waiting;
use super::briefs::{Memories, Resumption};
use super::delays::Delays;
use super::requests::Asker;
use super::session::Outbox;
use crate::detect::StreamNews;
use crate::engine::Event;
use crate::keeper::FromKeeper;
use crate::model::{AgentName, ProcessInfo, RunId};
use crate::store::{Outcome, Recorded};
use crate::wire::Ask;

/// Requests that wait their turn; a full channel makes the clients wait.
const REQUESTS_MAX: usize = 64;

/// Pieces of output that wait their turn. Few, so that what a person waits for is never far behind
/// a flood; a full channel stops the reading of keepers, and so, in the end, the flooding agent.
const OUTPUTS_MAX: usize = 4;

/// Names one connection of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClientId(pub(super) u64);

/// Something that happened outside.
#[derive(Debug)]
pub(super) enum Input {
    Client(ClientId, ClientNews),
    Keeper(AgentName, RunId, LinkNews),
    /// A child process has ended; which one, the hub finds out.
    ChildEnded,
    Swept {
        agent: AgentName,
        run: RunId,
        survivors: Vec<ProcessInfo>,
    },
    /// An agent's own server told of an event, or tells nothing any more.
    Stream {
        agent: AgentName,
        run: RunId,
        news: Option<StreamNews>,
    },
    /// The file that a report is about has been looked at; the fault says what is wrong with it.
    Examined {
        waiting: Box<Waiting>,
        fault: Option<String>,
    },
    /// What a client wanted to read of the journal.
    Looked {
        asker: Asker,
        found: Result<Vec<Recorded>, String>,
    },
    /// The outcome of something that took a while.
    Came(Event),
    /// What agents that are to come back have left behind.
    Gathered {
        plan: Resumption,
        memories: Memories,
    },
    /// A file of settings may have changed.
    SettingsChanged,
    /// What became of what was handed to the record.
    Record(Outcome),
    /// The machine or a person tells the hub's process to end.
    Terminate,
}

/// What a client did.
#[derive(Debug)]
pub(super) enum ClientNews {
    /// With the number of its process, where the system tells it.
    Came(Outbox, Option<u32>),
    Asked(Ask),
    /// It has taken everything that was sent to it.
    CaughtUp,
    /// It said something that is not a request; the text says what.
    Broke(String),
    Left,
}

/// What a keeper said, or that it is gone.
#[derive(Debug)]
pub(super) enum LinkNews {
    Frame(FromKeeper),
    /// Nobody holds the agent's lock any more.
    Lost,
    /// The run's keeper never came up.
    NeverCame,
}

/// The hub's end of the channels.
#[derive(Debug)]
pub(super) struct Inbox {
    /// The record's thread never waits for the hub, or neither could end; there is at most one
    /// outcome for each batch.
    outcomes: mpsc::UnboundedReceiver<Outcome>,
    to_outcomes: mpsc::UnboundedSender<Outcome>,
    requests: mpsc::Receiver<Input>,
    urgent: mpsc::Receiver<Input>,
    outputs: mpsc::Receiver<Input>,
}

/// The other end, for those who bring something.
#[derive(Clone, Debug)]
pub(super) struct Senders {
    pub(super) requests: mpsc::Sender<Input>,
    /// Output of a pane that someone is typing into overtakes the rest.
    pub(super) urgent: mpsc::Sender<Input>,
    pub(super) outputs: mpsc::Sender<Input>,
    pub(super) delays: Rc<Delays>,
}

impl Inbox {
    pub(super) fn open() -> (Self, Senders) {
        let (to_outcomes, outcomes) = mpsc::unbounded_channel();
        let (to_requests, requests) = mpsc::channel(REQUESTS_MAX);
        let (to_urgent, urgent) = mpsc::channel(OUTPUTS_MAX);
        let (to_outputs, outputs) = mpsc::channel(OUTPUTS_MAX);
        let senders = Senders {
            requests: to_requests,
            urgent: to_urgent,
            outputs: to_outputs,
            delays: Rc::new(Delays::new()),
        };
        (Self { outcomes, to_outcomes, requests, urgent, outputs }, senders)
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
    pub(super) async fn next(&mut self) -> Option<Input> {
        tokio::select! {
            biased;
            outcome = self.outcomes.recv() => outcome.map(Input::Record),
            input = self.requests.recv() => input,
            input = self.urgent.recv() => input,
            input = self.outputs.recv() => input,
        }
    }
}
