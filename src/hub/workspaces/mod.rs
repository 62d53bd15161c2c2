//! Makes, compares, merges and removes workspaces.

pub(super) mod comparison;
pub(super) mod orders;
pub(super) mod terms;
