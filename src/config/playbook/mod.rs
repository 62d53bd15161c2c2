//! Playbooks as files: read, filled in, checked, with the place of everything that is wrong.

mod embedded;
mod load;
mod locate;
mod read;
mod task;

pub use load::{LoadedPlaybook, built_in_playbooks, load_playbook, preview_playbook};
