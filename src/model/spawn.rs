//! On which terms agents may start agents.

use serde::{Deserialize, Serialize};

/// What a team lets its leads and its orchestrator start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SpawnTerms {
    /// What the new agents may run.
    pub clis: Vec<String>,
    /// How many agents that agents started may live at once in the team.
    pub agents_max: usize,
    /// How many agents may stand between one and a person: 1 means that those who were started
    /// start none.
    pub depth_max: usize,
    /// How many one agent may start within an hour.
    pub per_hour_max: usize,
}
