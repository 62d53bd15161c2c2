//! What can be typed about runners.

use clap::Subcommand;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum RunnerVerb {
    /// Say whether agents can run there, and what is missing
    ///
    /// Exit codes: 0 they can, 1 something is missing.
    Check {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Send a commit with its history there: a clone is made where there is none
    Push {
        name: String,
        /// What to send
        #[arg(long, value_name = "REV", default_value = "HEAD")]
        commit: String,
        /// Where the clone is there, if not in the runner's own directory
        #[arg(long, value_name = "DIR")]
        directory: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Bring its branches back, as refs/wheelhouse/remote/NAME/BRANCH
    Fetch {
        name: String,
        /// Where the clone is there, if not in the runner's own directory
        #[arg(long, value_name = "DIR")]
        directory: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// List the places where agents can run
    List {
        #[command(flatten)]
        format: Format,
    },
}
