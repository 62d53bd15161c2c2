//! `wheelhouse runner …`: places elsewhere where agents can run.

mod check;
mod list;
mod transfer;

pub(super) use check::check;
pub(super) use list::list;
pub(super) use transfer::{fetch, push};
