//! What can be typed behind `config`, `rules` and `template`.

use std::path::PathBuf;

use clap::Subcommand;

use super::{Format, Vars};

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Write a wheelhouse.toml with examples
    Init,
    /// Check the settings, and say what is wrong and where
    Check {
        #[command(flatten)]
        format: Format,
    },
    /// Show the effective settings, and where each comes from
    Show {
        #[command(flatten)]
        format: Format,
    },
    /// Test what your `[[approve]]` and `[[deny]]` rules would do with a dialog
    ///
    /// Exit codes: 0 it would be approved, 3 it would be left to you.
    Approval {
        /// The command in the dialog
        #[arg(value_name = "COMMAND", conflicts_with = "path", required_unless_present = "path")]
        command: Option<String>,
        /// The file in the dialog, relative to the agent's working directory
        #[arg(long, value_name = "FILE")]
        path: Option<String>,
        /// The agent that shows the dialog
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// The agent's CLI [default: as its team says]
        #[arg(long, value_name = "CLI")]
        cli: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Make the running hub reload the settings (on Linux it does so after each edit)
    Reload {
        #[command(flatten)]
        format: Format,
    },
    /// Trust the project's wheelhouse.toml as it is now, so that it may run commands
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
    /// Run the rules over a recording, and print the states and reports that they find
    Test {
        /// A recording in asciicast v2 format
        #[arg(value_name = "FILE.cast")]
        file: PathBuf,
        /// The CLI whose rules to use
        #[arg(long, value_name = "CLI", required_unless_present = "suggest")]
        agent: Option<String>,
        /// Run the rules of every CLI, and tell how much of the recording each could read
        #[arg(long, conflicts_with = "agent")]
        suggest: bool,
        /// Ignore the terminal's title and the program's own status signals
        #[arg(long)]
        screen_only: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Print the rules in the order in which they are tried
    Show {
        cli: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TemplateVerb {
    /// List the templates: built-in, yours, and those of a trusted project
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
