//! What a crash, a kill or a machine that went down has cut off.

use serde::{Deserialize, Serialize};

/// Who was lost, and what they worked on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Interrupted {
    /// Agents that can take their last conversation up again.
    pub resume: Vec<String>,
    /// Agents that can only start afresh.
    pub start: Vec<String>,
    /// Tasks whose last attempt was cut off, and that nobody has taken up since.
    pub tasks: Vec<String>,
}

impl Interrupted {
    /// Says whether nobody is missing.
    pub fn is_empty(&self) -> bool {
        self.resume.is_empty() && self.start.is_empty()
    }
}
