//! `wheelhouse runner …`: places elsewhere where agents can run.

mod check;
mod list;

pub(super) use check::check;
pub(super) use list::list;
