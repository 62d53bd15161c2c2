//! The record as a story: which runs there were, what came of one, and any of its moments.
//!
//! Whoever reads the journal hands over what it says; a [`Story`] comes of it, and text, Markdown, a
//! page or JSON of that. Nothing here reads a file, a clock or a terminal. Agents' words are made
//! plain where they are written, never before: JSON says what was said.

mod chapter;
mod fit;
mod graph;
mod html;
mod markdown;
mod outline;
mod part;
mod scene;
mod shape;
mod svg;
mod teller;
mod text;
mod timeline;

pub use chapter::{Chapter, Chapters, End, Told};
pub use fit::{clip, clock, span, width, wrap};
pub use html::html;
pub use markdown::markdown;
pub use part::{AgentPart, AttemptPart, ClaimPart, ContractPart, Deed, Stretch, TaskPart, Time};
pub use scene::{Footage, Scene, SceneAgent, scene_text};
pub use shape::Story;
pub use teller::Teller;
pub use text::{Look, list, text};

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod stories;
