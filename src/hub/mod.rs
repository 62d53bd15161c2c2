//! The shell around the engine: one process per project that owns its agents' panes.
//!
//! One task owns everything: the engine, the panes, the clients' views. Others carry bytes to it
//! and from it through bounded channels. It runs on one thread, so that a pane under flood delays
//! another by at most one turn; what can take long (killing leftovers) happens elsewhere and comes
//! back as a message.

mod agents;
mod background;
mod carry_out;
mod clients;
mod clock;
mod delays;
mod error;

mod inbox;
mod log;
mod panes;
mod record;
mod remote;
mod requests;
mod serve;
mod settings;
mod settings_watch;
mod state;
mod tasks;
mod workspaces;

use state::Hub;

pub use agents::workspace_plan::workspace_folder;
pub use error::HubError;
pub use requests::workspaces::{rescue_list, workspace_list};
pub use serve::run;
pub use workspaces::comparison::Comparison;
