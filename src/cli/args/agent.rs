//! What can be typed behind `agent`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum AgentVerb {
    /// List the agents
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Add an agent to the running team, and start it
    #[command(
        after_help = "Examples:\n  wheelhouse agent add tests --cli claude\n  wheelhouse agent add logs -- tail -f server.log"
    )]
    Add(NewAgentArguments),
    /// Start agents that are not running
    Start {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Stop agents and every process that they started
    Stop {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Stop agents and start them again
    Restart {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Resume the last conversation of each
        #[arg(long)]
        resume: bool,
        /// Start agents that cannot resume with a new conversation and a summary of their work
        #[arg(long, requires = "resume")]
        brief: bool,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Start or restart agents with their last conversation
    Resume {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Start agents that cannot resume with a new conversation and a summary of their work
        #[arg(long)]
        brief: bool,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Remove agents that have ended from the team
    Remove {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Also remove an unreachable agent, which may still run on its machine
        #[arg(long)]
        abandon: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Print an agent's screen as plain text or with its colours
    Read {
        name: String,
        #[command(flatten)]
        reading: ReadingArgs,
        #[command(flatten)]
        format: Format,
    },
    /// Press keys in an agent's terminal: `enter`, `esc`, `ctrl-c`, `up`, `f1`, `shift-enter`, `x`
    ///
    /// Type text with `--text`, in its place among the keys.
    #[command(
        after_help = "Examples:\n  wheelhouse agent keys backend --text 'ls' enter\n  wheelhouse agent keys backend ctrl-c"
    )]
    Keys {
        name: String,
        /// Names of keys, and `--text STRING`
        #[arg(
            required = true,
            value_name = "KEY",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        keys: Vec<String>,
    },
    /// Answer the dialog in an agent's pane; without a choice, print it
    #[command(
        after_help = "Examples:\n  wheelhouse agent answer backend\n  wheelhouse agent answer backend --option 1"
    )]
    Answer {
        name: String,
        #[command(flatten)]
        choosing: Choosing,
        #[command(flatten)]
        format: Format,
    },
    /// Interrupt what an agent is doing
    Interrupt {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Explain why an agent is in its state: the rule, the line, and what other sources say
    Explain {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Save the last minutes of an agent's terminal as a recording, without secrets
    ///
    /// Writes to standard output unless that is a terminal; then to a file, whose name it prints.
    Record {
        name: String,
        #[command(flatten)]
        recording: Recording,
    },
    /// Show what an agent has changed: committed, staged, unstaged and new files
    Diff {
        name: String,
        /// Only these files and directories
        #[arg(value_name = "PATH")]
        paths: Vec<String>,
        #[command(flatten)]
        comparing: Comparing,
        #[command(flatten)]
        format: Format,
    },
    /// List an agent's processes, with cpu and memory
    Tree {
        name: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewAgentArguments {
    /// Its name: a lower-case letter, then up to 31 of a-z, 0-9, _ and -
    pub(crate) name: String,
    /// The CLI that it runs and whose rules read its screen [with a command: shell]
    #[arg(long, required_unless_present = "command")]
    pub(crate) cli: Option<String>,
    #[arg(long, default_value = "worker", value_parser = ["worker", "lead", "orchestrator", "verifier"])]
    pub(crate) role: String,
    /// The team that it joins [default: the running team]
    #[arg(long)]
    pub(crate) team: Option<String>,
    /// Its working directory [default: the project's directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set an environment variable; kept in the hub's memory, never on disk
    #[arg(long = "env", value_name = "KEY=VALUE")]
    pub(crate) variables: Vec<String>,
    /// Its workspace [default: see `[workspace]`]
    #[arg(long, value_name = "KIND", value_parser = ["shared", "worktree", "copy", "auto"])]
    pub(crate) workspace: Option<String>,
    /// Its runner: a `[runner.NAME]` of the settings [default: this machine]
    #[arg(long, value_name = "NAME")]
    pub(crate) runner: Option<String>,
    /// Run it in a sandbox: it can change nothing but its workspace
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// Limit it and all that it starts: `memory=4G`, `cpu=1.5`, `processes=512`
    #[arg(long = "limit", value_name = "LIMIT=VALUE")]
    pub(crate) limits: Vec<String>,
    #[command(flatten)]
    pub(crate) format: Format,
    /// Run this command instead of the CLI's own
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Choosing {
    /// Choose this option, counted from 1
    #[arg(long, value_name = "N", group = "choice")]
    pub(crate) option: Option<usize>,
    /// Answer yes, if it lists no options
    #[arg(long, group = "choice")]
    pub(crate) approve: bool,
    /// Answer no, if it lists no options
    #[arg(long, group = "choice")]
    pub(crate) deny: bool,
    /// Answer only if it is still this dialog [default: the one on screen]
    #[arg(long, value_name = "ID")]
    pub(crate) dialog: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Comparing {
    /// `base` (when its run began), `head`, `integration` (where its branch left the
    /// integration branch), or any commit or branch
    #[arg(long, value_name = "REV", default_value = "base")]
    pub(crate) against: String,
    /// Print only the files and the number of changed lines
    #[arg(long)]
    pub(crate) stat: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Recording {
    /// How much to save, such as `90s`, `5m`, `1h`
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    pub(crate) last: Duration,
    /// Where to write it; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// What of a terminal is read, and how it is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ReadingArgs {
    /// Only the last lines
    #[arg(long, value_name = "N")]
    pub(crate) lines: Option<usize>,
    /// Include what has scrolled off
    #[arg(long)]
    pub(crate) scrollback: bool,
    /// As plain text, or with its colours
    #[arg(
        long = "format",
        id = "text_format",
        value_enum,
        default_value_t,
        conflicts_with = "json"
    )]
    pub(crate) format: TextFormat,
}

/// How the text of a terminal is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    #[default]
    Text,
    /// With the sequences that set colours, and no others
    Ansi,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Grace {
    /// Seconds that an agent has to exit before it is killed
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace: Option<u32>,
}

impl Grace {
    pub(crate) fn milliseconds(self) -> Option<u64> {
        self.grace.map(|seconds| u64::from(seconds) * 1000)
    }
}
