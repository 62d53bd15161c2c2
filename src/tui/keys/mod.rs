//! Keys: what one can mean, which keys mean it by default, and the user's own choice.

mod action;
mod bindings;
mod keymap;

pub(super) use action::{
    Action, CursorMotion, DiffAction, EditAction, KeyScope, ListAction, ReadAction, TaskAction,
};
pub(super) use keymap::{Keymap, is_text, normal, off_the_pad};
pub use keymap::{KeymapError, default_keys};
