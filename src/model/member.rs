//! Who an agent is, apart from what it does right now.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{AgentName, Role};

/// An agent as the record knows it: enough to say who it is, and no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: AgentName,
    /// The team that it was started with.
    pub team: String,
    /// Its place in the team, counted from zero.
    #[serde(default)]
    pub place: usize,
    pub cli: String,
    pub role: Role,
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// The paths that are its own, as patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owns: Vec<String>,
    /// What kinds of work it can take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// Its words may reach anyone in its team without a person's consent.
    #[serde(default)]
    pub speaks_freely: bool,
    /// The conversation's name in the cli, where it has one, so that it can be taken up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}
