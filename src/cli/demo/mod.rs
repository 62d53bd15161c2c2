//! `wheelhouse demo`: a scripted team at real work on a throw-away repository.

mod stage;
mod start;
mod story;

pub(super) use start::{demo, offer};
