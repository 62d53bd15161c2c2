//! What can be typed about contracts.

use clap::Subcommand;

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum ContractVerb {
    /// List the contracts in their newest version
    List {
        /// Only contracts of this agent
        #[arg(long, value_name = "AGENT")]
        publisher: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Print a contract
    Show {
        title: String,
        /// The agent that published it, if several did
        #[arg(long, value_name = "AGENT")]
        publisher: Option<String>,
        /// The version [default: the newest]
        #[arg(long = "version", id = "number", value_name = "N")]
        version: Option<u32>,
        #[command(flatten)]
        format: Format,
    },
}
