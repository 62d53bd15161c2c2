//! What can be typed about locks.

use clap::Subcommand;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum LockVerb {
    /// Take a lock, or queue for it
    ///
    /// Exit codes: 0 you have it, 3 another holds it and you are queued.
    Take {
        name: String,
        /// Release it after this many seconds [default: 1800]
        #[arg(long = "for", value_name = "SECONDS")]
        limit: Option<u64>,
        /// Wait until you have it
        #[arg(long)]
        wait: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Release a lock, or leave its queue; you may release any agent's lock
    Release {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// List the locks, who holds them and who is queued
    List {
        #[command(flatten)]
        format: Format,
    },
}
