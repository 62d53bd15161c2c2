//! Who speaks on a connection, as the hub sees it.

use serde::{Deserialize, Serialize};

use crate::model::Role;

/// A speaker, and what it may ask. Nothing but `may` for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Identity {
    pub agent: Option<String>,
    pub role: Option<Role>,
    pub team: Option<String>,
    /// The agent that started it.
    pub started_by: Option<String>,
    /// The task in hand, and the tag of the attempt at it.
    pub task: Option<String>,
    pub tag: Option<String>,
    /// The requests that it may make.
    pub may: Vec<String>,
    /// The clis with which it may start agents of its own.
    pub clis: Vec<String>,
}
