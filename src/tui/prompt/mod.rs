//! What a person writes to agents: the text, whom it is for, and what was written before.

mod address;
mod editor;
mod history;
mod kept;

pub(super) use address::{Addressed, addressed, candidates, completion};
pub(super) use editor::Editor;
pub(super) use history::History;
pub(super) use kept::{keep, load};
