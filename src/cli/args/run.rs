//! What can be typed about runs of playbooks.

use clap::Args;

use super::{Format, StandIn, Vars};
use crate::model::RequestKey;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct RunArgs {
    /// A file, with a `/` in its name or `.toml` at its end, or one of: feature-build,
    /// research-deep-dive, product-launch, content-sprint, bug-triage-swarm, competitive-analysis
    #[arg(required_unless_present_any = ["resume", "cancel", "list"])]
    pub(crate) playbook: Option<String>,
    /// Only print the plan: order, agents, gates, every prompt
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) vars: Vars,
    /// Put scripted agents in the place of all; what they hand on are the playbook's examples
    #[arg(long, value_name = "CLI", value_enum)]
    pub(crate) with: Option<StandIn>,
    /// Open no dashboard: tell what happens as lines, and end with the run
    #[arg(long)]
    pub(crate) headless: bool,
    /// With --headless: leave the agents that the run started when it is over
    #[arg(long, requires = "headless")]
    pub(crate) keep: bool,
    /// With --headless: look on for so long at most; the run goes on
    #[arg(long, value_name = "SECONDS", requires = "headless")]
    pub(crate) timeout: Option<u64>,
    /// Resume an interrupted run; agents that have ended are started again
    #[arg(long, value_name = "RUN", conflicts_with_all = ["playbook", "dry_run", "var", "with"])]
    pub(crate) resume: Option<String>,
    /// Cancel a run; its open tasks stay undone
    #[arg(long, value_name = "RUN", conflicts_with_all = ["playbook", "resume", "headless"])]
    pub(crate) cancel: Option<String>,
    /// An idempotency key: calling again with the same key starts nothing new
    #[arg(long, value_name = "WORD", requires = "playbook", conflicts_with = "dry_run")]
    pub(crate) key: Option<RequestKey>,
    /// List the runs
    #[arg(long, conflicts_with_all = ["playbook", "resume", "cancel", "headless"])]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}
