//! What to run in a pane.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Confinement, Environment, Size};

/// A command, ready to be started on a pseudo-terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The program and its arguments; never empty.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// The whole environment: nothing is inherited beside it.
    pub environment: Environment,
    pub size: Size,
    /// Within which bounds.
    #[serde(default, skip_serializing_if = "Confinement::is_none")]
    pub confinement: Confinement,
}
