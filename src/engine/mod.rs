//! The decisions: (state, event, now) in, effects out.
//!
//! Nothing here reads a clock, a file, a socket or a random number. A hub's life is fully described
//! by its events, so that any fault can be replayed from them. What must survive a crash is the
//! `Record`; the shell writes it before it acts on what follows.

mod amend;
mod approvals;
mod assign;
mod attempts;
mod attention;
mod by_hand;
mod claims;
mod commands;
mod comparisons;
mod contracts;
mod deadlock;
mod dispatch;
mod effect;
mod event;
#[cfg(test)]
mod fixture;
mod forget;
mod fresh;
mod graph;
mod heard;
mod invariants;
mod journal;
mod keys;
mod lifecycle;
mod limits;
mod locks;
mod loops;
mod merges;
mod needs;
mod orientation;
mod overlap;
mod ownership;
mod patience;
mod play_course;
mod plays;
mod post;
mod queued;
mod quota;
mod reach;
mod reactions;
mod readiness;
mod recall;
mod record;
mod routing;
mod scope;
mod space_requests;
mod spawn;
mod state;
mod stranger;
mod tags;
mod tasks;
mod troops;
mod waits;
mod words;
mod workspaces;

pub use dispatch::Dispatch;
pub use effect::{Effect, WorkspaceOrder};
pub use event::{Event, PersonDeed, RunEvent, WorkspaceEvent};
pub use fresh::Plan;
pub use heard::{Before, Heard};
pub use keys::{KeptOutcome, KeptRequest};
pub use patience::Pace;
pub use readiness::Readiness;
pub use recall::Recall;
pub use record::{Record, Work};
pub use state::{Engine, Phase, Seat};
