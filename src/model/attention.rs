//! What waits for a person.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{AgentName, Moment, NeedId, TaskId};

/// Names one thing that waits for a person, such as `a1`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = r"^a[0-9]+$", "examples" = ["a1"])))]
#[serde(try_from = "String", into = "String")]
pub struct AttentionId(pub u64);

/// Says why a text names nothing that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what waits for a person is named `a` and a number, such as `a1`")]
pub struct InvalidAttention;

impl FromStr for AttentionId {
    type Err = InvalidAttention;

    fn from_str(text: &str) -> Result<Self, InvalidAttention> {
        let number = text.strip_prefix('a').and_then(|number| number.parse().ok());
        number.map(Self).ok_or(InvalidAttention)
    }
}

impl TryFrom<String> for AttentionId {
    type Error = InvalidAttention;

    fn try_from(text: String) -> Result<Self, InvalidAttention> {
        text.parse()
    }
}

impl From<AttentionId> for String {
    fn from(id: AttentionId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for AttentionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}

/// Why a person is wanted, most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AttentionKind {
    /// An agent asks something in a dialog.
    Dialog,
    /// An agent needs what nobody else can give.
    Blocked,
    /// One agent's words would reach another for the first time.
    Consent,
    /// An agent has changed files that another owns.
    Conflict,
    /// An agent goes round in circles.
    Loop,
    /// A task has reached its limit of time, prompts or tokens, or its agent has reached one of its own.
    Limit,
    /// Nobody can tell whether a prompt was taken.
    Receipt,
    /// The place where an agent runs cannot be reached.
    Unreachable,
    /// An agent should be moving and is not.
    Stuck,
    /// A task has failed for good.
    Failed,
    /// No agent that runs fits a task.
    Unfit,
    /// A task is done.
    Finished,
}

impl fmt::Display for AttentionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Dialog => "dialog",
            Self::Blocked => "blocked",
            Self::Consent => "consent",
            Self::Conflict => "conflict",
            Self::Loop => "loop",
            Self::Limit => "limit",
            Self::Receipt => "receipt",
            Self::Unreachable => "unreachable",
            Self::Stuck => "stuck",
            Self::Failed => "failed",
            Self::Unfit => "unfit",
            Self::Finished => "finished",
        })
    }
}

/// What a person can say about a thing that waits for them, besides looking after it themselves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Ruling {
    /// The words of one agent may reach the other.
    Consent { from: AgentName, to: AgentName },
    /// What was needed is there.
    Meet { need: NeedId },
    /// What the agent changed of others' files may stay.
    Allow { agent: AgentName },
}

/// One thing that waits for a person. It goes when its cause goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Attention {
    pub id: AttentionId,
    pub kind: AttentionKind,
    pub agent: Option<AgentName>,
    pub task: Option<TaskId>,
    pub text: String,
    /// What to type about it.
    pub hint: Option<String>,
    #[serde(default)]
    pub ruling: Option<Ruling>,
    pub since: Moment,
    pub is_read: bool,
    /// A person has dealt with it, though its cause is still there.
    #[serde(default)]
    pub is_resolved: bool,
    /// What it comes from; there is one item for each cause.
    pub cause: String,
}
