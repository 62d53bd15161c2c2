//! What agents want of each other and publish for each other.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{AgentName, Moment, TaskId};

/// Names one need, such as `n1`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = r"^n[0-9]+$", "examples" = ["n1"])))]
#[serde(try_from = "String", into = "String")]
pub struct NeedId(pub u64);

/// Says why a text is not the name of a need.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a need is named `n` and a number, such as `n1`")]
pub struct InvalidNeed;

impl FromStr for NeedId {
    type Err = InvalidNeed;

    fn from_str(text: &str) -> Result<Self, InvalidNeed> {
        let number = text.strip_prefix('n').and_then(|number| number.parse().ok());
        number.map(Self).ok_or(InvalidNeed)
    }
}

impl TryFrom<String> for NeedId {
    type Error = InvalidNeed;

    fn try_from(text: String) -> Result<Self, InvalidNeed> {
        text.parse()
    }
}

impl From<NeedId> for String {
    fn from(id: NeedId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for NeedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// Something that one agent wants of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    pub id: NeedId,
    pub from: AgentName,
    /// Who can give it, where that is known.
    pub to: Option<AgentName>,
    /// The task that wants it.
    pub task: Option<TaskId>,
    /// The path or thing.
    pub thing: String,
    /// The whole of what was said.
    pub text: String,
    pub state: NeedState,
    pub since: Moment,
    /// Both sides wait for each other, and a stand-in was asked for.
    #[serde(default)]
    pub is_stubbed: bool,
}

/// How far a need has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NeedState {
    /// It waits for a person: for consent, or for someone who can give it.
    Held,
    /// It came too fast after many others, and was not sent on.
    Dropped,
    /// Whoever can give it is told.
    Sent,
    Met,
}

/// An interface that an agent published for others, in all its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    pub publisher: AgentName,
    pub title: String,
    /// Counted from one.
    pub version: u32,
    pub body: String,
    pub at: Moment,
    /// What the version before it said, and it no longer does.
    #[serde(default)]
    pub removed: Vec<String>,
}

/// Words of one agent may reach the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edge {
    pub from: AgentName,
    pub to: AgentName,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {}", self.from, self.to)
    }
}
