//! The decisions: (state, event, now) in, effects out.
//!
//! Nothing here reads a clock, a file, a socket or a random number. A hub's life is fully described
//! by its events, so that any fault can be replayed from them. What must survive a crash is the
//! `Record`; the shell writes it before it acts on what follows.

mod assign;
mod attempts;
mod attention;
mod claims;
mod commands;
mod contracts;
mod deadlock;
mod dispatch;
mod effect;
mod event;
#[cfg(test)]
mod fixture;
mod graph;
mod invariants;
mod journal;
mod lifecycle;
mod limits;
mod locks;
mod needs;
mod patience;
mod play_course;
mod plays;
mod post;
mod reactions;
mod record;
mod routing;
mod state;
mod tags;
mod tasks;
mod troops;
mod waits;
mod words;

pub use dispatch::{Dispatch, Readiness};
pub use effect::Effect;
pub use event::{Event, RunEvent};
pub use patience::Pace;
pub use record::{Record, Work};
pub use state::{Engine, Phase, Seat};
