//! What can be typed about tasks.

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::args::{Format, RoleName};
use crate::model::{Context, OnFailure, RequestKey};

#[derive(Debug, Subcommand)]
pub(crate) enum TaskVerb {
    /// Add a task; an idle agent that fits gets it
    #[command(
        after_help = "Examples:\n  wheelhouse task add --title 'Login' --prompt 'Fix the login' --gate 'cargo test'\n  wheelhouse task add --title 'Docs' --prompt 'Describe it' --agent docs --needs t1"
    )]
    Add(Box<AddArgs>),
    /// List the tasks and their states
    ///
    /// Lists the newest 200 ended tasks; `--all` lists every task in the record.
    List {
        /// Every task in the record
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show the task board: free, in progress, ended
    Board {
        /// Only the board of this run
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Show a task and its attempts
    Show {
        #[arg(value_name = "ID")]
        task: String,
        #[command(flatten)]
        format: Format,
    },
    /// Retry a task, whatever was tried before
    Retry {
        #[arg(value_name = "ID")]
        task: String,
        /// What to do differently this time
        #[arg(long, value_name = "TEXT")]
        advice: Option<String>,
        /// Give it to this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Cancel a task; the agent that works on it is interrupted
    Cancel {
        #[arg(value_name = "ID")]
        task: String,
        #[command(flatten)]
        format: Format,
    },
    /// Assign a ready task to an agent
    Claim {
        #[arg(value_name = "ID")]
        task: String,
        /// The agent [default, inside an agent: that agent]
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Let one agent's requests reach another from now on
    Consent { from: String, to: String },
    /// Keep an agent's changes to files that another agent owns
    Allow { agent: String },
    /// Tell an agent that what it needs is ready
    Meet {
        #[arg(value_name = "NEED")]
        need: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// A short name for lists
    #[arg(long)]
    pub(super) title: String,
    /// The prompt; `-` reads standard input
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
    /// A task that must be done first; separate several with commas
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(super) needs: Vec<String>,
    /// A check that must pass: a command, or `exit:CODE:COMMAND`, `file:PATH`,
    /// `regex:PATH:PATTERN`, `json:PATH`, `schema:PATH:SCHEMA` (a file, or the schema itself),
    /// `git:clean`, `git:commits`, `git:ahead:REF`, `contract:TITLE[@VERSION]`; before any of these
    /// `limit:SECONDS:`
    #[arg(long, value_name = "GATE")]
    pub(super) gate: Vec<String>,
    /// Paths that it changes; tasks with common paths never run at once
    #[arg(long, value_name = "GLOB")]
    pub(super) owns: Vec<String>,
    /// A lock to hold while an agent works on it
    #[arg(long, value_name = "NAME")]
    pub(super) lock: Vec<String>,
    /// The playbook run to add it to [inside an agent: always its own]
    #[arg(long, value_name = "RUN")]
    pub(super) run: Option<String>,
    /// Tasks with a higher priority go first
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub(super) priority: i32,
    /// Attempts per agent
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(super) attempts: u32,
    /// Ask a person when an attempt takes longer than this
    #[arg(long, value_name = "SECONDS")]
    pub(super) time_limit: Option<u64>,
    /// Ask a person when an attempt has taken this many prompts
    #[arg(long, value_name = "N", alias = "turns")]
    pub(super) turns_max: Option<u32>,
    /// Ask a person when an attempt has used this many tokens, as the agent shows them
    #[arg(long, value_name = "N")]
    pub(super) tokens_max: Option<u64>,
    /// What to do after the last failed attempt
    #[arg(long, value_enum, default_value_t = FailureName::Reassign)]
    pub(super) on_failure: FailureName,
    /// If it fails, try once more with this smaller goal
    #[arg(long, value_name = "TEXT")]
    pub(super) reduced: Option<String>,
    /// Start in the agent's current conversation, or in a new one
    #[arg(long, value_enum, default_value_t = ContextName::Continue)]
    pub(super) context: ContextName,
    /// How many verifiers check the result
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) verifiers: u32,
    /// How many of them must agree [default: all]
    #[arg(long, value_name = "N")]
    pub(super) agree: Option<u32>,
    /// An idempotency key: calling again with the same key adds nothing new
    #[arg(long, value_name = "WORD")]
    pub(super) key: Option<RequestKey>,
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FailureName {
    /// The task fails; tasks that need it wait
    Retry,
    /// Another agent that fits tries it; then the task fails
    Reassign,
    /// Tasks that need it go on without it
    Skip,
    /// Tasks that need it fail too
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
