//! Reaches agents and workspaces on other machines.

pub(super) mod carrier;
pub(super) mod place;
pub(super) mod side_channel;
pub(super) mod way;
pub(super) mod workspace;
