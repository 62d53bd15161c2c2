//! The decisions: (state, event, now) in, effects out.
//!
//! Nothing here reads a clock, a file, a socket or a random number. A hub's life is fully described
//! by its events, so that any fault can be replayed from them. What must survive a crash is the
//! `Record`; the shell writes it before it acts on what follows.

mod agents;
mod attention;
mod commands;
mod effect;
mod event;
#[cfg(test)]
mod fixture;
mod forget;
mod handle;
mod invariants;
mod journal;
mod person_actions;
mod playbooks;
mod prompts;
mod record;
mod request_keys;
mod state;
mod tasks;
mod teamwork;
mod waits;
mod workspaces;

pub use agents::agent::{Phase, Seat};
pub use agents::readiness::Readiness;
pub use agents::renewal::Plan;
pub use agents::resume::Recall;
pub use agents::stuck::Pace;
pub use effect::{Effect, WorkspaceOrder};
pub use event::{Event, PersonDeed, RunEvent, WorkspaceEvent};
pub use prompts::prompt::Dispatch;
pub use record::{Record, Work};
pub use request_keys::{KeptOutcome, KeptRequest};
pub use state::Engine;
pub use tasks::report_outcome::{Before, Heard};
