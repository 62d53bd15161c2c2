//! Tasks: who gets which, the attempts at each, and how a claim that it is done is checked.

pub(super) mod amended_reports;
pub(super) mod assign;
pub(super) mod attempts;
pub(super) mod claims;
pub(super) mod graph;
pub(super) mod limits;
pub(super) mod loops;
pub(super) mod orientation;
pub(super) mod reactions;
pub(super) mod report_outcome;
pub(super) mod requests;
pub(super) mod tags;
