//! Notifies users who are not watching: which states, when, and in which form.
//!
//! Pure: the hub and the dashboards send the notifications, and report which pane is looked at.

mod desktop;
mod notifier;
mod occasion;
mod terminal;

pub use desktop::desktop_body;
pub use notifier::Notifier;
pub use occasion::{OCCASIONS, Occasion, occasion_of};
pub use terminal::{BELL, TerminalForm, body, through_tmux, title};
