//! What a client asks of the hub.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{LockRequest, RunRequest, TaskRequest, WorkspaceRequest};
use crate::model::{
    Against, AgentName, AgentState, Environment, Key, KeyCode, Limits, Mouse, ReceiptId, Role,
    Size, Token, WorkspaceChoice,
};
use crate::protocol::ReportKind;

/// A request with the number under which its response comes back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ask {
    pub id: u64,
    /// A word of the client's own, of up to 128 letters, digits and `-_.:`. What changes something is
    /// done once under one key: made again, with the answer lost or not, it is answered as it was, also
    /// by a hub that came after a crash. Another request under the same key is refused. Each speaker
    /// has keys of its own; the last 256 are known. It is ignored where nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(flatten)]
    pub request: Request,
}

/// One request. The first of every connection is `Hello`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "request")]
pub enum Request {
    Hello {
        protocol: u32,
        version: String,
        /// Who has one speaks for the agent that it was given to, and for nobody else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Token>,
    },
    Status,
    /// What an agent has to say in the protocol. The call is a random word: the same one again is
    /// the same report, made again because the answer was lost.
    Report {
        call: String,
        kind: ReportKind,
        text: String,
        /// The file that says what the artifact must be like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<String>,
        /// The tag of the attempt that it is about; one of another attempt counts for nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<String>,
    },
    /// Who speaks, as the hub sees it, and what it may ask.
    Me,
    /// What a hook of an agent's cli said, as it said it.
    Hook {
        call: String,
        said: serde_json::Value,
    },
    /// Starts those agents of a team that do not run. Without a team: the only one there is.
    Up {
        team: Option<String>,
        environment: Environment,
    },
    Start {
        agents: Vec<String>,
        environment: Environment,
    },
    Stop {
        agents: Vec<String>,
        grace_ms: Option<u64>,
    },
    Restart {
        agents: Vec<String>,
        environment: Environment,
        grace_ms: Option<u64>,
    },
    /// Restarts agents, running or not, with the conversation that each had last.
    Resume {
        agents: Vec<String>,
        environment: Environment,
        grace_ms: Option<u64>,
        /// Who cannot take one up begins a new one, and is told what the record knows.
        #[serde(default)]
        brief: bool,
    },
    Forget {
        agents: Vec<String>,
        /// Also those that are out of reach, and may still run where they are.
        #[serde(default)]
        abandon: bool,
    },
    Down {
        force: bool,
    },
    /// Reads a pane as plain text: the last `lines`, and what has scrolled away if asked for.
    Read {
        agent: String,
        lines: Option<usize>,
        scrollback: bool,
    },
    /// Hands a prompt to agents, each at its next safe moment; to all that run, if none is named.
    Dispatch {
        agents: Vec<String>,
        prompt: String,
        #[serde(default)]
        idempotency_key: Option<String>,
        /// Types it even where no rule says that the agent waits for a prompt, or a limit holds it up.
        #[serde(default)]
        anyway: bool,
        /// It is a command of the program, such as `/compact`, and not words for the model.
        #[serde(default)]
        command: bool,
        /// Refuses it unless it can be typed now.
        #[serde(default)]
        no_queue: bool,
    },
    /// Hands out what a template says, with a tag for each agent.
    DispatchTemplate {
        agents: Vec<String>,
        template: String,
        vars: BTreeMap<String, String>,
        #[serde(default)]
        idempotency_key: Option<String>,
        #[serde(default)]
        anyway: bool,
        /// Refuses it unless it can be typed now.
        #[serde(default)]
        no_queue: bool,
    },
    /// Takes back a prompt that has not been typed yet.
    Withdraw {
        receipt: ReceiptId,
    },
    /// Is answered when these prompts go no further.
    AwaitReceipts {
        receipts: Vec<ReceiptId>,
    },
    /// Is answered when the agent is in one of these states.
    AwaitAgent {
        agent: String,
        states: Vec<AgentState>,
    },
    /// Answers the dialog with this fingerprint, and no other.
    Answer {
        agent: String,
        dialog: String,
        choice: DialogChoice,
    },
    /// Ends what an agent is doing, the way its cli wants it.
    Interrupt {
        agent: String,
    },
    /// Presses keys and types text, one after the other.
    Keys {
        agent: String,
        keys: Vec<KeyInput>,
    },
    Resize {
        agent: String,
        size: Size,
    },
    /// Why an agent is shown in its state.
    Explain {
        agent: String,
    },
    /// Reads the settings anew and takes them over.
    Reload,
    /// Writes all that was recorded of an agent to its files.
    FlushCast {
        agent: String,
    },
    /// How the files of an agent's workspace differ from a commit: which do, or the hunks of some.
    Diff {
        agent: String,
        #[serde(default)]
        against: Against,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// The process tree of an agent, with what it uses.
    Tree {
        agent: String,
    },
    /// Says which panes this client shows from now on; their rows come as notices. The focused one
    /// comes first and is never held up by the rest.
    Watch {
        agents: Vec<AgentName>,
        focused: Option<AgentName>,
        /// The person has the focused one before their eyes: nobody need tell them of it.
        #[serde(default)]
        is_attended: bool,
    },
    /// Asks to be told of every change of the status from now on.
    Subscribe,
    /// Rows that have scrolled off a pane: `count` of them before the line number `before`, or the
    /// newest ones.
    History {
        agent: String,
        before: Option<u64>,
        count: u16,
    },
    /// The teams that could be started, and what each of them would run for this caller.
    Teams {
        environment: Environment,
    },
    /// The clis that an agent could be added with, and what each of them would run for this caller.
    Clis {
        environment: Environment,
    },
    /// Adds an agent to a team that runs, and starts it.
    Add {
        agent: NewAgent,
        environment: Environment,
    },
    /// About tasks, and what waits for a person.
    Task {
        ask: TaskRequest,
    },
    /// About runs of playbooks.
    Run {
        ask: RunRequest,
    },
    Lock {
        ask: LockRequest,
    },
    Workspace {
        ask: WorkspaceRequest,
    },
    /// Interfaces that agents have published: all at a glance, or the whole of those with a title.
    Contracts {
        #[serde(default)]
        publisher: Option<String>,
        #[serde(default)]
        title: Option<String>,
        /// The newest one, if none is named.
        #[serde(default)]
        version: Option<u32>,
    },
    /// What happened after the entry with this number, oldest first.
    Events {
        #[serde(default)]
        after: u64,
        limit: usize,
        #[serde(default)]
        agent: Option<String>,
        #[serde(default)]
        task: Option<String>,
        /// Only kinds that begin like this.
        #[serde(default)]
        kind: Option<String>,
    },
}

impl Request {
    /// Says whether asking once more does no harm when nobody knows if the first time was heard.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::Keys { .. }
            | Self::Restart { .. }
            | Self::Resume { .. }
            | Self::Answer { .. }
            | Self::Interrupt { .. }
            | Self::Add { .. } => false,
            Self::Dispatch { idempotency_key, .. }
            | Self::DispatchTemplate { idempotency_key, .. } => idempotency_key.is_some(),
            Self::Task { ask } => ask.is_repeatable(),
            Self::Hello { .. }
            | Self::Status
            | Self::Withdraw { .. }
            | Self::AwaitReceipts { .. }
            | Self::AwaitAgent { .. }
            | Self::Report { .. }
            | Self::Hook { .. }
            | Self::Up { .. }
            | Self::Start { .. }
            | Self::Stop { .. }
            | Self::Forget { .. }
            | Self::Down { .. }
            | Self::Read { .. }
            | Self::Resize { .. }
            | Self::Tree { .. }
            | Self::Diff { .. }
            | Self::Explain { .. }
            | Self::FlushCast { .. }
            | Self::Reload
            | Self::Watch { .. }
            | Self::Subscribe
            | Self::History { .. }
            | Self::Teams { .. }
            | Self::Clis { .. }
            | Self::Run { .. }
            | Self::Workspace { .. }
            | Self::Me
            | Self::Contracts { .. }
            | Self::Events { .. }
            | Self::Lock { .. } => true,
        }
    }

    /// Says whether it is about something that counts only if it is on record. Looking, typing and
    /// stopping go on without one.
    pub fn wants_record(&self) -> bool {
        match self {
            Self::Up { .. }
            | Self::Start { .. }
            | Self::Restart { .. }
            | Self::Add { .. }
            | Self::Forget { .. }
            | Self::Dispatch { .. }
            | Self::DispatchTemplate { .. }
            | Self::Resume { .. }
            | Self::Withdraw { .. }
            | Self::Report { .. } => true,
            Self::Task { ask } => ask.wants_record(),
            Self::Run { ask } => ask.wants_record(),
            Self::Lock { ask } => ask.wants_record(),
            Self::Workspace { ask } => ask.wants_record(),
            Self::Hello { .. }
            | Self::Status
            | Self::Me
            | Self::Contracts { .. }
            | Self::Events { .. }
            | Self::Reload
            | Self::FlushCast { .. }
            | Self::AwaitReceipts { .. }
            | Self::AwaitAgent { .. }
            | Self::Hook { .. }
            | Self::Stop { .. }
            | Self::Down { .. }
            | Self::Keys { .. }
            | Self::Answer { .. }
            | Self::Interrupt { .. }
            | Self::Read { .. }
            | Self::Resize { .. }
            | Self::Tree { .. }
            | Self::Diff { .. }
            | Self::Explain { .. }
            | Self::Watch { .. }
            | Self::Subscribe
            | Self::History { .. }
            | Self::Teams { .. }
            | Self::Clis { .. } => false,
        }
    }
}

/// What someone chooses in a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DialogChoice {
    /// One of its options, counted from one as on the screen.
    Option(usize),
    /// Yes, or no, where it lists no options.
    Approve,
    Deny,
}

/// An agent that no file names.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NewAgent {
    pub name: String,
    pub cli: String,
    #[serde(default)]
    pub role: Role,
    /// Without one: the team that runs.
    #[serde(default)]
    pub team: Option<String>,
    /// Relative to the project; without one, the project itself.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// Set for this agent alone.
    #[serde(default)]
    pub env: Environment,
    /// Run instead of the cli's own command; empty for that one.
    #[serde(default)]
    pub command: Vec<String>,
    /// Where it works, and within which bounds; one that an agent starts has those of that agent.
    #[serde(default, skip_serializing_if = "WantedPosting::is_unsaid")]
    pub posting: WantedPosting,
}

/// Where a new agent works, and within which bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WantedPosting {
    /// Without one: as `[workspace]` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceChoice>,
    /// A runner of the settings; without one, this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// Whether it runs in a sandbox.
    #[serde(default)]
    pub sandbox: bool,
    #[serde(default)]
    pub limits: Limits,
}

impl WantedPosting {
    /// Says whether nothing is said.
    pub fn is_unsaid(&self) -> bool {
        *self == Self::default()
    }
}

/// Something to type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeyInput {
    Key(Key),
    /// Text as if typed, character by character.
    Text(String),
    /// Text as if pasted.
    Paste(String),
    /// Goes to the application only if it asked for the mouse.
    Mouse(Mouse),
    /// The pane has gained or lost the person's attention.
    Focus(bool),
}

impl KeyInput {
    /// Says whether someone types, and does not only look.
    pub fn is_typing(&self) -> bool {
        match self {
            Self::Key(_) | Self::Text(_) | Self::Paste(_) => true,
            Self::Mouse(_) | Self::Focus(_) => false,
        }
    }

    /// Says whether it is Enter, which submits what was typed or answers a dialog.
    pub fn is_enter(&self) -> bool {
        matches!(self, Self::Key(key) if key.code == KeyCode::Enter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Status;

    #[test]
    fn no_field_of_a_request_hides_the_number_of_its_frame() {
        let report = Request::Report {
            call: "c1".into(),
            kind: ReportKind::Status(Status::Done),
            text: "x".into(),
            schema: None,
            tag: None,
        };
        let hook = Request::Hook { call: "c2".into(), said: serde_json::json!({"id": "s"}) };
        let token = Some(Token("secret".into()));
        let hello = Request::Hello { protocol: 1, version: "1".into(), token };
        for request in [report, hook, hello] {
            let ask = Ask { id: 7, key: Some("k".into()), request };
            let text = serde_json::to_string(&ask).unwrap();
            let read: Ask = serde_json::from_str(&text).unwrap();
            assert_eq!((read.id, read.key.as_deref()), (7, Some("k")));
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
    }
}
