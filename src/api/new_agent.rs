//! An agent that is added to a team while it runs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::declare::Omit;
use crate::model::{Environment, Limits, Role, WorkspaceChoice};

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

/// The values of its variables may be secrets; their names tell one request from another.
impl Omit for NewAgent {
    fn omit(&mut self) {
        self.env.0.values_mut().for_each(String::clear);
    }
}
