//! The dashboard as plain data: what is known of the agents, and what this window shows of them.

mod agent;
mod damage;
mod pane;
mod scroll;
mod state;

pub(super) use agent::Agent;
pub(super) use damage::{Damage, PaneDamage};
pub(super) use pane::{Pane, View};
pub(super) use scroll::Scroll;
pub(super) use state::{App, Connection, Mode, Purpose, SentSize, Settings, Target};
