//! What a row of a pane shows: text and styles, never control sequences.

use serde::{Deserialize, Serialize};

/// A colour as the application asked for it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Color {
    /// Whatever the user's terminal uses.
    #[default]
    Default,
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// How a stretch of text looks.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Style {
    #[serde(rename = "f", skip_serializing_if = "is_default")]
    pub foreground: Color,
    #[serde(rename = "b", skip_serializing_if = "is_default")]
    pub background: Color,
    /// The `Style::BOLD` family of bits.
    #[serde(rename = "a", skip_serializing_if = "is_default")]
    pub attributes: u8,
}

impl Style {
    pub const BOLD: u8 = 1;
    pub const DIM: u8 = 2;
    pub const ITALIC: u8 = 4;
    pub const UNDERLINE: u8 = 8;
    pub const INVERSE: u8 = 16;
    pub const STRIKETHROUGH: u8 = 32;
    pub const HIDDEN: u8 = 64;
    pub const BLINK: u8 = 128;

    /// Says whether all of the given attribute bits are set.
    pub fn has(self, attributes: u8) -> bool {
        self.attributes & attributes == attributes
    }
}

/// A stretch of cells that look alike.
///
/// Either each character fills one cell (`columns` is their number), or the run is a single cell
/// that holds a wide or a composed character and covers `columns` columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    #[serde(rename = "t")]
    pub text: String,
    #[serde(rename = "c")]
    pub columns: u16,
    #[serde(rename = "s", default, skip_serializing_if = "is_default")]
    pub style: Style,
}

/// One row of a screen or of its history; blank cells at the end are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    #[serde(rename = "r")]
    pub runs: Vec<Run>,
    /// The text goes on in the next row: the terminal broke it, not the application.
    #[serde(rename = "w", default, skip_serializing_if = "is_default")]
    pub wrapped: bool,
}

impl Row {
    /// Returns the row's text without its styles.
    pub fn text(&self) -> String {
        self.runs.iter().map(|run| run.text.as_str()).collect()
    }
}

/// A stretch of cells on a screen that leads somewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ScreenLink {
    pub row: u16,
    pub col: u16,
    pub columns: u16,
    /// As the application gave it; nobody has looked at where it leads.
    pub target: String,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
