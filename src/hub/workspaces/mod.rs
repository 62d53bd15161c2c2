//! Makes, compares, merges and removes workspaces.

pub(super) mod comparison;
pub(super) mod found;
pub(super) mod orders;
