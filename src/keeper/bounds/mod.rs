//! Limits an agent's process tree, by control groups or else per process, and builds its sandbox.

mod apply;
mod confine;
mod groups;
mod means;
mod sandbox;

pub(super) use apply::{Bounds, bounded};
pub use confine::confine;
pub use means::{Means, Method};
