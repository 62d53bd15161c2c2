//! What can be typed behind `config`, `rules` and `template`.

use std::path::PathBuf;

use clap::Subcommand;

use super::{Format, Vars};

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ConfigVerb {
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
    /// Say what your `[[approve]]` and `[[deny]]` rules would do with a dialog
    ///
    /// The exit code is 0 if it would be approved, and 3 if it would be left to a person.
    Approval {
        /// The command that the dialog asks about
        #[arg(value_name = "COMMAND", conflicts_with = "path", required_unless_present = "path")]
        command: Option<String>,
        /// The file that the dialog asks about, relative to where the agent works
        #[arg(long, value_name = "FILE")]
        path: Option<String>,
        /// Whose dialog it is
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// What the agent runs, unless its team says so
        #[arg(long, value_name = "CLI")]
        cli: Option<String>,
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
pub(crate) enum RulesVerb {
    /// Run the rules over a recording, and print what they find in the recording's time
    Test {
        /// A recording in the format asciicast v2
        #[arg(value_name = "FILE.cast")]
        file: PathBuf,
        /// Whose rules
        #[arg(long, value_name = "CLI", required_unless_present = "suggest")]
        agent: Option<String>,
        /// Run the rules of every CLI, and tell how much of the recording each could read
        #[arg(long, conflicts_with = "agent")]
        suggest: bool,
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

#[derive(Debug, Subcommand)]
pub(crate) enum TemplateVerb {
    /// List the templates: the built-in ones, yours, and those of a project that you trust
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Show a template: its purpose, its variables, its text
    Show {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Print the prompt that a template makes
    Render {
        name: String,
        #[command(flatten)]
        vars: Vars,
        #[command(flatten)]
        format: Format,
    },
}
