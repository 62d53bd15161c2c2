//! `wheelhouse agent …`: looks at agents and acts on them.

mod add;
mod answer;
mod diff;
mod explain;
mod keys;
mod lifecycle;
mod list;
mod read;
mod record;
mod tree;

pub(super) use add::add;
pub(super) use answer::{answer, interrupt};
pub(super) use diff::diff;
pub(super) use explain::explain;
pub(super) use keys::keys;
pub(super) use lifecycle::{remove, restart, resume, start, stop};
pub(super) use list::list;
pub(super) use read::{pane_lines, read, text_only};
pub(super) use record::record;
pub(super) use tree::tree;
