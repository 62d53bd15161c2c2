//! What can be typed behind `report`.

use clap::{Args, Subcommand, ValueEnum};

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum ReportVerb {
    /// The work is finished and checked
    Done {
        /// What was accomplished
        text: String,
        /// What shows it: counts, paths, commits, commands and their results
        #[arg(long, value_name = "TEXT")]
        evidence: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// It cannot go on
    Blocked {
        /// Exactly what is needed
        text: String,
        #[command(flatten)]
        saying: Saying,
    },
    /// It failed for good
    Error {
        /// What failed, what was tried, a suggested fix
        text: String,
        #[command(flatten)]
        saying: Saying,
    },
    /// A step is completed
    Progress {
        /// Which of how many: `3/7`
        step: String,
        /// What was just completed
        text: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// A build passed or failed
    Build {
        outcome: Outcome,
        /// The error in a few words
        text: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// Something is needed that another agent owns
    Need {
        /// A path or thing
        #[arg(value_name = "PATH")]
        thing: String,
        /// Who owns it
        #[arg(long, value_name = "AGENT")]
        from: Option<String>,
        /// Why
        text: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// An interface that others will build on; its lines come from standard input
    Contract {
        title: String,
        /// Its lines, if not on standard input
        #[arg(long, value_name = "TEXT")]
        body: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// A file that this task hands on
    Artifact {
        /// Relative to the directory that you work in
        path: String,
        /// What it is, in a word or two
        kind: String,
        /// A JSON schema that it must fit, as a file; otherwise it is refused
        #[arg(long, value_name = "FILE")]
        schema: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Outcome {
    Pass,
    Fail,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Saying {
    /// The tag of the attempt that it is about, from the brief: what is said of another is refused
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    #[command(flatten)]
    pub(crate) format: Format,
}
