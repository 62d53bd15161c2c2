//! What can be typed.

mod agent;
mod contract;
mod lock;
mod report;
mod run;
mod runner;
mod settings;
mod shared;
mod verbs;
mod workspace;

pub(super) use agent::{
    AgentVerb, Choosing, Comparing, Grace, NewAgentArguments, ReadingArgs, Recording, TextFormat,
};
pub(super) use contract::ContractVerb;
pub(super) use lock::LockVerb;
pub(super) use report::{Outcome, ReportVerb, Saying};
pub(super) use run::RunArgs;
pub(super) use runner::RunnerVerb;
pub(super) use settings::{ConfigVerb, RulesVerb, TemplateVerb};
pub(super) use shared::{Format, RoleName, Sending, StandIn, Vars};
pub(super) use verbs::{Arguments, Verb};
pub(super) use workspace::{MergeArguments, WorkspaceVerb};
