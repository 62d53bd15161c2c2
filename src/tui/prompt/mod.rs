//! What a person writes to agents: the text, whom it is for, and what was written before.

mod address;
mod editor;
mod history;

pub(super) use address::{Addressed, addressed, candidates, completion};
pub(super) use editor::TextEditor;
pub(super) use history::{PromptHistory, keep, load};
