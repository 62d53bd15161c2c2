//! Whom a person is told of beside the dashboard, when, and in which form.
//!
//! Pure: who carries the word (the hub, the dashboard) and how often a pane is looked at come in.

mod desktop;
mod notifier;
mod occasion;
mod terminal;

pub use desktop::desktop_body;
pub use notifier::Notifier;
pub use occasion::{OCCASIONS, Occasion, occasion_of};
pub use terminal::{BELL, TerminalForm, body, through_tmux, title};
