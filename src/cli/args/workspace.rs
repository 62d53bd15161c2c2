//! What can be typed about workspaces.

use clap::{Args, Subcommand};

use super::{Comparing, Format};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceVerb {
    /// List the workspaces, what is changed in them, and where their work will meet
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Show what an agent has changed in its workspace, by file and line
    Diff {
        agent: String,
        /// Only these files, or those in these directories
        #[arg(value_name = "PATH")]
        paths: Vec<String>,
        #[command(flatten)]
        comparing: Comparing,
        #[command(flatten)]
        format: Format,
    },
    /// Bring the work of an agent back onto a branch; no checkout of yours is touched
    ///
    /// What is not committed in the workspace is committed first. The merge is made beside every
    /// checkout, the gates run on the merged tree, and only then the branch moves.
    ///
    /// Exit codes: 0 it is there, 3 it conflicts, 4 a gate does not pass, 1 another failure.
    Merge {
        agent: String,
        #[command(flatten)]
        terms: MergeArguments,
        #[command(flatten)]
        format: Format,
    },
    /// Remove workspaces in which there is no work; those with work are kept, and it is said why
    Clean {
        /// Whose; without a name, of all agents that do not run
        agents: Vec<String>,
        /// Put all that is in them into a rescue ref first, and then remove them
        #[arg(long)]
        rescue: bool,
        /// Give up files that git was told to ignore
        #[arg(long)]
        drop_ignored: bool,
        /// Give up a workspace whose directory is gone for good: what git still has of it is put into
        /// a rescue ref first
        #[arg(long, requires = "agents")]
        gone: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Put all that is in workspaces into rescue refs, and leave them as they are
    ///
    /// Without a name, list the rescue refs. Read one with `git show REF:PATH`, or bring it back
    /// with `--restore`.
    Rescue {
        agents: Vec<String>,
        /// Make the workspace again as it was: a rescue ref, or an agent for its newest
        #[arg(long, value_name = "NAME", conflicts_with = "agents")]
        restore: Option<String>,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed by itself")]
pub(crate) struct MergeArguments {
    /// One commit with all of it
    #[arg(long, conflicts_with = "rebase")]
    pub(crate) squash: bool,
    /// Its commits one by one, on top
    #[arg(long)]
    pub(crate) rebase: bool,
    /// A merge commit, with its branch behind it
    #[arg(long, conflicts_with_all = ["rebase", "squash"])]
    pub(crate) merge: bool,
    /// The branch to bring it onto [default: `workspace.into`]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// What must pass on the merged tree, beside `workspace.gates`
    #[arg(long = "gate", value_name = "COMMAND")]
    pub(crate) gates: Vec<String>,
    /// The first line of the commit
    #[arg(long)]
    pub(crate) message: Option<String>,
    /// Leave behind what is not committed
    #[arg(long)]
    pub(crate) committed: bool,
    /// Only say what would come of it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// If it cannot be done, tell the agent why as its next prompt
    #[arg(long)]
    pub(crate) send_back: bool,
    /// Print the commands that open a pull request with the tool of your forge, and do nothing else
    #[arg(long)]
    pub(crate) pr: bool,
}
