//! `wheelhouse doctor`: says what is wrong, and what to type.

mod finding;
mod hub;
mod machine;
mod project;
mod report;
mod versions;

pub(super) use finding::Finding;
pub(super) use report::{doctor, present};
