//! What can be typed about tasks.

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::args::{Format, RoleName};
use crate::model::{Context, OnFailure, RequestKey};

#[derive(Debug, Subcommand)]
pub(crate) enum TaskVerb {
    /// Add a task; it is handed to an idle agent that fits
    Add(Box<AddArgs>),
    /// List the tasks and where each stands
    ///
    /// Of those that have ended, the newest 200; `--all` lists the others that are on record too.
    List {
        /// All that are on record
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show the board: what is free, what is in hand, what is over
    Board {
        /// Only that of this run
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Show a task with all of its attempts
    Show {
        #[arg(value_name = "ID")]
        task: String,
        #[command(flatten)]
        format: Format,
    },
    /// Have a task tried once more, whatever was tried before
    Retry {
        #[arg(value_name = "ID")]
        task: String,
        /// What to do differently this time
        #[arg(long, value_name = "TEXT")]
        advice: Option<String>,
        /// By this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Give up a task; an agent at work on it is interrupted
    Cancel {
        #[arg(value_name = "ID")]
        task: String,
        #[command(flatten)]
        format: Format,
    },
    /// Give a ready task to an agent
    Claim {
        #[arg(value_name = "ID")]
        task: String,
        /// Who takes it; an agent that names nobody takes it itself
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Let what one agent needs reach another from now on
    Consent { from: String, to: String },
    /// Let files stay as an agent made them, though another agent owns them
    Allow { agent: String },
    /// Say that an agent has got what it needed
    Meet {
        #[arg(value_name = "NEED")]
        need: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// One line for lists
    #[arg(long)]
    pub(super) title: String,
    /// What the agent is told; `-` reads it from standard input
    #[arg(long)]
    pub(super) prompt: String,
    /// Only this agent
    #[arg(long, value_name = "NAME", conflicts_with_all = ["role", "requires"])]
    pub(super) agent: Option<String>,
    /// Only agents of this role [default: worker]
    #[arg(long, value_enum)]
    pub(super) role: Option<RoleName>,
    /// Only agents with this capability
    #[arg(long, value_name = "CAPABILITY")]
    pub(super) requires: Vec<String>,
    /// A task that comes first; several with commas, or said again
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(super) needs: Vec<String>,
    /// What must pass before it is done: a command, or `exit:CODE:COMMAND`, `file:PATH`,
    /// `regex:PATH:PATTERN`, `json:PATH`, `schema:PATH:SCHEMA` (a file, or the schema itself),
    /// `git:clean`, `git:commits`, `git:ahead:REF`, `contract:TITLE[@VERSION]`; before any of these
    /// `limit:SECONDS:`
    #[arg(long, value_name = "GATE")]
    pub(super) gate: Vec<String>,
    /// Paths that it changes; tasks that share one do not run at once
    #[arg(long, value_name = "GLOB")]
    pub(super) owns: Vec<String>,
    /// A lock that it must hold while someone works on it
    #[arg(long, value_name = "NAME")]
    pub(super) lock: Vec<String>,
    /// The run of a playbook that it belongs to; for an agent, always its own
    #[arg(long, value_name = "RUN")]
    pub(super) run: Option<String>,
    /// Higher goes first
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub(super) priority: i32,
    /// How often one agent may try
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(super) attempts: u32,
    /// How long an attempt may take before a person is asked
    #[arg(long, value_name = "SECONDS")]
    pub(super) time_limit: Option<u64>,
    /// How many prompts an attempt may take before a person is asked
    #[arg(long, value_name = "N", alias = "turns")]
    pub(super) turns_max: Option<u32>,
    /// How many tokens an attempt may use, as its agent shows them, before a person is asked
    #[arg(long, value_name = "N")]
    pub(super) tokens_max: Option<u64>,
    /// What happens once it has failed as often as it may
    #[arg(long, value_enum, default_value_t = FailureName::Reassign)]
    pub(super) on_failure: FailureName,
    /// What is left of it, should it fail: it is tried once more with this advice to do less
    #[arg(long, value_name = "TEXT")]
    pub(super) reduced: Option<String>,
    /// With what it begins: the conversation that is there, or a new one
    #[arg(long, value_enum, default_value_t = ContextName::Continue)]
    pub(super) context: ContextName,
    /// How many verifiers look at the result
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) verifiers: u32,
    /// How many of them must agree [default: all]
    #[arg(long, value_name = "N")]
    pub(super) agree: Option<u32>,
    /// A word of your own: the same call again under the same one adds nothing more
    #[arg(long, value_name = "WORD")]
    pub(super) key: Option<RequestKey>,
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FailureName {
    /// It fails; what needs it waits
    Retry,
    /// Another agent that fits tries it, then it fails
    Reassign,
    /// What needs it goes on without it
    Skip,
    /// What needs it fails too
    Stop,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ContextName {
    Continue,
    Fresh,
}

impl From<FailureName> for OnFailure {
    fn from(name: FailureName) -> Self {
        match name {
            FailureName::Retry => Self::Retry,
            FailureName::Reassign => Self::Reassign,
            FailureName::Skip => Self::Skip,
            FailureName::Stop => Self::Stop,
        }
    }
}

impl From<ContextName> for Context {
    fn from(name: ContextName) -> Self {
        match name {
            ContextName::Continue => Self::Continue,
            ContextName::Fresh => Self::Fresh,
        }
    }
}
