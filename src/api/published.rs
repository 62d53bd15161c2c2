//! How contracts and entries of the journal are told.

use serde::{Deserialize, Serialize};

use crate::model::{Contract, Entry, Moment};

/// A contract: at a glance, or with its lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContractStatus {
    pub publisher: String,
    pub title: String,
    pub version: u32,
    /// In the form of RFC 3339.
    pub at: String,
    pub lines: usize,
    /// What the version before it said, and it no longer does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl ContractStatus {
    /// Returns a contract without its lines.
    pub fn head(contract: &Contract) -> Self {
        Self {
            publisher: contract.publisher.to_string(),
            title: contract.title.clone(),
            version: contract.version,
            at: contract.at.to_rfc3339(),
            lines: contract.body.lines().count(),
            removed: Vec::new(),
            body: None,
        }
    }

    /// Returns the whole of a contract.
    pub fn whole(contract: &Contract) -> Self {
        let (removed, body) = (contract.removed.clone(), Some(contract.body.clone()));
        Self { removed, body, ..Self::head(contract) }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventStatus {
    /// Its number in the journal.
    pub id: u64,
    /// In the form of RFC 3339.
    pub at: String,
    pub kind: String,
    pub agent: Option<String>,
    pub task: Option<String>,
    pub text: String,
}

impl EventStatus {
    pub fn new(id: u64, at: Moment, entry: &Entry) -> Self {
        Self {
            id,
            at: at.to_rfc3339(),
            kind: entry.kind.clone(),
            agent: entry.agent.as_ref().map(ToString::to_string),
            task: entry.task.clone(),
            text: entry.text.clone(),
        }
    }
}
