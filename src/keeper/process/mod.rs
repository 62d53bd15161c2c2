//! Finds the processes below this one and signals them, by identity and not by number.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod peer;
#[cfg(target_os = "linux")]
mod pidfd;
#[cfg(target_os = "linux")]
mod stat;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{
    adopt_orphans, descendants, exposed, kill_tree, marked, send, signal_tree,
};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{is_alive, process_id};
#[cfg(target_os = "linux")]
pub(super) use linux::{adopt_orphans, descendants, exposed, kill_tree, marked, send, signal_tree};
#[cfg(target_os = "linux")]
pub use linux::{is_alive, process_id};
#[cfg(target_os = "linux")]
pub(super) use peer::{Ancestor, line_of, line_of_peer};
