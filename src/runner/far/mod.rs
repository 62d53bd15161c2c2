//! Implements the remote end: hidden commands that a hub on another machine runs here.

mod begin;
mod bridge;
mod door;
mod link;
mod look;
mod main;
mod site;
mod space;
mod transfer;

pub use look::Sight;
pub use main::main;
pub use transfer::{Received, Sent};
