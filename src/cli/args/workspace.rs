//! What can be typed about workspaces.

use clap::{Args, Subcommand};

use super::{Comparing, Format};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceVerb {
    /// List the workspaces, their changes, and files that several of them change
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Show what an agent has changed in its workspace
    Diff {
        agent: String,
        /// Only these files and directories
        #[arg(value_name = "PATH")]
        paths: Vec<String>,
        #[command(flatten)]
        comparing: Comparing,
        #[command(flatten)]
        format: Format,
    },
    /// Merge an agent's work into a branch; your checkout is not touched
    ///
    /// Uncommitted changes in the workspace are committed first. The gates run on the
    /// merged tree before the branch moves.
    ///
    /// Exit codes: 0 merged, 3 conflict, 4 a gate failed, 1 another failure.
    #[command(
        after_help = "Examples:\n  wheelhouse workspace merge backend --dry-run\n  wheelhouse workspace merge backend --squash --gate 'cargo test'"
    )]
    Merge {
        agent: String,
        #[command(flatten)]
        terms: MergeArguments,
        #[command(flatten)]
        format: Format,
    },
    /// Remove workspaces without work in them; keep the others and say why
    Clean {
        /// The agents [default: all that are not running]
        agents: Vec<String>,
        /// Save everything to a rescue ref first, then remove them
        #[arg(long)]
        rescue: bool,
        /// Also delete files that git ignores
        #[arg(long)]
        drop_ignored: bool,
        /// Give up a workspace whose directory is gone for good; what git still has
        /// goes to a rescue ref
        #[arg(long, requires = "agents")]
        gone: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Save workspaces to rescue refs, and keep them
    ///
    /// Without a name it lists the rescue refs. Read one with `git show REF:PATH`, or
    /// restore it with `--restore`.
    Rescue {
        agents: Vec<String>,
        /// Restore a workspace: a rescue ref, or an agent for its newest
        #[arg(long, value_name = "NAME", conflicts_with = "agents")]
        restore: Option<String>,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed by itself")]
pub(crate) struct MergeArguments {
    /// Squash the work into one commit
    #[arg(long, conflicts_with = "rebase")]
    pub(crate) squash: bool,
    /// Rebase its commits
    #[arg(long)]
    pub(crate) rebase: bool,
    /// Make a merge commit
    #[arg(long, conflicts_with_all = ["rebase", "squash"])]
    pub(crate) merge: bool,
    /// The branch to merge into [default: `workspace.into`]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// A gate for the merged tree, besides `workspace.gates`
    #[arg(long = "gate", value_name = "COMMAND")]
    pub(crate) gates: Vec<String>,
    /// The first line of the commit
    #[arg(long)]
    pub(crate) message: Option<String>,
    /// Merge committed work only
    #[arg(long)]
    pub(crate) committed: bool,
    /// Only show what would happen
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// If it cannot be merged, send the reason to the agent as its next prompt
    #[arg(long)]
    pub(crate) send_back: bool,
    /// Only print the commands that open a pull request with `gh` or `glab`
    #[arg(long)]
    pub(crate) pr: bool,
}
