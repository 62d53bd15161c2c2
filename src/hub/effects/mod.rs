//! Carries the engine's effects out, with the components that do it.

pub(super) mod carry_out;
pub(super) mod checks;
pub(super) mod prompts;
pub(super) mod runs;
pub(super) mod workspaces;
