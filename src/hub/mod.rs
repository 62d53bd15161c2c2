//! The shell around the engine: one process per project that owns its agents' panes.
//!
//! One task owns everything: the engine, the panes, the clients' views. Others carry bytes to it
//! and from it through bounded channels. It runs on one thread, so that a pane under flood delays
//! another by at most one turn; what can take long (killing leftovers) happens elsewhere and comes
//! back as a message.

mod added;
mod alerts;
mod approvals;
mod artifacts;
mod background;
mod board;
mod briefs;
mod carrier;
mod carry_out;
mod cast_file;
mod casts;
mod check;
mod check_format;
mod checkpoint;
mod clock;
mod delays;
mod diffs;
mod distant;
mod door;
mod ended;
mod errands;
mod error;
mod file_writer;
mod found_workspaces;
mod gates;
mod herdr;
mod here;
mod hooks;
mod inbox;
mod judge;
mod kits;
mod ledger;
mod link;
mod lock;
mod lock_requests;
mod log;
mod look;
mod observe;
mod opencode;
mod openings;
mod outposts;
mod pane;
mod parcels;
mod plan;
mod planner;
mod plays;
mod plots;
mod prompts;
mod reading;
mod record;
mod recorder;
mod reload;
mod reports;
mod requests;
mod rights;
mod run_requests;
mod schema;
mod serve;
mod session;
mod socket;
mod starting;
mod state;
mod status;
mod stead;
mod task_requests;
mod there;
mod tokens;
mod tree;
mod undo;
mod views;
mod watch;
mod weight;
mod workspace_requests;
mod workspaces;

use crate::workspace::inside;

pub use diffs::Comparison;
pub use error::HubError;
pub use plots::workspace_folder;
pub use serve::run;
pub use workspace_requests::{rescue_list, workspace_list};
