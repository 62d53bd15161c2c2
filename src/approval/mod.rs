//! Decides which dialogs are approved without a person, by rules that a person wrote.
//!
//! Nothing is approved by default, nor anything that is not understood whole. A denial here only
//! leaves the dialog to a person.

mod decide;
mod rule;
mod shell;

pub use decide::{Verdict, decide};
pub use rule::{Criteria, Fault, Rule, Rules};
