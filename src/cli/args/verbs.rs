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

/// The commands by subject, below the list of all.
const GROUPS: &str = "\
By subject:
  start and stop   up, demo, attach, status, all, down
  agents           agent, dispatch, broadcast, withdraw, wait, attention
  work             task, run, contract, lock, workspace
  look back        events, history, replay, search
  set up           config, template, rules, runner, doctor, completions, man
  for agents       report, whoami, skill, mcp
  for programs     api, sim

Examples:
  wheelhouse demo                              watch a scripted team
  wheelhouse up TEAM --attach                  start a team and open the dashboard
  wheelhouse dispatch AGENT 'Fix the login'    send a prompt
  wheelhouse attention                         see what needs you";

/// Runs a team of coding agents side by side, each in its own terminal.
///
/// Agents keep running when this program, its hub or your terminal goes away. Without a command it
/// opens the dashboard of this project.
#[derive(Debug, Parser)]
#[command(name = "wheelhouse", version, max_term_width = 100, after_help = GROUPS)]
pub(crate) struct Arguments {
    /// The project's directory [default: the nearest one above with a wheelhouse.toml or a .git]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start a team; returns when every agent's process runs
    #[command(after_help = "Examples:\n  wheelhouse up\n  wheelhouse up shop --attach")]
    Up {
        /// The team [default: the only one of the project]
        team: Option<String>,
        /// Open the dashboard on it
        #[arg(long)]
        attach: bool,
        /// Print nothing when the dashboard is left
        #[arg(long, hide = true, requires = "attach")]
        quiet: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Watch a scripted team work on a throw-away repository; no agent CLI needed
    Demo {
        /// Print what happens, answer the dialogs, and exit at the end
        #[arg(long)]
        headless: bool,
    },
    /// Open the dashboard
    Attach,
    /// Stop every agent and the hub; returns when all have ended
    Down {
        /// Also stop agents that may be working
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
    /// Send a prompt to an agent when it can take one, and print the receipt
    ///
    /// Exit codes with --wait: 0 accepted, 3 refused, 4 stalled or unknown, 5 timed out.
    #[command(
        after_help = "Examples:\n  wheelhouse dispatch backend 'Fix the login' --wait\n  git diff | wheelhouse dispatch reviewer -\n  wheelhouse dispatch backend --template tester --var task='Try the login'"
    )]
    Dispatch {
        #[arg(value_name = "AGENT")]
        agent: String,
        #[command(flatten)]
        sending: Sending,
        #[command(flatten)]
        format: Format,
    },
    /// Send a prompt to all running agents, or to some
    #[command(
        after_help = "Examples:\n  wheelhouse broadcast 'Commit your work'\n  wheelhouse broadcast 'Commit your work' --to backend,docs"
    )]
    Broadcast {
        #[command(flatten)]
        sending: Sending,
        /// Only to these agents
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
    /// Wait for a state of an agent or a task, or for the outcome of a prompt
    ///
    /// Exit codes: 0 reached, 3 cannot be reached any more, 5 timed out; for a prompt those
    /// of `dispatch`.
    #[command(
        after_help = "Examples:\n  wheelhouse wait --agent backend --for idle,done\n  wheelhouse wait --task t1 --for done --timeout 600"
    )]
    Wait {
        #[arg(long, value_name = "NAME", group = "what")]
        agent: Option<String>,
        #[arg(long, value_name = "ID", group = "what")]
        task: Option<String>,
        #[arg(long, group = "what")]
        receipt: Option<ReceiptId>,
        /// One state or several [default for an agent: any in which it does not work;
        /// for a task: done]
        #[arg(long = "for", value_name = "STATE", value_delimiter = ',')]
        states: Vec<String>,
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
        #[command(flatten)]
        format: Format,
    },
    /// Add tasks, follow them, retry or cancel them
    #[command(subcommand)]
    Task(TaskVerb),
    /// List what needs you, most urgent first
    Attention {
        /// Mark all items as read
        #[arg(long)]
        read: bool,
        /// Remove an item from the list
        #[arg(long, value_name = "ITEM")]
        resolve: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Read the contracts (interfaces) that agents have published
    #[command(subcommand)]
    Contract(ContractVerb),
    /// Show who you are to the hub, and what you may do
    Whoami {
        #[command(flatten)]
        format: Format,
    },
    /// Print the text that teaches an agent to use wheelhouse
    Skill {
        /// The role [default: the role of the agent that runs this, else worker]
        #[arg(long, value_enum)]
        role: Option<RoleName>,
        #[command(flatten)]
        format: Format,
    },
    /// Serve tools for agents as an MCP server on standard input and output
    ///
    /// Inside an agent it serves that agent, with the permissions of its role; elsewhere it
    /// serves you.
    Mcp,
    /// Print what happened, oldest first
    #[command(
        after_help = "Examples:\n  wheelhouse events --since 10m\n  wheelhouse events --task t1\n  wheelhouse events --follow --json"
    )]
    Events(EventsArgs),
    /// List past runs, or report on one
    #[command(
        after_help = "Examples:\n  wheelhouse history\n  wheelhouse history s1\n  wheelhouse history s1 --format html > run.html"
    )]
    History(HistoryArgs),
    /// Search all panes, their history, and the recordings of earlier runs
    ///
    /// Prints AGENT:LINE: TEXT for panes and AGENT:TIME: TEXT for recordings.
    #[command(after_help = "Examples:\n  wheelhouse search 'error|panic'")]
    Search(SearchArgs),
    /// Replay a run: agents, tasks and screens at any moment
    Replay(ReplayArgs),
    /// List, start, stop, read and control agents
    #[command(subcommand)]
    Agent(AgentVerb),
    /// Check the machine, the project and the hub, and say how to fix what is wrong
    Doctor {
        #[command(flatten)]
        format: Format,
    },
    /// Write, check, show and trust settings
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Run the scripted agent of demos and tests; without a script it answers prompts with
    /// a short job
    Sim {
        /// The script
        script: Option<PathBuf>,
    },
    /// Test and show the rules that read a CLI's screen
    #[command(subcommand)]
    Rules(RulesVerb),
    /// Report on a task; for agents, which have a token in their environment
    ///
    /// Exit codes: 0 accepted, 3 refused or sent back; the answer says why.
    #[command(subcommand)]
    Report(ReportVerb),
    /// List, show and render prompt templates
    #[command(subcommand)]
    Template(TemplateVerb),
    /// Run a playbook: start its agents and carry out its tasks
    ///
    /// Exit codes with --headless: 0 done, 10 partly done, 11 failed, 12 needs a person, 2
    /// wrong arguments or playbook.
    #[command(
        after_help = "Examples:\n  wheelhouse run feature-build --var feature='Sign in with a passkey'\n  wheelhouse run ./mine.toml --dry-run\n  wheelhouse run --resume r1 --headless"
    )]
    Run(Box<RunArgs>),
    /// Check and list remote runners (ssh, containers, Kubernetes), push and fetch commits
    #[command(subcommand)]
    Runner(RunnerVerb),
    /// Take, release and list locks
    #[command(subcommand)]
    Lock(LockVerb),
    /// List, compare, merge, rescue and remove workspaces
    #[command(subcommand)]
    Workspace(WorkspaceVerb),
    /// List all your running hubs and their agents
    All {
        #[command(flatten)]
        format: Format,
    },
    /// Print the JSON schema of the hub's API
    #[command(subcommand)]
    Api(ApiVerb),
    /// Print the completion script for a shell
    Completions { shell: Shell },
    /// Print the manual page, or write one per command
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

    #[test]
    fn every_command_is_listed_by_subject() {
        let listed: Vec<&str> = GROUPS.split(|c: char| c.is_whitespace() || c == ',').collect();
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let missing: Vec<&str> =
            shown.map(clap::Command::get_name).filter(|name| !listed.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
