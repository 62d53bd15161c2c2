//! What several tests need.

pub(crate) mod clock;
pub(crate) mod keeper;
