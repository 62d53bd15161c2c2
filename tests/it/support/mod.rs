//! What several tests need.

pub(crate) mod burner;
pub(crate) mod chance;
pub(crate) mod clock;
pub(crate) mod composer;
pub(crate) mod crew;
mod deeds;
pub(crate) mod fuzz;
pub(crate) mod hostile;
pub(crate) mod keeper;
pub(crate) mod manners;
pub(crate) mod mcp;
pub(crate) mod model;
pub(crate) mod painted;
pub(crate) mod pipeline;
pub(crate) mod process;
pub(crate) mod real_agent;
pub(crate) mod rows;
pub(crate) mod shared_files;
pub(crate) mod squad;
pub(crate) mod stage;
pub(crate) mod team;
pub(crate) mod visitor;
pub(crate) mod world;
