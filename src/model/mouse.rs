//! What the mouse did over a pane.

use serde::{Deserialize, Serialize};

use super::Modifiers;

/// One event of the mouse, in the pane's own cells, counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mouse {
    pub kind: MouseKind,
    pub row: u16,
    pub col: u16,
    pub modifiers: Modifiers,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MouseKind {
    Press(MouseButton),
    Release(MouseButton),
    /// Moved with a button held down.
    Drag(MouseButton),
    /// Moved with no button down.
    Move,
    ScrollUp,
    ScrollDown,
    ScrollLeft,
    ScrollRight,
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MouseButton {
    Left,
    Middle,
    Right,
}
