//! Checks claims: gates, artifacts, scans of workspaces.

pub(super) mod artifacts;
pub(super) mod board;
pub(super) mod ended_tasks;
pub(super) mod file_tree;
pub(super) mod format_check;
pub(super) mod gate_check;
pub(super) mod gates;
pub(super) mod scan;
pub(super) mod schema_check;
