//! Changes the dashboard: one input in, what to ask of the hub out.

mod act;
mod attend;
mod diffs;
mod input;
mod keys;
mod mouse;
mod news;
mod prompts;
mod reading;
mod tasks;
mod upkeep;

pub(super) use input::{Input, update};
