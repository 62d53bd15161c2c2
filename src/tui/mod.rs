//! The dashboard: all agents at a glance, and the keys that go to them.
//!
//! `App` is plain data; `update` changes it and returns what to ask of the hub; drawing only reads
//! it. The hub sends cells, never bytes: nothing that an agent prints can reach the user's terminal
//! as a control sequence. Nothing here starts a hub or decides what happens to an agent.

mod app;
mod clipboard;
mod clock;
mod draw;
mod grid;
mod hub_link;
mod keys;
mod local_effects;
mod options;
mod overlay;
mod player;
mod prompt;
mod reading;
mod review;
mod run;
mod style;
mod terminal;
mod text;
mod update;
mod user_files;

pub use grid::{Cards, Layout};
pub use keys::{KeymapError, default_keys};
pub use options::{AlertOptions, Ended, Hub, Options, PlaybookOffer, RunWish, StartView, TuiError};
pub use player::{Film, PlayerOptions, play};
pub use reading::SearchPattern;
pub use run::{check, run};
pub use style::{Depth, ThemeChoice, ThemeError};

#[cfg(test)]
mod tests;
