//! Renders prompt templates.
//!
//! A template says which variables it has; nothing is filled in that it does not name, and nothing
//! that it needs may be missing. All of them teach the protocol by the same words, those of the
//! brief. What is read here is text alone: `config` finds the files and says where in them a fault is.

mod fault;
mod fill;
mod form;
mod templates;
mod text;

pub use fault::{Fault, FaultKind};
pub use fill::{fill, names_in};
pub use form::{FormError, Slot, fill_form};
pub use templates::{PROTOCOL, TAG, TAG_UNKNOWN, TemplateError, Templates};
pub use text::{Prompt, Template, Variable};
