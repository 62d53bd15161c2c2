//! Makes, inspects, merges, rescues and removes workspaces, the directories in which agents work.
//!
//! The engine decides what to do; this room does it so that nothing is lost. A workspace is inspected
//! when it is removed, never before. It is moved aside whole, then deleted file by file: what was not
//! inspected stays. No git call here forces anything.

mod compare;
mod error;
pub mod inside;
mod inspect;
mod local;
mod make;
mod merge;
mod merge_refusals;
mod mirror;
mod missing;
mod places;
mod ports;
mod processes;
mod remote;
mod removal;
mod remove;
mod rescue;
mod unrecorded;
mod walk;

pub use compare::{differing, shared_settings};
pub use error::WorkspaceError;
pub use make::make;
pub use merge::{Candidate, Prospect, Scratch, advance, message, prepare};
pub use mirror::{Mirror, branch_tip, clearing_here, given, packed};
pub use places::Site;
pub use remote::{Given, Station, Tips};
pub use remove::{Cleared, clear, refuse_to_clear};
pub use rescue::{Rescue, find_rescue, rescue, rescues};
pub use unrecorded::Search;
