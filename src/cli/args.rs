//! What can be typed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::task::TaskVerb;
use crate::model::ReceiptId;

/// Runs a team of coding agents side by side, each in its own terminal.
///
/// Agents keep running when this program, its hub or your terminal goes away. Without a command it
/// opens the dashboard of this project.
#[derive(Debug, Parser)]
#[command(name = "wheelhouse", version, max_term_width = 100)]
pub(super) struct Arguments {
    /// The project's directory [default: the nearest one above with a wheelhouse.toml or a .git]
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) project: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
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
    #[command(subcommand)]
    Report(ReportVerb),
    /// List, show and fill in prompt templates
    #[command(subcommand)]
    Template(TemplateVerb),
    /// Check a playbook and show what a run of it would be: order, agents, gates, every prompt
    ///
    /// Nothing is started. What is wrong with the playbook is told with its line.
    Run {
        /// A file, with a `/` in its name or `.toml` at its end, or one of: feature-build,
        /// research-deep-dive, product-launch, content-sprint, bug-triage-swarm, competitive-analysis
        playbook: String,
        /// Only show the plan, which is what this version can do
        #[arg(long, required = true)]
        dry_run: bool,
        #[command(flatten)]
        vars: Vars,
        /// Put scripted agents in the place of all, and show what they would play
        #[arg(long, value_name = "CLI", value_enum)]
        with: Option<StandIn>,
        #[command(flatten)]
        format: Format,
    },
    /// Print a completion script for a shell
    Completions { shell: Shell },
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

#[derive(Debug, Subcommand)]
pub(super) enum AgentVerb {
    /// List the agents
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Add an agent to the team that runs, and start it
    ///
    /// `wheelhouse agent add tests --cli claude`, or any command after `--`:
    /// `wheelhouse agent add logs -- tail -f server.log`
    Add(NewAgentArguments),
    /// Start agents that do not run
    Start {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Stop agents, and every process that they started
    Stop {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Stop agents and start them anew
    Restart {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Let each take its last conversation up again
        #[arg(long)]
        resume: bool,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Start agents with the conversation that each had last; those that run are restarted
    Resume {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        grace: Grace,
        #[command(flatten)]
        format: Format,
    },
    /// Take agents that no longer run off the list
    Remove {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Print what an agent's terminal shows, as plain text
    Read {
        name: String,
        /// Only the last lines
        #[arg(long, value_name = "N")]
        lines: Option<usize>,
        /// Also what has scrolled away
        #[arg(long)]
        scrollback: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Press keys in an agent's terminal: `enter`, `esc`, `ctrl-c`, `up`, `f1`, `shift-enter`, `x`
    ///
    /// Text goes in with `--text`, in its place among the keys:
    /// `wheelhouse agent keys backend --text 'ls' enter`
    Keys {
        name: String,
        /// Names of keys, and `--text STRING`
        #[arg(
            required = true,
            value_name = "KEY",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        keys: Vec<String>,
    },
    /// Answer the dialog in an agent's pane; without a choice, show it
    Answer {
        name: String,
        #[command(flatten)]
        choosing: Choosing,
        #[command(flatten)]
        format: Format,
    },
    /// End what an agent is doing, the way its cli wants it
    Interrupt {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Say why an agent is shown in its state: which rule, which line, what the other sources say
    Explain {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Hand out the last minutes of an agent's terminal as a recording, with secrets blanked out
    ///
    /// Goes to standard output if that is no terminal, else to a file that is named.
    Record {
        name: String,
        #[command(flatten)]
        recording: Recording,
    },
    /// List an agent's processes, with what they use
    Tree {
        name: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Args)]
pub(super) struct NewAgentArguments {
    /// What to call it: a lower-case letter, then up to 31 of a-z, 0-9, _ and -
    pub(super) name: String,
    /// What it runs, and by whose rules its screen is read [with a command: shell]
    #[arg(long, required_unless_present = "command")]
    pub(super) cli: Option<String>,
    #[arg(long, default_value = "worker", value_parser = ["worker", "lead", "orchestrator", "verifier"])]
    pub(super) role: String,
    /// The team that it joins [default: the one that runs]
    #[arg(long)]
    pub(super) team: Option<String>,
    /// Where it runs [default: the project's directory]
    #[arg(long, value_name = "DIR")]
    pub(super) cwd: Option<PathBuf>,
    /// Set a variable for it; kept in the hub's memory alone, never on disk
    #[arg(long = "env", value_name = "KEY=VALUE")]
    pub(super) variables: Vec<String>,
    #[command(flatten)]
    pub(super) format: Format,
    /// Run this instead of the cli's own command
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(super) enum ConfigVerb {
    /// Write a wheelhouse.toml to start from
    Init,
    /// Say whether the settings are right, and where they are not
    Check {
        #[command(flatten)]
        format: Format,
    },
    /// Show the settings in force, and where each comes from
    Show {
        #[command(flatten)]
        format: Format,
    },
    /// Let the running hub take over the settings as they are now (it notices edits by itself, on Linux)
    Reload {
        #[command(flatten)]
        format: Format,
    },
    /// Let the project's wheelhouse.toml, as it is now, run commands
    Trust {
        /// Do not ask
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum RulesVerb {
    /// Run the rules over a recording, and print what they find in the recording's time
    Test {
        /// A recording in the format asciicast v2
        #[arg(value_name = "FILE.cast")]
        file: PathBuf,
        /// Whose rules
        #[arg(long, value_name = "CLI")]
        agent: String,
        /// Leave the terminal's title and the program's own status aside
        #[arg(long)]
        screen_only: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show the rules in the order in which they are tried
    Show {
        cli: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum ReportVerb {
    /// The work is finished and checked
    Done {
        /// What was accomplished
        text: String,
        /// What shows it: counts, paths, commits, commands and their results
        #[arg(long, value_name = "TEXT")]
        evidence: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// It cannot go on
    Blocked {
        /// Exactly what is needed
        text: String,
        #[command(flatten)]
        format: Format,
    },
    /// It failed for good
    Error {
        /// What failed, what was tried, a suggested fix
        text: String,
        #[command(flatten)]
        format: Format,
    },
    /// A step is completed
    Progress {
        /// Which of how many: `3/7`
        step: String,
        /// What was just completed
        text: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// A build passed or failed
    Build {
        outcome: Outcome,
        /// The error in a few words
        text: Option<String>,
        #[command(flatten)]
        format: Format,
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
        format: Format,
    },
    /// An interface that others will build on; its lines come from standard input
    Contract {
        title: String,
        /// Its lines, if not on standard input
        #[arg(long, value_name = "TEXT")]
        body: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// A file that this task hands on
    Artifact {
        path: String,
        kind: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum TemplateVerb {
    /// List the templates: the built-in ones, yours, and those of a project that you trust
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Show a template: its purpose, its variables, its text
    Show {
        name: String,
        #[command(flatten)]
        format: Format,
    },
    /// Print the prompt that a template makes
    Render {
        name: String,
        #[command(flatten)]
        vars: Vars,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Outcome {
    Pass,
    Fail,
}

#[derive(Debug, Args)]
pub(super) struct Sending {
    /// The prompt; `-`, or nothing: standard input
    #[arg(value_name = "PROMPT")]
    pub(super) prompt: Option<String>,
    /// Send what this template says instead
    #[arg(long, value_name = "NAME", conflicts_with = "prompt")]
    pub(super) template: Option<String>,
    #[command(flatten)]
    pub(super) vars: Vars,
    /// Return when it is known what became of it
    #[arg(long)]
    pub(super) wait: bool,
    /// With --wait: return after this long at the latest
    #[arg(long, value_name = "SECONDS", requires = "wait")]
    pub(super) timeout: Option<u64>,
    /// A repeated call with the same key sends nothing more
    #[arg(long, value_name = "KEY")]
    pub(super) idempotency_key: Option<String>,
    /// Type it even where no rule says that the agent waits for a prompt
    #[arg(long)]
    pub(super) anyway: bool,
}

#[derive(Debug, Args)]
pub(super) struct Choosing {
    /// One of its options, counted from one
    #[arg(long, value_name = "N", group = "choice")]
    pub(super) option: Option<usize>,
    /// Yes, where it lists no options
    #[arg(long, group = "choice")]
    pub(super) approve: bool,
    /// No, where it lists no options
    #[arg(long, group = "choice")]
    pub(super) deny: bool,
    /// Only if it is still this dialog [default: the one in sight now]
    #[arg(long, value_name = "ID")]
    pub(super) dialog: Option<String>,
}

/// Who takes the place of a playbook's agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum StandIn {
    /// The scripted agent
    Sim,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Vars {
    /// What fills a variable; may be given several times
    #[arg(long = "var", id = "var", value_name = "NAME=VALUE", value_parser = name_and_value)]
    vars: Vec<(String, String)>,
}

impl Vars {
    /// Returns the values by name; the last one of a name holds.
    pub(super) fn by_name(self) -> BTreeMap<String, String> {
        self.vars.into_iter().collect()
    }
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write a name, `=` and a value, such as `--var task='Fix the login'`".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Format {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Recording {
    /// How much of its end, such as `90s`, `5m`, `1h`
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    pub(super) last: Duration,
    /// Where to write it; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Grace {
    /// How long an agent may take to end before it is killed
    #[arg(long, value_name = "SECONDS")]
    pub(super) grace: Option<u32>,
}

impl Grace {
    pub(super) fn milliseconds(self) -> Option<u64> {
        self.grace.map(|seconds| u64::from(seconds) * 1000)
    }
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
