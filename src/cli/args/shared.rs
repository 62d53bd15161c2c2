//! What several verbs have in common.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};

use crate::model::Role;

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
pub(crate) struct Sending {
    /// The prompt; `-` or nothing reads standard input
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// Send a prompt made from this template instead
    #[arg(long, value_name = "NAME", conflicts_with = "prompt")]
    pub(crate) template: Option<String>,
    #[command(flatten)]
    pub(crate) vars: Vars,
    /// Wait for the outcome
    #[arg(long)]
    pub(crate) wait: bool,
    /// With --wait: give up after this many seconds
    #[arg(long, value_name = "SECONDS", requires = "wait")]
    pub(crate) timeout: Option<u64>,
    /// An idempotency key: calling again with the same key sends nothing new
    #[arg(long = "key", alias = "idempotency-key", value_name = "WORD")]
    pub(crate) idempotency_key: Option<String>,
    /// Send even if the agent's state is unknown or it has reached a limit
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Send it as a command of the agent's program, such as `/compact`
    #[arg(long, conflicts_with = "template")]
    pub(crate) command: bool,
    /// Refuse the prompt if it cannot be typed now, instead of queueing it
    #[arg(long)]
    pub(crate) no_queue: bool,
}

/// Who stands in for a playbook's agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StandIn {
    /// The scripted agent
    Sim,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Vars {
    /// Set a variable; repeat for more
    #[arg(long = "var", id = "var", value_name = "NAME=VALUE", value_parser = name_and_value)]
    vars: Vec<(String, String)>,
}

impl Vars {
    /// Returns the values by name; the last one of a name holds.
    pub(crate) fn by_name(self) -> BTreeMap<String, String> {
        self.vars.into_iter().collect()
    }
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write a name, `=` and a value, such as `--var task='Fix the login'`".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Format {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleName {
    Worker,
    Lead,
    Orchestrator,
    Verifier,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Worker => Self::Worker,
            RoleName::Lead => Self::Lead,
            RoleName::Orchestrator => Self::Orchestrator,
            RoleName::Verifier => Self::Verifier,
        }
    }
}
