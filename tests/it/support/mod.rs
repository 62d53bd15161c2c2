//! What several tests need.

pub(crate) mod chance;
pub(crate) mod clock;
pub(crate) mod keeper;
pub(crate) mod model;
pub(crate) mod process;
pub(crate) mod real_agent;
pub(crate) mod visitor;
pub(crate) mod world;
