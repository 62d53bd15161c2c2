//! Attention: what waits for a person.

pub(super) mod queue;
