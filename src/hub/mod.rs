//! The shell around the engine: one process per project that owns its agents' panes.
//!
//! One task owns everything: the engine, the panes, the clients' views. Others carry bytes to it
//! and from it through bounded channels. It runs on one thread, so that a pane under flood delays
//! another by at most one turn; what can take long (killing leftovers) happens elsewhere and comes
//! back as a message.

mod carry_out;
mod casts;
mod checkpoint;
mod clock;
mod error;
mod inbox;
mod judge;
mod link;
mod lock;
mod log;
mod observe;
mod pane;
mod plan;
mod record;
mod recorder;
mod reload;
mod requests;
mod serve;
mod session;
mod socket;
mod state;
mod status;
mod views;
mod watch;

pub use error::HubError;
pub use serve::run;
