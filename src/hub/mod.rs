//! The shell around the engine: one process per project that owns its agents' panes.
//!
//! One task owns everything. Others carry bytes to it and from it through bounded channels. It runs on one
//! thread, so that a pane under flood delays another by at most one turn; what can take long happens beside
//! it (`background`) and comes back as an input.
//!
//! The components own their state in private fields and do not know the hub: `clients`, `panes`, `agents`,
//! `tasks`, `workspaces`, `remote`, `record`. The router is what is left: `inputs` for what happens outside,
//! `requests` for what clients ask, `effects` for what the engine orders.

mod agents;
mod background;
mod clients;
mod clock;
mod delays;
mod effects;
mod error;
mod inbox;
mod inputs;
mod log;
mod outbox;
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

pub use error::HubError;
pub use requests::workspaces::{rescue_list, workspace_list};
pub use serve::run;
pub use workspaces::comparison::Comparison;
pub use workspaces::terms::workspace_folder;
