//! Changes the dashboard: one input in, what to ask of the hub out.

mod actions;
mod attention;
mod diffs;
mod from_hub;
mod input;
mod keys;
mod links;
mod mouse;
mod prompts;
mod reading;
mod tasks;

pub(super) use input::{AppInput, update};
