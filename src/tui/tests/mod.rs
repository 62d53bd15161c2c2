//! Tests of the whole dashboard: keys, clicks and frames of the hub in, pictures and requests out.

mod attention;
mod dashboard;
mod diff;
mod diff_fixture;
pub(super) mod fixture;
mod overlays;
mod pictures;
mod prompts;
mod reading;
mod tasks;
mod workspaces;
