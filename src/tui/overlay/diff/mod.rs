//! The diff of an agent: its files, their hunks, and comments on lines that are sent to it.

mod comments;
mod draw;
mod keys;
mod line;
mod view;

pub(in crate::tui) use view::DiffView;
