//! `wheelhouse doctor`: says what is wrong, and what to type.

mod finding;
mod hub;
mod machine;
mod project;
mod report;

pub(super) use finding::Finding;
pub(super) use report::{doctor, present};
