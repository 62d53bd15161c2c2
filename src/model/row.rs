//! What a row of a pane shows: text and styles, never control sequences.

use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthChar as _;

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

/// The shape of the line under a text.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Underline {
    #[default]
    Single,
    Double,
    Curly,
    Dotted,
    Dashed,
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
    /// Of a text that is underlined.
    #[serde(rename = "u", skip_serializing_if = "is_default")]
    pub underline: Underline,
    /// By default that of the text.
    #[serde(rename = "k", skip_serializing_if = "is_default")]
    pub underline_color: Color,
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
    /// Where the text leads, as the application gave it: nobody has looked at it.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Box<str>>,
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

impl Run {
    /// Returns each cell's text and how many columns it covers.
    pub fn cells(&self) -> impl Iterator<Item = (&str, u16)> {
        let is_single = self.is_single();
        let single = is_single.then_some((self.text.as_str(), self.columns));
        let rest = if is_single { "" } else { &self.text };
        let each = rest.char_indices().map(|(at, c)| (&rest[at..at + c.len_utf8()], 1));
        single.into_iter().chain(each)
    }

    /// Says whether the run is one cell. Two characters in two columns can be either: a letter with
    /// a mark that widens it, or two letters.
    pub fn is_single(&self) -> bool {
        if self.text.is_ascii() && self.text.len() == usize::from(self.columns) {
            return self.columns == 1;
        }
        let mut chars = self.text.chars();
        match (self.columns, chars.next(), chars.next(), chars.next()) {
            (2, Some(first), Some(second), None) => {
                let is_flag = is_indicator(first) && is_indicator(second);
                is_flag || first.width() != Some(1) || second.width() != Some(1)
            }
            _ => self.text.chars().count() != usize::from(self.columns),
        }
    }
}

/// Says whether a character is half of a flag.
fn is_indicator(c: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&c)
}

impl Row {
    /// Returns how many columns the row fills.
    pub fn columns(&self) -> usize {
        self.runs.iter().map(|run| usize::from(run.columns)).sum()
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_characters_in_two_columns_are_one_cell_if_one_widens_the_other() {
        let single = |text: &str, columns| {
            let run = Run { text: text.to_owned(), columns, style: Style::default(), link: None };
            let cells: Vec<_> = run.cells().collect();
            assert_eq!(cells.iter().map(|(_, columns)| columns).sum::<u16>(), columns, "{text}");
            cells.len() == 1
        };
        for text in ["⚠\u{fe0f}", "か\u{3099}", "\u{1100}\u{1161}", "👍🏽", "🇩🇪", "世"]
        {
            assert!(single(text, 2), "{text}");
        }
        for text in ["ab", "é→", "││", "a─"] {
            assert!(!single(text, 2), "{text}");
        }
        assert!(single("e\u{301}", 1) && single("a", 1) && !single("abc", 3));
    }
}
