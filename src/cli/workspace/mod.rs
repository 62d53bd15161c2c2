//! `wheelhouse workspace`: where agents work apart from each other, and how their work comes back.

mod clean;
mod list;
mod merge;
mod pull_request;
mod verb;

pub(super) use verb::workspace;
