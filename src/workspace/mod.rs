//! Workspaces: directories in which agents work apart from each other; made, looked into, rescued,
//! brought back, removed.
//!
//! What is to be done is decided elsewhere; here it is done so that nothing is lost on the way. A
//! workspace is looked into when it is removed, never before, moved aside whole, and then deleted file
//! by file: what was not looked at stays. No call of git here forces anything.

mod bring;
mod compare;
mod error;
mod inhabitants;
pub mod inside;
mod inspect;
mod local;
mod make;
mod mirror;
mod missing;
mod outpost;
mod ports;
mod refusals;
mod removal;
mod remove;
mod rescue;
mod site;
mod unknown;
mod walk;

pub use bring::{Candidate, Prospect, Scratch, advance, message, prepare};
pub use compare::{differing, shared_settings};
pub use error::WorkspaceError;
pub use make::make;
pub use mirror::{Mirror, branch_tip, clearing_here, given, packed};
pub use outpost::{Given, Station, Tips};
pub use remove::{Cleared, clear, refuse_to_clear};
pub use rescue::{Rescue, find_rescue, rescue, rescues};
pub use site::Site;
pub use unknown::Search;
