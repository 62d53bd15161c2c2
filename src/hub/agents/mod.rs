//! Plans, starts, resumes and equips the runs of agents.

pub(super) mod added_agents;
pub(super) mod hooks;
pub(super) mod launch;
pub(super) mod placement;
pub(super) mod plan;
pub(super) mod planner;
pub(super) mod playbook_runs;
pub(super) mod resume;
pub(super) mod state;
pub(super) mod toolsets;
pub(super) mod workspace_plan;
