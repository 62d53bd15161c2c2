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
    /// List the places where agents can run
    List {
        #[command(flatten)]
        format: Format,
    },
}
