//! Where an agent runs if not on this machine: how to start a keeper there and to reach its stream.
//!
//! `command` says what to run here to have something run there; `call` is what both ends say to each
//! other before the keeper's own stream begins, and `parcel` what travels beside it. `far` is the other
//! end: hidden subcommands of the same binary, which hold nothing and decide nothing. The keeper there
//! is the one that runs here too.

mod call;
mod check;
mod command;
mod far;
mod parcel;
mod quote;
mod space;

pub use call::{Answer, Call, FAR_PROTOCOL, Greeting, HOOKS_PLACE, OrderThere, read as read_line};
pub use check::{LookFailed, look};
pub use command::{Address, Mount, Way};
pub use far::{Received, Sent, Sight, main as far};
pub use parcel::{DOORS_MAX, FromFar, ToFar, WINDOW_BYTES};
pub use space::{SpaceCall, SpaceDeed, SpaceSaid, ask as ask_about_space};
