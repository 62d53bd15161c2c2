//! What the hub answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{
    AttentionStatus, ContractStatus, DiffStatus, EventStatus, HunkStatus, Identity, Interrupted,
    LockStatus, Notice, RescueStatus, RunStatus, TaskStatus, WorkspaceStatus,
};
use crate::model::{
    AgentState, DialogKind, Done, ProcessInfo, Receipt, Refusal, Role, Row, RulesFit, Source,
    Stage, Task, WorkspaceKind, plain,
};

/// More is not read by anybody.
const MESSAGE_BYTES_MAX: usize = 6 * 1024;

/// A frame from the hub: the answer to a request, or a notice that nobody asked for by number.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FromHub {
    Answer { id: u64, outcome: Result<Response, Fault> },
    Notice(Notice),
}

/// The answer to one request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Response {
    Welcome {
        protocol: u32,
        version: String,
        session: String,
        pid: u32,
    },
    Status(Status),
    Done(Done),
    Text {
        lines: Vec<String>,
    },
    Tree {
        processes: Vec<ProcessInfo>,
    },
    Diff(Box<DiffStatus>),
    Hunks(Box<HunkStatus>),
    /// Rows of a pane's history, oldest first; `first` is the number of the first of them.
    History {
        first: u64,
        kept_from: u64,
        committed: u64,
        rows: Vec<Row>,
    },
    Teams {
        teams: Vec<TeamOffer>,
    },
    Clis {
        clis: Vec<CliOffer>,
        /// The runners of the settings, by name.
        #[serde(default)]
        runners: Vec<String>,
    },
    Explanation(Explanation),
    /// What became of an answer or an interrupt.
    Deed {
        state: Stage,
        reason: Option<String>,
    },
    Report(Reception),
    /// Who speaks.
    Me(Box<Identity>),
    Contracts {
        contracts: Vec<ContractStatus>,
    },
    /// What happened, oldest first. The next look begins after `last`.
    Events {
        events: Vec<EventStatus>,
        last: u64,
        is_more: bool,
    },
    Tasks {
        tasks: Vec<TaskStatus>,
    },
    /// Tasks that have ended and left memory, newest first.
    EndedTasks {
        tasks: Vec<TaskStatus>,
        /// Ask for those before this one next; nothing, if these were the last.
        next: Option<String>,
        /// What happened before this moment is no longer on record, in the form of RFC 3339.
        cut_off: Option<String>,
    },
    Task(Box<Task>),
    /// What waits for a person, the most urgent first.
    Attention {
        items: Vec<AttentionStatus>,
    },
    Runs {
        runs: Vec<RunStatus>,
    },
    Locks {
        locks: Vec<LockStatus>,
    },
    Workspaces {
        workspaces: Vec<WorkspaceStatus>,
    },
    Rescues {
        rescues: Vec<RescueStatus>,
    },
    /// The settings hold as they are now; these keys have changed, and these things are worth a look.
    Reloaded {
        changed: Vec<String>,
        warnings: Vec<String>,
    },
    Ok,
}

/// What the hub made of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reception {
    pub agent: String,
    /// The report as a line.
    pub report: String,
    /// It is new; else it had come another way already.
    pub is_new: bool,
    /// How many reports of this run have counted so far.
    pub reports: u64,
    /// It does not count, or was sent back; the note says why.
    #[serde(default)]
    pub is_refused: bool,
    /// What became of it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct Fault {
    pub message: String,
    /// What to type next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The engine's own words, where it was the engine that refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

impl Fault {
    /// Returns a fault that says what went wrong and nothing more.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: told(&message.into()), hint: None, refusal: None }
    }

    /// Adds what to type next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let message = told(&refusal.to_string());
        Self { message, hint: refusal.hint(), refusal: Some(refusal) }
    }
}

/// Returns a message as anyone may read it: it may quote what an agent has written.
fn told(message: &str) -> String {
    let lines: Vec<String> = message.lines().map(plain).collect();
    let mut message = lines.join("\n");
    if message.len() > MESSAGE_BYTES_MAX {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
        message.push('…');
    }
    message
}

/// Everything at a glance.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Status {
    pub hub: HubStatus,
    pub agents: Vec<AgentStatus>,
    pub tasks: Vec<TaskStatus>,
    /// What waits for a person, the most urgent first.
    pub attention: Vec<AttentionStatus>,
    /// What was cut off and waits to be taken up again.
    #[serde(default, skip_serializing_if = "Interrupted::is_empty")]
    pub interrupted: Box<Interrupted>,
    /// The runs of playbooks.
    #[serde(default)]
    pub runs: Vec<RunStatus>,
}

/// The hub itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HubStatus {
    pub pid: u32,
    pub version: String,
    pub session: String,
    pub project: String,
    pub since: String,
    /// Why the settings cannot be used as they are now; what held before still holds.
    #[serde(default)]
    pub settings_fault: Option<String>,
    /// What keeps it from doing its work, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl HubStatus {
    /// Stands where no hub runs.
    pub const NO_PID: u32 = 0;

    pub fn is_running(&self) -> bool {
        self.pid != Self::NO_PID
    }
}

/// One agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentStatus {
    pub name: String,
    pub cli: String,
    pub role: Role,
    pub team: String,
    pub state: AgentState,
    pub source: Source,
    pub stuck: bool,
    /// It has changed, or may have changed, files that another agent owns.
    #[serde(default)]
    pub conflict: bool,
    pub pid: Option<u32>,
    pub keeper_pid: Option<u32>,
    /// In the form of RFC 3339.
    pub since: String,
    pub task: Option<String>,
    pub run: u64,
    pub title: String,
    /// How the last run ended, for an agent that has exited.
    pub ending: Option<String>,
    /// What went wrong or what is wanted, in words.
    pub note: Option<String>,
    /// The agent that started it, and so leads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<String>,
    /// The last step that it reported, such as `3/7`.
    #[serde(default)]
    pub progress: Option<String>,
    /// Which rule gave the state.
    #[serde(default)]
    pub rule: String,
    /// How many reports of this run have counted.
    #[serde(default)]
    pub reports: u64,
    /// The dialog that wants a person.
    #[serde(default)]
    pub dialog: Option<DialogStatus>,
    /// Rules are about to answer its dialog: nobody is wanted yet.
    #[serde(default)]
    pub by_rule: bool,
    /// The latest prompt, unless the agent has taken it.
    #[serde(default)]
    pub receipt: Option<Receipt>,
    /// How many prompts wait for it.
    #[serde(default)]
    pub queued: usize,
    /// Tokens that this run was seen to use, where its cli shows them.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Which files it works on.
    #[serde(default)]
    pub workspace: WorkspaceKind,
    /// The directory that it runs in, where it runs.
    #[serde(default)]
    pub cwd: PathBuf,
    /// The branch of its own workspace.
    #[serde(default)]
    pub branch: Option<String>,
    /// How many files differ there from what it began with.
    #[serde(default)]
    pub changed: Option<usize>,
    /// Where it runs, if that is not this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// Since when nobody reaches the place where it runs, in the form of RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    /// Why the rules by which its screen is read may not fit the version of its cli.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// A dialog in an agent's pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DialogStatus {
    /// Names this very dialog; an answer goes to no other.
    pub id: String,
    pub kind: DialogKind,
    pub text: String,
    pub options: Vec<String>,
    /// Which option is marked, counted from one.
    pub selected: Option<usize>,
}

impl DialogStatus {
    /// Returns what it says, in a line.
    pub fn summary(&self) -> String {
        let lines = self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" · ")
    }
}

/// Why an agent is shown in its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    pub state: AgentState,
    pub source: Source,
    pub rule: String,
    /// The row, title or report that told it.
    pub line: String,
    pub age_ms: u64,
    /// What each source says, most trusted first.
    pub testimonies: Vec<Testimony>,
    pub stuck: Option<String>,
    /// Why the cli was given no hooks, though there are some.
    #[serde(default)]
    pub no_hooks: Option<String>,
    /// Why the rules are not those of the settings as they are now.
    #[serde(default)]
    pub settings_fault: Option<String>,
    /// How often its screen was seen to be misread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<RulesFit>,
    /// Why the rules by which its screen is read may not fit the version of its cli.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// What one source says of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Testimony {
    pub source: Source,
    pub state: AgentState,
    pub rule: String,
    pub line: String,
}

/// A team that could be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TeamOffer {
    pub name: String,
    pub layout: String,
    /// Where the team is defined: `built-in`, or the file.
    pub origin: String,
    pub agents: Vec<AgentOffer>,
    /// Why it cannot be started as it is: not trusted, or a program is missing.
    pub obstacle: Option<String>,
}

/// One agent of a team that could be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentOffer {
    pub name: String,
    pub cli: String,
    pub role: Role,
    pub command: Vec<String>,
}

/// A cli that an agent could be added with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CliOffer {
    pub name: String,
    pub command: Vec<String>,
    /// Why it cannot be started as it is: not trusted, or not installed.
    pub obstacle: Option<String>,
}
