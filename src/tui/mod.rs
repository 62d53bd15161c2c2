//! The dashboard: all agents at a glance, and the keys that go to them.
//!
//! `App` is plain data; `update` changes it and returns what to ask of the hub; drawing only reads
//! it. The hub sends cells, never bytes: nothing that an agent prints can reach the user's terminal
//! as a control sequence. Nothing here starts a hub or decides what happens to an agent.

mod action;
mod app;
mod clock;
mod draw;
mod grid;
mod keymap;
mod link;
mod look;
mod options;
mod outside;
mod overlay;
mod player;
mod prompt;
mod review;
mod reviewing;
mod run;
mod terminal;
mod text;
mod update;

pub use grid::{Cards, Layout};
pub use keymap::{KeymapError, default_keys};
pub use look::{Depth, ThemeChoice, ThemeError};
pub use options::{AlertOptions, Ended, Hub, Options, PlaybookOffer, RunWish, StartView, TuiError};
pub use player::{Film, PlayerOptions, play};
pub use run::{check, run};

#[cfg(test)]
mod diff_scenes;
#[cfg(test)]
mod diff_stage;
#[cfg(test)]
mod diff_stories;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod overlay_stories;
#[cfg(test)]
mod prompt_scenes;
#[cfg(test)]
mod prompt_stories;
#[cfg(test)]
mod queue_stories;
#[cfg(test)]
mod scenes;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod task_scenes;
#[cfg(test)]
mod task_stories;
#[cfg(test)]
mod workspace_stories;
