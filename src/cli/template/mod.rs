//! `wheelhouse template`: list, show and fill in prompt templates.

mod list;
mod render;
mod show;

pub(super) use list::list;
pub(super) use render::render;
pub(super) use show::show;
