//! Keeps the terminals of agents: the line to each keeper, its screen, what it means, and the keys that are typed into it.

pub(super) mod checkpoint;
pub(super) mod detection;
pub(super) mod dialogs;
pub(super) mod event_stream;
pub(super) mod keystrokes;
pub(super) mod link;
pub(super) mod pane;
pub(super) mod reports;
pub(super) mod state;
