//! What lies over the panes: each overlay is one file with its state, its keys and its looks.

mod confirm;
mod dialog;
mod help;
mod launcher;
mod list;
mod newcomer;
mod stack;
mod wrapped;

pub(super) use confirm::{Confirm, Deed};
pub(super) use help::Help;
pub(super) use launcher::Launcher;
pub(super) use newcomer::Newcomer;
pub(super) use stack::{Handled, Overlay, paste, point, press};
