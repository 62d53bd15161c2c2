//! What a client asks of the hub.

use serde::{Deserialize, Serialize};

use crate::model::{AgentName, Environment, Key, Mouse, Size};

/// A request with the number under which its response comes back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ask {
    pub id: u64,
    #[serde(flatten)]
    pub request: Request,
}

/// One request. The first of every connection is `Hello`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "request")]
pub enum Request {
    Hello {
        protocol: u32,
        version: String,
    },
    Status,
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
    Forget {
        agents: Vec<String>,
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
    /// The process tree of an agent, with what it uses.
    Tree {
        agent: String,
    },
    /// Says which panes this client shows from now on; their rows come as notices. The focused one
    /// comes first and is never held up by the rest.
    Watch {
        agents: Vec<AgentName>,
        focused: Option<AgentName>,
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
}

impl Request {
    /// Says whether asking once more does no harm when nobody knows if the first time was heard.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::Keys { .. } | Self::Restart { .. } => false,
            Self::Hello { .. }
            | Self::Status
            | Self::Up { .. }
            | Self::Start { .. }
            | Self::Stop { .. }
            | Self::Forget { .. }
            | Self::Down { .. }
            | Self::Read { .. }
            | Self::Resize { .. }
            | Self::Tree { .. }
            | Self::Explain { .. }
            | Self::FlushCast { .. }
            | Self::Reload
            | Self::Watch { .. }
            | Self::Subscribe
            | Self::History { .. }
            | Self::Teams { .. } => true,
        }
    }
}

/// Something to type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
