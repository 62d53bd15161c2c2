//! What can be typed about locks.

use clap::Subcommand;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum LockVerb {
    /// Take a lock, or get in line for it; an agent takes it for itself
    ///
    /// Exit codes: 0 it is yours, 3 someone else holds it and you are in line.
    Take {
        name: String,
        /// Give it back after this long at the latest [default: 30 minutes]
        #[arg(long = "for", value_name = "SECONDS")]
        limit: Option<u64>,
        /// Return only when it is yours
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Give a lock back, or leave the line; a person may take one from anyone
    Release {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// List the locks, who holds them and who is in line
    List {
        #[command(flatten)]
        format: Format,
    },
}
