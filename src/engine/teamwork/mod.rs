//! Teamwork: needs, contracts, locks and ownership of files, and who may act on whom.

pub(super) mod contracts;
pub(super) mod deadlock;
pub(super) mod hierarchy;
pub(super) mod locks;
pub(super) mod needs;
pub(super) mod ownership;
pub(super) mod permissions;
pub(super) mod routing;
