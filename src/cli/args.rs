//! What can be typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

/// Runs a team of coding agents side by side, each in its own terminal.
///
/// Agents keep running when this program, its hub or your terminal goes away. Without a command it
/// opens the dashboard of this project.
#[derive(Debug, Parser)]
#[command(name = "wheelhouse", version, max_term_width = 100)]
pub(super) struct Arguments {
    /// The project's directory [default: the nearest one above with a wheelhouse.toml or a .git]
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) project: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Start the hub and a team; returns when every agent's process runs
    Up {
        /// The team [default: the only one of the project]
        team: Option<String>,
        /// Open the dashboard on it
        #[arg(long)]
        attach: bool,
        /// Say nothing when the dashboard is left
        #[arg(long, hide = true, requires = "attach")]
        quiet: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Watch a scripted team at real work on a throw-away repository; no agent needed
    Demo {
        /// Tell the story as lines, answer for the person, and end by itself
        #[arg(long)]
        headless: bool,
    },
    /// Open the dashboard
    Attach,
    /// Stop every agent and the hub; returns when all is gone
    Down {
        /// Stop agents that may be in the middle of their work, too
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show the hub and its agents
    Status {
        #[command(flatten)]
        format: Format,
    },
    /// Look at agents and act on them
    #[command(subcommand)]
    Agent(AgentVerb),
    /// Say what is wrong, and what to type
    Doctor {
        #[command(flatten)]
        format: Format,
    },
    /// Write, check, show and trust settings
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Be a scripted agent, for demos and tests; without a script, answer prompts with a short job
    Sim {
        /// The script
        script: Option<PathBuf>,
    },
    /// Try out and show the rules by which a cli's screen is read
    #[command(subcommand)]
    Rules(RulesVerb),
    /// Print a completion script for a shell
    Completions { shell: Shell },
    /// Become the project's hub (started by the others when needed)
    #[command(hide = true)]
    Hub {
        /// For whoever reads a list of processes
        #[arg(long)]
        session: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum AgentVerb {
    /// List the agents
    List {
        #[command(flatten)]
        format: Format,
    },
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
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Take agents that no longer run off the list
    Remove {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Print what an agent's terminal shows, as plain text
    Read {
        name: String,
        /// Only the last lines
        #[arg(long, value_name = "N")]
        lines: Option<usize>,
        /// Also what has scrolled away
        #[arg(long)]
        scrollback: bool,
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
    /// List an agent's processes, with what they use
    Tree {
        name: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(super) enum ConfigVerb {
    /// Write a wheelhouse.toml to start from
    Init,
    /// Say whether the settings are right, and where they are not
    Check {
        #[command(flatten)]
        format: Format,
    },
    /// Show the settings in force, and where each comes from
    Show {
        #[command(flatten)]
        format: Format,
    },
    /// Let the running hub take over the settings as they are now (it notices edits by itself, on Linux)
    Reload {
        #[command(flatten)]
        format: Format,
    },
    /// Let the project's wheelhouse.toml, as it is now, run commands
    Trust {
        /// Do not ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum RulesVerb {
    /// Run the rules over a recording, and print what they find in the recording's time
    Test {
        /// A recording in the format asciicast v2
        #[arg(value_name = "FILE.cast")]
        file: PathBuf,
        /// Whose rules
        #[arg(long, value_name = "CLI")]
        agent: String,
        /// Leave the terminal's title and the program's own status aside
        #[arg(long)]
        screen_only: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show the rules in the order in which they are tried
    Show {
        cli: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Format {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Recording {
    /// How much of its end, such as `90s`, `5m`, `1h`
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    pub(super) last: Duration,
    /// Where to write it; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Grace {
    /// How long an agent may take to end before it is killed
    #[arg(long, value_name = "SECONDS")]
    pub(super) grace: Option<u32>,
}

impl Grace {
    pub(super) fn milliseconds(self) -> Option<u64> {
        self.grace.map(|seconds| u64::from(seconds) * 1000)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
