//! What things look like: colours the terminal can show, themes, and a sign for each state.

mod color;
mod sign;
mod theme;

pub use color::Depth;
pub(super) use color::is_light;
pub(super) use sign::{as_of_agent, sign, urgency};
pub(super) use theme::{Ink, Theme, Tone, Wash};
pub use theme::{ThemeChoice, ThemeError};
