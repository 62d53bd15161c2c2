//! What someone asks for, and what comes of it.

use serde::{Deserialize, Serialize};

use super::{
    AgentName, AgentState, AttentionId, Condition, DIRECTORY_MISSING, Launch, Letter, Lock,
    LockCommand, Manner, Member, Merge, NeedId, PlayId, PlayOrder, ProcessInfo, Receipt, ReceiptId,
    SpawnTerms, Task, TaskId, TaskSpec, TaskState, WorkspaceCommand, WorkspaceState,
};

/// Something that a person, a script or an agent asks of the hub.
#[derive(Clone, Debug)]
pub enum Command {
    /// Starts those of the agents that do not run yet.
    Start {
        members: Vec<(Member, Launch)>,
    },
    /// Starts an agent for another, on the terms of their team; without terms it is refused.
    Spawn {
        by: AgentName,
        terms: Option<SpawnTerms>,
        member: Box<(Member, Launch)>,
    },
    /// Stops agents and everything that they started.
    Stop {
        agents: Vec<AgentName>,
        grace_ms: u64,
    },
    /// Stops agents that run, then starts all of them anew.
    Restart {
        members: Vec<(Member, Launch)>,
        grace_ms: u64,
    },
    /// Takes agents that no longer run off the record, and, if they are to be abandoned, those that
    /// nobody can reach.
    Forget {
        agents: Vec<AgentName>,
        abandon: bool,
    },
    /// Stops every agent, then ends the hub.
    Down {
        force: bool,
        grace_ms: u64,
    },
    /// Hands prompts over, each at the next safe moment.
    Dispatch {
        letters: Vec<Letter>,
        /// A repetition of the same call sends nothing more.
        idempotency_key: Option<String>,
        manner: Manner,
    },
    /// Takes back a prompt that has not been typed yet.
    Withdraw {
        receipt: ReceiptId,
    },
    /// Is answered when this has come to be.
    Wait {
        condition: Condition,
    },
    /// About tasks, and what comes of them.
    Task(TaskCommand),
    /// About runs of playbooks.
    Play(PlayCommand),
    Lock(LockCommand),
    Workspace(WorkspaceCommand),
}

/// Something that is asked about a run of a playbook.
#[derive(Clone, Debug)]
pub enum PlayCommand {
    /// Starts its agents and adds its tasks.
    Begin { order: Box<PlayOrder>, members: Vec<(Member, Launch)> },
    /// Starts those of its agents anew that are gone or that nothing reaches any more, so that it
    /// goes on where it was.
    Resume { play: PlayId, members: Vec<(Member, Launch)>, grace_ms: u64 },
    /// Ends it: what is not done stays undone.
    Cancel { play: PlayId },
}

/// Something that is asked about tasks, or about what waits for a person.
#[derive(Clone, Debug)]
pub enum TaskCommand {
    /// Adds tasks; all of them, or none.
    Add {
        specs: Vec<TaskSpec>,
    },
    /// Has a task tried once more, whatever was tried before.
    Retry {
        task: TaskId,
        advice: Option<String>,
        agent: Option<AgentName>,
    },
    Cancel {
        task: TaskId,
    },
    /// Gives a task that is ready to this agent.
    Claim {
        task: TaskId,
        agent: AgentName,
    },
    /// Marks what waits for a person as read; without ids, all of it.
    MarkRead {
        items: Vec<AttentionId>,
    },
    /// Takes things off the list that a person has dealt with.
    Resolve {
        items: Vec<AttentionId>,
    },
    /// Lets one agent's words reach another from now on.
    Consent {
        from: AgentName,
        to: AgentName,
    },
    /// Lets files stay as an agent made them, though another owns them.
    Allow {
        agent: AgentName,
    },
    /// Says that an agent has got what it needed.
    Meet {
        need: NeedId,
    },
}

/// What a command achieved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Done {
    pub started: Vec<AgentName>,
    pub stopped: Vec<AgentName>,
    /// What was asked for already held for these.
    pub unchanged: Vec<AgentName>,
    /// What became of the prompts, as far as it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<Receipt>,
    /// What the agent that was waited for does now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<AgentState>,
    /// The tasks that it was about, as they are now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// The lock that it was about, if someone holds it now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locks: Vec<Lock>,
    /// The run that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play: Option<PlayId>,
    /// Whose work was put into which reference or directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rescues: Vec<(AgentName, String)>,
    /// The attempt to bring work back that it was about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<Merge>,
}

/// Why a command was not carried out, or not in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Refusal {
    #[error("There is no agent `{agent}`")]
    UnknownAgent { agent: String, known: Vec<AgentName> },
    #[error("Agent `{agent}` of team `{team}` already runs")]
    NameInUse { agent: AgentName, team: String },
    #[error("Agent `{agent}` runs")]
    StillRuns { agent: AgentName },
    #[error("{} may still be working: {}", count(agents), list(agents))]
    StillWorking { agents: Vec<AgentName> },
    #[error("The hub is stopping")]
    GoingDown,
    #[error("There is no prompt `{receipt}`")]
    UnknownReceipt { receipt: ReceiptId },
    #[error("Prompt `{receipt}` is already {state}")]
    AlreadyTyped { receipt: ReceiptId, state: super::Stage },
    #[error("The prompt is empty")]
    EmptyPrompt,
    #[error("{waiting} prompts are already queued for agent `{agent}`")]
    QueueFull { agent: AgentName, waiting: usize },
    #[error("Agent `{agent}` has ended")]
    HasEnded { agent: AgentName },
    #[error("There is no task `{task}`")]
    UnknownTask { task: String },
    #[error("Task `{task}` is {state}")]
    TaskIs { task: TaskId, state: TaskState },
    #[error("These tasks need each other: {}", path.join(" → "))]
    TaskCycle { path: Vec<String> },
    #[error("{reason}")]
    BadTask { reason: String },
    #[error("There are already {count} open tasks, which is the limit")]
    TooManyTasks { count: usize },
    #[error("Agent `{agent}` cannot take task `{task}` now")]
    NotFree { agent: AgentName, task: TaskId },
    #[error("Task `{task}` needs a new conversation, and agent `{agent}` has one open")]
    NotFresh { agent: AgentName, task: TaskId },
    #[error("{paths} match the same files")]
    SharedPaths { paths: String },
    #[error("Agent `{agent}` has changed no files that others own")]
    NoTrespass { agent: AgentName },
    #[error("`{name}` is not a valid name for a lock")]
    BadLock { name: String },
    #[error("The lock `{name}` is not yours")]
    NotHeld { name: String },
    #[error("There are already {count} locks or agents queued for one, which is the limit")]
    TooManyLocks { count: usize },
    #[error("There is no run `{run}`")]
    UnknownPlay { run: String },
    #[error("Run `{run}` is {state}")]
    PlayIs { run: PlayId, state: super::PlayState },
    #[error("Run `{run}` of `{playbook}` has not ended")]
    PlayStands { run: PlayId, playbook: String },
    #[error("Agent `{agent}` has no workspace of its own")]
    NoWorkspace { agent: AgentName, known: Vec<AgentName> },
    #[error("The workspace of agent `{agent}` is {state}")]
    WorkspaceIs { agent: AgentName, state: WorkspaceState },
    #[error("Agent `{agent}` already has a workspace")]
    HasWorkspace { agent: AgentName },
    #[error("Agent `{agent}` works in a copy without git")]
    NotOfGit { agent: AgentName },
    #[error("Agent `{agent}` is working: its files may be half written")]
    AtWork { agent: AgentName },
    #[error("{}", failures.iter().map(|one| format!("The workspace of `{}` is kept: {}", one.agent, one.reason)).collect::<Vec<_>>().join("\n"))]
    Kept { failures: Vec<Failure>, removed: Vec<AgentName> },
    #[error("{reason}")]
    NotSpawned { reason: String },
    #[error("The attempt `{tag}` has ended: the report is ignored")]
    StaleAttempt { tag: String },
    #[error("The key `{key}` was used for another request")]
    KeyInUse { key: String },
    #[error("There is no attention item `{item}`")]
    UnknownItem { item: String },
    #[error("{}", failures.iter().map(Failure::to_string).collect::<Vec<_>>().join("\n"))]
    Failed { failures: Vec<Failure> },
}

/// What went wrong with one agent of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[error("Agent `{agent}`: {reason}")]
pub struct Failure {
    pub agent: AgentName,
    pub reason: String,
    /// Where it was to run, if not on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// What could not be killed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<ProcessInfo>,
}

impl Failure {
    pub fn new(agent: AgentName, reason: String) -> Self {
        Self { agent, reason, runner: None, survivors: Vec::new() }
    }
}

impl Refusal {
    /// Returns what to type next about a workspace.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are about something else")]
    fn workspace_hint(&self) -> Option<String> {
        match self {
            Self::NoWorkspace { known, .. } if known.is_empty() => {
                Some("Give agents one with `workspace = \"worktree\"`".to_owned())
            }
            Self::NoWorkspace { known, .. } => Some(format!("Agents with one: {}", list(known))),
            Self::WorkspaceIs { .. } => Some("Try again in a moment".to_owned()),
            Self::HasWorkspace { agent } => Some(format!(
                "Rescue what is in it, too: `wheelhouse workspace clean {agent} --rescue`"
            )),
            Self::NotOfGit { .. } => {
                Some("See what it changed with `wheelhouse workspace diff`".to_owned())
            }
            Self::AtWork { agent } => Some(format!(
                "Wait with `wheelhouse wait --agent {agent} --for idle`, or merge only what is committed with `--committed`"
            )),
            Self::Kept { failures, .. } => {
                let runs = failures.iter().find(|one| one.reason == "its agent runs");
                let is_missing = |one: &&Failure| one.reason.starts_with(DIRECTORY_MISSING);
                Some(match (runs, failures.first()) {
                    (None, Some(one)) if is_missing(&one) => format!(
                        "Mount its disk or move it back; if it is gone for good, type `wheelhouse workspace clean {} --gone`, which saves its commits to a rescue ref",
                        one.agent
                    ),
                    (Some(one), _) => {
                        format!("Stop it first with `wheelhouse agent stop {}`", one.agent)
                    }
                    (None, Some(one)) => format!(
                        "Merge its work with `wheelhouse workspace merge {agent}`, or save it to a rescue ref and remove it with `wheelhouse workspace clean {agent} --rescue`",
                        agent = one.agent
                    ),
                    (None, None) => "See `wheelhouse workspace list`".to_owned(),
                })
            }
            _ => None,
        }
    }

    /// Returns how to ask again.
    fn retry_hint(&self) -> &'static str {
        if *self == Self::GoingDown {
            return "Wait for it to end, then try again";
        }
        "Use a new key; a key belongs to one request"
    }

    /// Returns what to type next, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownAgent { known, .. } if known.is_empty() => {
                Some("Start a team with `wheelhouse up TEAM`".to_owned())
            }
            Self::UnknownAgent { known, .. } => Some(format!("Known agents: {}", list(known))),
            Self::NameInUse { agent, .. } | Self::StillRuns { agent } => {
                Some(format!("Stop it first with `wheelhouse agent stop {agent}`"))
            }
            Self::StillWorking { .. } => {
                Some("Stop them all with `wheelhouse down --force`".to_owned())
            }
            Self::UnknownReceipt { .. } | Self::AlreadyTyped { .. } => {
                Some("See the prompts with `wheelhouse status`".to_owned())
            }
            Self::EmptyPrompt => Some(
                "Give the prompt as an argument, or `-` to read it from standard input".to_owned(),
            ),
            Self::QueueFull { .. } => {
                Some("Wait until the agent has taken some of them".to_owned())
            }
            Self::HasEnded { agent } => {
                Some(format!("Start it again with `wheelhouse agent restart {agent}`"))
            }
            Self::UnknownTask { .. } => {
                Some("List the tasks with `wheelhouse task list`".to_owned())
            }
            Self::TaskIs { task, state } => Some(way_on(*task, *state)),
            Self::TaskCycle { .. } => Some("Remove one of these needs".to_owned()),
            Self::BadTask { .. } => Some("See `wheelhouse task add --help`".to_owned()),
            Self::TooManyTasks { .. } => {
                Some("Cancel what is not needed with `wheelhouse task cancel ID`".to_owned())
            }
            Self::NotFresh { agent, .. } => Some(format!(
                "Restart it with `wheelhouse agent restart {agent}`, or leave the task to a free agent"
            )),
            Self::NotFree { agent, .. } => {
                Some(format!("See what it does with `wheelhouse agent explain {agent}`"))
            }
            Self::SharedPaths { .. } => Some(
                "Give each agent paths of its own in `owns`; `wheelhouse config show` lists them"
                    .to_owned(),
            ),
            Self::NoWorkspace { .. }
            | Self::WorkspaceIs { .. }
            | Self::HasWorkspace { .. }
            | Self::NotOfGit { .. }
            | Self::AtWork { .. }
            | Self::Kept { .. } => self.workspace_hint(),
            Self::UnknownItem { .. } | Self::NoTrespass { .. } => {
                Some("See what waits with `wheelhouse attention`".to_owned())
            }
            Self::BadLock { .. } => Some("Use up to 64 letters, digits and `-_./`".to_owned()),
            Self::NotHeld { .. } | Self::TooManyLocks { .. } => {
                Some("See who holds what with `wheelhouse lock list`".to_owned())
            }
            Self::UnknownPlay { .. } | Self::PlayIs { .. } => {
                Some("See the runs with `wheelhouse run --list`".to_owned())
            }
            Self::PlayStands { run, .. } => Some(format!(
                "Resume it with `wheelhouse run --resume {run}`, or cancel it with `wheelhouse run --cancel {run}`"
            )),
            Self::NotSpawned { .. } => {
                Some("Set what agents may start in `[team.NAME.spawn]`".to_owned())
            }
            Self::StaleAttempt { .. } => {
                Some("`wheelhouse whoami` shows the current task and its tag".to_owned())
            }
            Self::GoingDown | Self::KeyInUse { .. } => Some(self.retry_hint().to_owned()),
            Self::Failed { failures } => Some(failures_hint(failures)),
        }
    }
}

/// Returns where to look: the first place elsewhere that something failed in, or else here.
fn failures_hint(failures: &[Failure]) -> String {
    let runner = failures.iter().find_map(|failure| failure.runner.as_ref());
    let verb = runner.map_or("doctor".to_owned(), |runner| format!("runner check {runner}"));
    format!("Look closer with `wheelhouse {verb}`")
}

fn count(agents: &[AgentName]) -> String {
    if agents.len() == 1 { "One agent".to_owned() } else { format!("{} agents", agents.len()) }
}

/// Returns what can be done about a task in a state in which something else was asked for.
fn way_on(task: TaskId, state: TaskState) -> String {
    match state {
        TaskState::Pending => format!("See what it waits for with `wheelhouse task show {task}`"),
        TaskState::Running | TaskState::Blocked => {
            format!("Give it to another agent with `wheelhouse task retry {task} --agent NAME`")
        }
        TaskState::Claimed | TaskState::Interrupted => {
            format!("Wait for it with `wheelhouse wait --task {task} --for done`")
        }
        TaskState::Failed | TaskState::Cancelled => {
            format!("Retry it with `wheelhouse task retry {task}`")
        }
        TaskState::Ready | TaskState::Done => {
            format!("See the result with `wheelhouse task show {task}`")
        }
    }
}

fn list(agents: &[AgentName]) -> String {
    agents.iter().map(AgentName::as_str).collect::<Vec<_>>().join(", ")
}
