//! What the hub tells a client unasked.

use serde::{Deserialize, Serialize};

use super::Status;
use crate::model::{AgentName, AgentState, Row, Size, Source};
use crate::protocol::Report;

/// News from the hub.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// What a watched pane shows now.
    Pane(PaneView),
    /// The status as it is now, for those who subscribed.
    Status(Status),
    /// An agent said something in the protocol; each report of a run has its number.
    Report { agent: AgentName, report: Report, source: Source, number: u64 },
    /// Something that the person should hear of, though they may not be looking.
    Alert(Alert),
    /// The hub ends, because it was told to.
    Ending,
}

impl Notice {
    /// What the kinds are called in a frame.
    pub const KINDS: [&str; 5] = ["pane", "status", "report", "alert", "ending"];
}

/// What a person is told of an agent: each thing once, and not of what is before their eyes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Alert {
    pub agent: AgentName,
    pub state: AgentState,
    /// It is told of because it does not move, whatever its state.
    pub is_stuck: bool,
    /// Short texts without anything that a terminal would obey.
    pub title: String,
    pub body: String,
}

/// The rows of a pane that changed since this client last heard of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PaneView {
    pub agent: AgentName,
    pub size: Size,
    /// What the client knew before is void; rows that are not here are blank, or follow.
    pub is_full: bool,
    pub rows: Vec<(u16, Row)>,
    pub cursor: ViewCursor,
    pub mouse: MouseWish,
    /// The application draws on the alternate screen, which has no history.
    pub is_alternate: bool,
    /// How many lines have ever scrolled off this pane.
    pub committed: u64,
}

/// What an application wants to know of the mouse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MouseWish {
    #[default]
    Nothing,
    /// Clicks, drags and the wheel are its own.
    Buttons,
    /// Also where the mouse is while no button is held down.
    Motion,
}

/// Where the pane's cursor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ViewCursor {
    pub row: u16,
    pub col: u16,
    pub is_visible: bool,
    /// The number of its shape, as `CSI Ps SP q` counts them; zero is the terminal's own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shape: u8,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_name() {
        let schema = schemars::schema_for!(Notice);
        let schema = serde_json::to_value(&schema).unwrap();
        let name = |kind: &serde_json::Value| match kind["properties"].as_object() {
            Some(fields) => fields.keys().next().unwrap().clone(),
            None => kind["const"].as_str().unwrap().to_owned(),
        };
        let names: Vec<String> = schema["oneOf"].as_array().unwrap().iter().map(name).collect();
        assert_eq!(names, Notice::KINDS);
    }
}
