//! What the hub tells a client unasked.

use serde::{Deserialize, Serialize};

use crate::model::{AgentName, Row, Size};

/// News from the hub.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// What a watched pane shows now.
    Pane(PaneView),
    /// Something about the agents has changed: ask for the status if it matters.
    StatusChanged,
    /// The hub ends, because it was told to.
    Ending,
}

/// The rows of a pane that changed since this client last heard of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneView {
    pub agent: AgentName,
    pub size: Size,
    /// All rows are here, and what the client knew before is void.
    pub is_full: bool,
    pub rows: Vec<(u16, Row)>,
    pub cursor: ViewCursor,
}

/// Where the pane's cursor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewCursor {
    pub row: u16,
    pub col: u16,
    pub is_visible: bool,
}
