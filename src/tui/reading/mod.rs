//! Reading in a pane: a copy of what it showed that stands still while its program goes on.
//!
//! `PaneReading` holds the copy, the cursor and the view. Motions, searches, selections and links are
//! functions of it. Nothing here asks the hub or writes to the terminal: `update` does that.

mod cells;
mod links;
mod motion;
mod pattern;
mod search;
mod selection;
mod state;

pub(super) use links::{LinkTarget, PaneLink, find_links, is_safe};
pub use pattern::SearchPattern;
pub(super) use search::SearchInput;
pub(super) use selection::SelectionShape;
pub(super) use state::{AfterLoading, Drag, PaneReading, TextPlace, TextSpan};
