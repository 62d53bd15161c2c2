//! Routes what clients ask to the components, and answers.

pub(super) mod agents;
pub(super) mod journal;
pub(super) mod playbook_runs;
pub(super) mod prompts;
pub(super) mod resume;
pub(super) mod route;
pub(super) mod status;
pub(super) mod tasks;
pub(super) mod workspaces;
