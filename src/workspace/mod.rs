//! Workspaces: directories in which agents work apart from each other; made, looked into, rescued,
//! brought back, removed.
//!
//! What is to be done is decided elsewhere; here it is done so that nothing is lost on the way. A
//! workspace is looked into when it is removed, never before, and removed file by file: what was not
//! looked at stays. No call of git here forces anything.

mod bring;
mod compare;
mod error;
mod inhabitants;
pub mod inside;
mod inspect;
mod local;
mod make;
mod ports;
mod remove;
mod rescue;
mod site;
mod walk;

pub use bring::{Candidate, Prospect, Scratch, advance, prepare};
pub use compare::{differing, shared_settings};
pub use error::WorkspaceError;
pub use make::make;
pub use remove::{Cleared, clear, refuse_to_clear};
pub use rescue::{rescue, rescues};
pub use site::Site;
