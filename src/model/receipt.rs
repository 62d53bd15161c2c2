//! Handing a prompt to an agent, and what is known of its way.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{AgentName, Moment};

/// Names one dispatch, such as `r12`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("pattern" = r"^r[0-9]+$", "examples" = ["r1"])))]
#[serde(try_from = "String", into = "String")]
pub struct ReceiptId(pub u64);

/// Says why a text is not the name of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a receipt is named `r` and a number, such as `r12`")]
pub struct InvalidReceipt;

impl FromStr for ReceiptId {
    type Err = InvalidReceipt;

    fn from_str(text: &str) -> Result<Self, InvalidReceipt> {
        let number = text.strip_prefix('r').and_then(|number| number.parse().ok());
        number.map(Self).ok_or(InvalidReceipt)
    }
}

impl TryFrom<String> for ReceiptId {
    type Error = InvalidReceipt;

    fn try_from(text: String) -> Result<Self, InvalidReceipt> {
        text.parse()
    }
}

impl From<ReceiptId> for String {
    fn from(id: ReceiptId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for ReceiptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// How far a prompt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// It waits for a safe moment: nothing of it has been typed.
    Queued,
    /// Typing has begun. From here on it is never typed again.
    Typed,
    /// The agent shows it in its prompt box.
    Seen,
    /// Enter was pressed.
    Submitted,
    /// The agent has taken it up.
    Accepted,
    /// It was not typed, and will not be.
    Refused,
    /// It was typed, and the agent did not take it up.
    Stalled,
    /// Nobody can tell whether the agent took it up.
    Unknown,
    /// Whoever sent it took it back before it was typed.
    Withdrawn,
}

impl Stage {
    /// Says whether the prompt goes no further.
    pub fn is_final(self) -> bool {
        match self {
            Self::Queued | Self::Typed | Self::Seen | Self::Submitted => false,
            Self::Accepted | Self::Refused | Self::Stalled | Self::Unknown | Self::Withdrawn => {
                true
            }
        }
    }

    /// Says whether some of it may stand in the agent's terminal, and no more is known yet.
    pub fn is_under_way(self) -> bool {
        !self.is_final() && self != Self::Queued
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Queued => "queued",
            Self::Typed => "typed",
            Self::Seen => "seen",
            Self::Submitted => "submitted",
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::Stalled => "stalled",
            Self::Unknown => "unknown",
            Self::Withdrawn => "withdrawn",
        })
    }
}

/// What is known of one dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Receipt {
    pub receipt: ReceiptId,
    pub agent: AgentName,
    pub state: Stage,
    /// Why it waits, or why it went no further.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The beginning of the prompt.
    pub prompt: String,
    /// When it came into this state.
    #[serde(with = "super::moment::rfc3339")]
    #[cfg_attr(test, schemars(with = "String", extend("format" = "date-time")))]
    pub since: Moment,
}

/// A prompt for one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    pub agent: AgentName,
    pub text: String,
    /// Lets the agent's reports be told from those of other attempts.
    pub tag: Option<String>,
}

/// How whoever sends a prompt wants it handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manner {
    /// A person says that the agent waits for a prompt, where nothing on its screen does.
    pub is_confirmed: bool,
    /// It is a command of the program: it is typed as it is, and not made to be taken as words.
    pub is_command: bool,
    /// It is refused unless it can be typed now.
    pub is_now_or_never: bool,
}

/// What someone waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// These dispatches go no further.
    Receipts(Vec<ReceiptId>),
    /// The agent is in one of these states.
    Agent { agent: AgentName, states: Vec<super::AgentState> },
    /// The task is in one of these states.
    Task { task: super::TaskId, states: Vec<super::TaskState> },
    /// The agent, or else a person, holds the lock.
    Lock { name: String, agent: Option<AgentName> },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_written_as_a_letter_and_a_number() {
        assert_eq!("r12".parse(), Ok(ReceiptId(12)));
        assert_eq!(serde_json::to_string(&ReceiptId(7)).unwrap(), r#""r7""#);
        let agent = "one".parse().unwrap();
        let (receipt, state, since) = (ReceiptId(1), Stage::Queued, Moment(1_700_000_000_123));
        let whole = Receipt { receipt, agent, state, reason: None, prompt: String::new(), since };
        let json = serde_json::to_value(&whole).unwrap();
        assert_eq!(json["since"], "2023-11-14T22:13:20.123Z");
        assert_eq!(serde_json::from_value::<Receipt>(json).unwrap(), whole);
        for bad in ["", "12", "r", "rx", "r-1", "R1"] {
            assert!(bad.parse::<ReceiptId>().is_err(), "{bad}");
        }
    }
}
