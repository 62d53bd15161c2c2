//! What can be typed behind `report`.

use clap::{Args, Subcommand, ValueEnum};

use super::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum ReportVerb {
    /// Report that the task is finished and checked
    Done {
        /// What was accomplished
        text: String,
        /// The evidence: counts, paths, commits, commands and their results
        #[arg(long, value_name = "TEXT")]
        evidence: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// Report that the task cannot go on
    Blocked {
        /// Exactly what is needed
        text: String,
        #[command(flatten)]
        saying: Saying,
    },
    /// Report that the task failed for good
    Error {
        /// What failed, what was tried, a suggested fix
        text: String,
        #[command(flatten)]
        saying: Saying,
    },
    /// Report a completed step
    Progress {
        /// The step and how many there are: `3/7`
        step: String,
        /// What was just completed
        text: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// Report the result of a build or test run
    Build {
        outcome: Outcome,
        /// The error in a few words
        text: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// Ask for something that another agent owns
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
    /// Publish an interface that others build on; its lines come from standard input
    Contract {
        title: String,
        /// Its lines, if not on standard input
        #[arg(long, value_name = "TEXT")]
        body: Option<String>,
        #[command(flatten)]
        saying: Saying,
    },
    /// Hand on a file as a result of the task
    Artifact {
        /// Its path, relative to your working directory
        path: String,
        /// What it is, in a word or two
        kind: String,
        /// A JSON schema file that it must match, or it is refused
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
    /// The tag of the attempt, from the brief; a wrong tag is refused
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    #[command(flatten)]
    pub(crate) format: Format,
}
