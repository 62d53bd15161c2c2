//! The dashboard as plain data: what is known of the agents, and what this window shows of them.

mod agent;
mod attention;
mod damage;
mod pane;
mod run_line;
mod scroll;
mod state;

pub(super) use agent::{Agent, has_failed, receipt_line};
pub(super) use attention::{Cause, Lead, Waiting, state_word};
pub(super) use damage::{Damage, PaneDamage};
pub(super) use pane::{Pane, View};
pub(super) use run_line::RunLine;
pub(super) use scroll::Scroll;
pub(super) use state::{
    App, Connection, Mode, PromptKind, Purpose, SentSize, Settings, Target, Wish,
};
