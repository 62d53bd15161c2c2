//! Keeps an agent's tree within bounds: limits by the kernel's groups or, failing that, for each
//! process; a sandbox by bubblewrap.

mod apply;
mod confine;
mod groups;
mod means;
mod sandbox;

pub(super) use apply::{Bounds, bounded};
pub use confine::confine;
pub use means::{Means, Method};
