//! The shell around the engine: one process per project that owns its agents' panes.
//!
//! One task owns everything: the engine, the panes, the clients' views. Others carry bytes to it
//! and from it through bounded channels. It runs on one thread, so that a pane under flood delays
//! another by at most one turn; what can take long (killing leftovers) happens elsewhere and comes
//! back as a message.

mod added;
mod approvals;
mod artifacts;
mod board;
mod briefs;
mod carry_out;
mod casts;
mod check;
mod check_format;
mod checkpoint;
mod clock;
mod delays;
mod errands;
mod error;
mod gates;
mod hooks;
mod inbox;
mod inside;
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
mod pane;
mod plan;
mod plays;
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
mod scribe;
mod serve;
mod session;
mod socket;
mod state;
mod status;
mod task_requests;
mod tokens;
mod tree;
mod views;
mod watch;
mod weight;

pub use error::HubError;
pub use serve::run;
