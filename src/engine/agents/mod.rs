//! Agents: the life of each run, when it may get a prompt, whether it is stuck, held by a quota or out of reach.

pub(super) mod agent;
pub(super) mod approvals;
pub(super) mod lifecycle;
pub(super) mod quota;
pub(super) mod reachability;
pub(super) mod readiness;
pub(super) mod renewal;
pub(super) mod resume;
pub(super) mod spawn;
pub(super) mod stuck;
pub(super) mod unrecorded_agents;
