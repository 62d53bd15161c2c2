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
    /// Add an agent to the team that runs, and start it
    ///
    /// `wheelhouse agent add tests --cli claude`, or any command after `--`:
    /// `wheelhouse agent add logs -- tail -f server.log`
    Add(NewAgentArguments),
    /// Start agents that do not run
    Start {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Stop agents, and every process that they started
    Stop {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Stop agents and start them anew
    Restart {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Let each take its last conversation up again
        #[arg(long)]
        resume: bool,
        /// Start those that cannot afresh, and tell them what the record knows of their work
        #[arg(long, requires = "resume")]
        brief: bool,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Start agents with the conversation that each had last; those that run are restarted
    Resume {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Start those that cannot afresh, and tell them what the record knows of their work
        #[arg(long)]
        brief: bool,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Take agents that no longer run off the list
    Remove {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Also one that is out of reach, though it may still run where it is
        #[arg(long)]
        abandon: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Print what an agent's terminal shows, as plain text or with its colours
    Read {
        name: String,
        #[command(flatten)]
        reading: ReadingArgs,
        #[command(flatten)]
        format: Format,
    },
    /// Press keys in an agent's terminal: `enter`, `esc`, `ctrl-c`, `up`, `f1`, `shift-enter`, `x`
    ///
    /// Text goes in with `--text`, in its place among the keys:
    /// `wheelhouse agent keys backend --text 'ls' enter`
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
    /// Answer the dialog in an agent's pane; without a choice, show it
    Answer {
        name: String,
        #[command(flatten)]
        choosing: Choosing,
        #[command(flatten)]
        format: Format,
    },
    /// End what an agent is doing, the way its cli wants it
    Interrupt {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Say why an agent is shown in its state: which rule, which line, what the other sources say
    Explain {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Hand out the last minutes of an agent's terminal as a recording, with secrets blanked out
    ///
    /// Goes to standard output if that is no terminal, else to a file that is named.
    Record {
        name: String,
        #[command(flatten)]
        recording: Recording,
    },
    /// Show what an agent has changed: committed, staged, unstaged and new files
    Diff {
        name: String,
        /// Only these files, or those in these directories
        #[arg(value_name = "PATH")]
        paths: Vec<String>,
        #[command(flatten)]
        comparing: Comparing,
        #[command(flatten)]
        format: Format,
    },
    /// List an agent's processes, with what they use
    Tree {
        name: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewAgentArguments {
    /// What to call it: a lower-case letter, then up to 31 of a-z, 0-9, _ and -
    pub(crate) name: String,
    /// What it runs, and by whose rules its screen is read [with a command: shell]
    #[arg(long, required_unless_present = "command")]
    pub(crate) cli: Option<String>,
    #[arg(long, default_value = "worker", value_parser = ["worker", "lead", "orchestrator", "verifier"])]
    pub(crate) role: String,
    /// The team that it joins [default: the one that runs]
    #[arg(long)]
    pub(crate) team: Option<String>,
    /// Where it runs [default: the project's directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set a variable for it; kept in the hub's memory alone, never on disk
    #[arg(long = "env", value_name = "KEY=VALUE")]
    pub(crate) variables: Vec<String>,
    /// Which files it works on [default: as `[workspace]` says]
    #[arg(long, value_name = "KIND", value_parser = ["shared", "worktree", "copy", "auto"])]
    pub(crate) workspace: Option<String>,
    /// Where it runs: a `[runner.NAME]` of the settings [default: this machine]
    #[arg(long, value_name = "NAME")]
    pub(crate) runner: Option<String>,
    /// Let it change its workspace and nothing else
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// What it and all that it starts may use: `memory=4G`, `cpu=1.5`, `processes=512`
    #[arg(long = "limit", value_name = "WHAT=HOW MUCH")]
    pub(crate) limits: Vec<String>,
    #[command(flatten)]
    pub(crate) format: Format,
    /// Run this instead of the cli's own command
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Choosing {
    /// One of its options, counted from one
    #[arg(long, value_name = "N", group = "choice")]
    pub(crate) option: Option<usize>,
    /// Yes, where it lists no options
    #[arg(long, group = "choice")]
    pub(crate) approve: bool,
    /// No, where it lists no options
    #[arg(long, group = "choice")]
    pub(crate) deny: bool,
    /// Only if it is still this dialog [default: the one in sight now]
    #[arg(long, value_name = "ID")]
    pub(crate) dialog: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Comparing {
    /// `base` (when its run began), `head`, `integration` (where its branch left the one that work
    /// is brought back to), or any commit or branch
    #[arg(long, value_name = "REV", default_value = "base")]
    pub(crate) against: String,
    /// Only which files, and how many lines of each
    #[arg(long)]
    pub(crate) stat: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Recording {
    /// How much of its end, such as `90s`, `5m`, `1h`
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
    /// Also what has scrolled away
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
    /// How long an agent may take to end before it is killed
    #[arg(long, value_name = "SECONDS")]
    pub(crate) grace: Option<u32>,
}

impl Grace {
    pub(crate) fn milliseconds(self) -> Option<u64> {
        self.grace.map(|seconds| u64::from(seconds) * 1000)
    }
}
