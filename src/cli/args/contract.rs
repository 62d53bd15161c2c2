//! What can be typed about contracts.

use clap::Subcommand;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum ContractVerb {
    /// List the newest version of each
    List {
        /// Only those of this agent
        #[arg(long, value_name = "AGENT")]
        publisher: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Print the lines of one
    Show {
        title: String,
        /// Whose, if several agents published one of this title
        #[arg(long, value_name = "AGENT")]
        publisher: Option<String>,
        /// Which version [default: the newest]
        #[arg(long = "version", id = "number", value_name = "N")]
        version: Option<u32>,
        #[command(flatten)]
        format: Format,
    },
}
