//! Prompt templates as files: the built-in ones, the user's and the project's.

mod embedded;
mod folder;
mod front_matter;

pub use folder::ProjectTemplate;

pub(super) use folder::{Folder, built_in_templates};
