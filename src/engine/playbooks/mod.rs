//! Playbook runs: how each begins, its stages, and its end.

pub(super) mod course;
pub(super) mod runs;
