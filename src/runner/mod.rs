//! Runs agents remotely: starts a keeper there and carries its stream.
//!
//! `command` builds the command that runs something there. `handshake` is what both ends say before the
//! keeper's own stream begins, and `side_frames` what travels beside it. `far` is the remote end: hidden
//! subcommands of the same binary that hold nothing and decide nothing. The keeper there is the same as
//! here.

mod check;
mod command;
mod far;
mod handshake;
mod quote;
mod side_frames;
mod workspace_call;

pub use check::{LookFailed, look};
pub use command::{Address, Mount, Way};
pub use far::{Received, Sent, Sight, main as far};
pub use handshake::{
    Answer, Call, FAR_PROTOCOL, Greeting, HOOKS_PLACE, OrderThere, read as read_line,
};
pub use side_frames::{DOORS_MAX, FromFar, ToFar, WINDOW_BYTES};
pub use workspace_call::{SpaceCall, SpaceDeed, SpaceSaid, ask as ask_about_space};
