//! The decisions: (state, event, now) in, effects out.
//!
//! Nothing here reads a clock, a file, a socket or a random number. A hub's life is fully described
//! by its events, so that any fault can be replayed from them. What must survive a crash is the
//! `Record`; the shell writes it before it acts on what follows.

mod commands;
mod dispatch;
mod effect;
mod event;
#[cfg(test)]
mod fixture;
mod invariants;
mod journal;
mod lifecycle;
mod patience;
mod record;
mod state;
mod waits;

pub use dispatch::{Dispatch, Readiness};
pub use effect::Effect;
pub use event::{Event, RunEvent};
pub use patience::Pace;
pub use record::Record;
pub use state::{Engine, Phase, Seat};
