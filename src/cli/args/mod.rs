//! What can be typed.

mod agent;
mod lock;
mod report;
mod run;
mod settings;
mod shared;
mod verbs;
mod workspace;

pub(super) use agent::{AgentVerb, Choosing, Comparing, Grace, NewAgentArguments, Recording};
pub(super) use lock::LockVerb;
pub(super) use report::{Outcome, ReportVerb};
pub(super) use run::RunArgs;
pub(super) use settings::{ConfigVerb, RulesVerb, TemplateVerb};
pub(super) use shared::{Format, Sending, StandIn, Vars};
pub(super) use verbs::{Arguments, Verb};
pub(super) use workspace::{MergeArguments, WorkspaceVerb};
