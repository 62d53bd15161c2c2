//! What is typed into an agent, and what is chosen in its dialogs.

use serde::{Deserialize, Serialize};

use crate::model::{Key, KeyCode, Mouse};

/// What someone chooses in a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DialogChoice {
    /// Choose this option, counted from 1 as on the screen.
    Option(usize),
    /// Yes, or no, where it lists no options.
    Approve,
    Deny,
}

/// Something to type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KeyInput {
    Key(Key),
    /// Text as if typed, character by character.
    Text(String),
    /// Text as if pasted.
    Paste(String),
    /// Goes to the application only if it asked for the mouse.
    Mouse(Mouse),
    /// The pane has gained or lost the person's attention.
    Focus(bool),
}

impl KeyInput {
    /// Says whether someone types, and does not only look.
    pub fn is_typing(&self) -> bool {
        match self {
            Self::Key(_) | Self::Text(_) | Self::Paste(_) => true,
            Self::Mouse(_) | Self::Focus(_) => false,
        }
    }

    /// Says whether it is Enter, which submits what was typed or answers a dialog.
    pub fn is_enter(&self) -> bool {
        matches!(self, Self::Key(key) if key.code == KeyCode::Enter)
    }
}
