//! What can be typed: the verbs.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use super::{
    AgentVerb, ConfigVerb, ContractVerb, Format, LockVerb, ReportVerb, RoleName, RulesVerb,
    RunArgs, RunnerVerb, Sending, TemplateVerb, WorkspaceVerb,
};
use crate::cli::api::ApiVerb;
use crate::cli::events::EventsArgs;
use crate::cli::history::HistoryArgs;
use crate::cli::replay::ReplayArgs;
use crate::cli::search::SearchArgs;
use crate::cli::task::TaskVerb;
use crate::model::ReceiptId;

/// Runs a team of coding agents side by side, each in its own terminal.
///
/// Agents keep running when this program, its hub or your terminal goes away. Without a command it
/// opens the dashboard of this project.
#[derive(Debug, Parser)]
#[command(name = "wheelhouse", version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// The project's directory [default: the nearest one above with a wheelhouse.toml or a .git]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start the hub and a team; returns when every agent's process runs
    Up {
        /// The team [default: the only one of the project]
        team: Option<String>,
        /// Open the dashboard on it
        #[arg(long)]
        attach: bool,
        /// Say nothing when the dashboard is left
        #[arg(long, hide = true, requires = "attach")]
        quiet: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Watch a scripted team at real work on a throw-away repository; no agent needed
    Demo {
        /// Tell the story as lines, answer for the person, and end by itself
        #[arg(long)]
        headless: bool,
    },
    /// Open the dashboard
    Attach,
    /// Stop every agent and the hub; returns when all is gone
    Down {
        /// Stop agents that may be in the middle of their work, too
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show the hub and its agents
    Status {
        #[command(flatten)]
        format: Format,
    },
    /// Hand a prompt to an agent at its next safe moment, and print the receipt
    ///
    /// Exit codes with --wait: 0 accepted, 3 refused, 4 stalled or unknown, 5 timed out.
    Dispatch {
        #[arg(value_name = "AGENT")]
        agent: String,
        #[command(flatten)]
        sending: Sending,
        #[command(flatten)]
        format: Format,
    },
    /// Hand a prompt to every agent that runs, or to those named
    Broadcast {
        #[command(flatten)]
        sending: Sending,
        /// Only to these
        #[arg(long, value_name = "AGENT", value_delimiter = ',')]
        to: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Take back a prompt that has not been typed yet
    Withdraw {
        receipt: ReceiptId,
        #[command(flatten)]
        format: Format,
    },
    /// Wait until an agent or a task is in a state, or a prompt goes no further
    ///
    /// Exit codes: 0 it has come there, 3 it cannot, 5 timed out; for a prompt those of `dispatch`.
    Wait {
        #[arg(long, value_name = "NAME", group = "what")]
        agent: Option<String>,
        #[arg(long, value_name = "ID", group = "what")]
        task: Option<String>,
        #[arg(long, group = "what")]
        receipt: Option<ReceiptId>,
        /// The state, or several [default: any in which the agent does not work; for a task: done]
        #[arg(long = "for", value_name = "STATE", value_delimiter = ',')]
        states: Vec<String>,
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
        #[command(flatten)]
        format: Format,
    },
    /// Hand out work as tasks, and see what became of it
    #[command(subcommand)]
    Task(TaskVerb),
    /// Show what waits for you, the most urgent first
    Attention {
        /// Mark all of it as read
        #[arg(long)]
        read: bool,
        /// Take an item off the list
        #[arg(long, value_name = "ITEM")]
        resolve: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Read the interfaces that agents have published
    #[command(subcommand)]
    Contract(ContractVerb),
    /// Say who the hub takes you for, and what you may ask of it
    Whoami {
        #[command(flatten)]
        format: Format,
    },
    /// Print the text that teaches an agent this tool
    Skill {
        /// For which role [default: that of the agent that asks, else worker]
        #[arg(long, value_enum)]
        role: Option<RoleName>,
        #[command(flatten)]
        format: Format,
    },
    /// Serve the tools for agents by MCP, on standard input and output
    ///
    /// For the agent that starts it, by its token, with what its role may; else for you.
    Mcp,
    /// Print what happened, oldest first
    Events(EventsArgs),
    /// List the runs that were, or tell what came of one
    History(HistoryArgs),
    /// Search every pane with all that has scrolled off it, and the recordings of earlier runs
    ///
    /// Prints AGENT:LINE: TEXT of what panes have, and AGENT:TIME: TEXT of what was recorded.
    Search(SearchArgs),
    /// Show any moment of a run: agents, tasks, what waited, and the screens
    Replay(ReplayArgs),
    /// Look at agents and act on them
    #[command(subcommand)]
    Agent(AgentVerb),
    /// Say what is wrong, and what to type
    Doctor {
        #[command(flatten)]
        format: Format,
    },
    /// Write, check, show and trust settings
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Be a scripted agent, for demos and tests; without a script, answer prompts with a short job
    Sim {
        /// The script
        script: Option<PathBuf>,
    },
    /// Try out and show the rules by which a cli's screen is read
    #[command(subcommand)]
    Rules(RulesVerb),
    /// Say what became of the work; for agents, which are known by the token they were started with
    ///
    /// Exit codes: 0 accepted, 3 refused or sent back; the answer says why.
    #[command(subcommand)]
    Report(ReportVerb),
    /// List, show and fill in prompt templates
    #[command(subcommand)]
    Template(TemplateVerb),
    /// Run a playbook: its agents are started and its tasks handed out, checked and finished
    ///
    /// Exit codes with --headless: 0 done, 10 done in part, 11 failed, 12 it needs a person; 2 what
    /// was typed or the playbook is wrong, which is told with its line.
    Run(Box<RunArgs>),
    /// Look at places elsewhere where agents can run: ssh, containers, Kubernetes
    #[command(subcommand)]
    Runner(RunnerVerb),
    /// Take, release and list locks
    #[command(subcommand)]
    Lock(LockVerb),
    /// See where agents work apart from each other, bring their work back, clean up
    #[command(subcommand)]
    Workspace(WorkspaceVerb),
    /// Show every hub of yours, whatever its project, and how its agents are
    All {
        #[command(flatten)]
        format: Format,
    },
    /// Print what programs need to speak to a hub
    #[command(subcommand)]
    Api(ApiVerb),
    /// Print a completion script for a shell
    Completions { shell: Shell },
    /// Print the manual page, or write one for each command
    Man {
        /// Write all pages into this directory
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Pass on what a hook of an agent's cli says (run by the clis)
    #[command(hide = true)]
    Hook {
        /// For whoever reads a list of processes
        cli: String,
        /// What it says, if not on standard input
        said: Option<String>,
    },
    /// Become the project's hub (started by the others when needed)
    #[command(hide = true)]
    Hub {
        /// For whoever reads a list of processes
        #[arg(long)]
        session: Option<String>,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
