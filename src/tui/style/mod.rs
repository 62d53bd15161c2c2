//! Colours and signs: colours the terminal can show, themes, and a sign for each state.

mod color;
mod theme;

pub use color::Depth;
pub(super) use color::is_light;
pub(super) use theme::{CellLook, Ink, Theme, Tone, Wash, as_of_agent, sign, urgency};
pub use theme::{ThemeChoice, ThemeError};
