//! Which dialogs may be answered with yes without a person: by rules that a person wrote.
//!
//! Nothing is approved by default, and nothing that is not understood whole. What is said no to
//! here is only left to a person.

mod decide;
mod rule;
mod shell;

pub use decide::{Verdict, decide};
pub use rule::{Criteria, Fault, Rule, Rules};
