//! Workspaces: made, compared, merged and removed.

pub(super) mod comparisons;
pub(super) mod lifecycle;
pub(super) mod merges;
pub(super) mod overlap;
pub(super) mod requests;
