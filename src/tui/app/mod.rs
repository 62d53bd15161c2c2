//! The dashboard as plain data: what is known of the agents, and what this window shows of them.

mod agent;
mod attention;
mod pane;
mod playbook_run;
mod requests;
mod state;

pub(super) use agent::{AgentView, has_failed, receipt_line};
pub(super) use attention::{AttentionCause, AttentionGoal, AttentionItem, state_word};
pub(super) use pane::{Damage, Pane, PaneDamage, PaneOffset};
pub(super) use playbook_run::PlaybookRunLine;
pub(super) use requests::{PromptKind, Purpose, SentPrompt};
pub(super) use state::{
    App, AppSettings, HubState, LocalEffect, Mode, MousePress, PaneGoal, SentSize, Target,
};
