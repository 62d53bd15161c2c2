//! What can be typed about runners.

use clap::Subcommand;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum RunnerVerb {
    /// Check whether agents can run there, and say what is missing
    ///
    /// Exit codes: 0 agents can run there, 1 something is missing.
    Check {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Send a commit with its history; makes a clone if there is none
    Push {
        name: String,
        /// The commit to send
        #[arg(long, value_name = "REV", default_value = "HEAD")]
        commit: String,
        /// The directory of the clone [default: the runner's `directory`]
        #[arg(long, value_name = "DIR")]
        directory: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Fetch its branches as refs/wheelhouse/remote/NAME/BRANCH
    Fetch {
        name: String,
        /// The directory of the clone [default: the runner's `directory`]
        #[arg(long, value_name = "DIR")]
        directory: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// List the runners
    List {
        #[command(flatten)]
        format: Format,
    },
}
