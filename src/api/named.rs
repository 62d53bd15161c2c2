//! What a request names, and what no agent may say in one.

use super::{LockRequest, Request, RunRequest, TaskRequest, WorkspaceRequest};
use crate::model::{Gate, Named, TaskId, TaskSpec, lies_inside};

impl Request {
    /// Returns all that it names, so that each of them can be looked at.
    pub fn named(&self) -> Vec<Named> {
        match self {
            Self::Start { agents, .. }
            | Self::Stop { agents, .. }
            | Self::Restart { agents, .. }
            | Self::Resume { agents, .. }
            | Self::Forget { agents, .. } => agents.iter().cloned().map(Named::Agent).collect(),
            Self::Dispatch { agents, .. } | Self::DispatchTemplate { agents, .. } => {
                let named = agents.iter().cloned().map(Named::Agent);
                if agents.is_empty() { vec![Named::Everyone] } else { named.collect() }
            }
            Self::Read { agent, .. }
            | Self::AwaitAgent { agent, .. }
            | Self::Answer { agent, .. }
            | Self::Interrupt { agent }
            | Self::Keys { agent, .. }
            | Self::Resize { agent, .. }
            | Self::Explain { agent }
            | Self::Diff { agent, .. }
            | Self::FlushCast { agent }
            | Self::Tree { agent }
            | Self::Screen { agent }
            | Self::History { agent, .. } => vec![Named::Agent(agent.clone())],
            Self::Withdraw { receipt } => vec![Named::Receipt(*receipt)],
            Self::AwaitReceipts { receipts } => {
                receipts.iter().copied().map(Named::Receipt).collect()
            }
            Self::Watch { agents, .. } => {
                agents.iter().map(|agent| Named::Agent(agent.to_string())).collect()
            }
            Self::Events { agent, task, .. } => {
                let agent = agent.iter().cloned().map(Named::Agent);
                agent.chain(task.iter().cloned().map(Named::Task)).collect()
            }
            Self::Task { ask } => ask.named(),
            Self::Run { ask } => match ask {
                RunRequest::Resume { run, .. } | RunRequest::Cancel { run } => {
                    vec![Named::Run(run.clone())]
                }
                RunRequest::Begin { .. } | RunRequest::List => Vec::new(),
            },
            Self::Workspace { ask } => match ask {
                WorkspaceRequest::Clean { agents, .. } | WorkspaceRequest::Rescue { agents } => {
                    agents.iter().cloned().map(Named::Agent).collect()
                }
                WorkspaceRequest::Merge { agent, .. } => vec![Named::Agent(agent.clone())],
                WorkspaceRequest::List
                | WorkspaceRequest::Rescues
                | WorkspaceRequest::Restore { .. } => Vec::new(),
            },
            // A lock is taken by name, and by whoever asks for themselves.
            Self::Lock { ask } => match ask {
                LockRequest::Take { .. }
                | LockRequest::Release { .. }
                | LockRequest::Await { .. }
                | LockRequest::List => Vec::new(),
            },
            // The rest names nobody; a new agent's name is nobody's yet, and what is told of
            // contracts is chosen by whom the one who asks reaches.
            Self::Hello { .. }
            | Self::Me
            | Self::Status
            | Self::Report { .. }
            | Self::Hook { .. }
            | Self::Up { .. }
            | Self::Down { .. }
            | Self::Reload
            | Self::Subscribe
            | Self::Teams { .. }
            | Self::Clis { .. }
            | Self::Add { .. }
            | Self::Contracts { .. } => Vec::new(),
        }
    }

    /// Returns what a request asks that no agent may, whatever its role: what would run a command
    /// of its choice, or type where nothing says that someone waits for a prompt.
    pub fn excess(&self) -> Option<&'static str> {
        if let Self::Dispatch { anyway: true, .. } | Self::DispatchTemplate { anyway: true, .. } =
            self
        {
            return Some("type where no rule says that the agent waits for a prompt");
        }
        if let Self::Dispatch { command: true, .. } = self {
            return Some("give commands to the programs of other agents");
        }
        if let Self::Task { ask: TaskRequest::Add { specs } } = self {
            return specs.iter().find_map(excess);
        }
        let Self::Add { agent, .. } = self else { return None };
        let cwd = agent.cwd.as_ref().map(|cwd| cwd.to_string_lossy());
        if !agent.command.is_empty() {
            Some("choose the command of an agent")
        } else if !agent.env.0.is_empty() {
            Some("set variables for an agent")
        } else if cwd.is_some_and(|cwd| cwd != "." && !lies_inside(&cwd)) {
            Some("start an agent outside the project")
        } else {
            None
        }
    }
}

impl TaskRequest {
    fn named(&self) -> Vec<Named> {
        match self {
            Self::Add { specs } => specs.iter().flat_map(named).collect(),
            Self::Show { task } | Self::Cancel { task } | Self::Wait { task, .. } => {
                vec![Named::Task(task.clone())]
            }
            Self::Retry { task, agent, .. } => {
                let agent = agent.iter().cloned().map(Named::Agent);
                [Named::Task(task.clone())].into_iter().chain(agent).collect()
            }
            Self::Claim { task, agent } => {
                vec![Named::Offer(task.clone()), Named::Agent(agent.clone())]
            }
            Self::Consent { from, to } => {
                vec![Named::Agent(from.clone()), Named::Agent(to.clone())]
            }
            Self::Allow { agent } => vec![Named::Agent(agent.clone())],
            Self::Meet { need } => vec![Named::Need(need.clone())],
            Self::List
            | Self::Ended { .. }
            | Self::Attention
            | Self::MarkRead { .. }
            | Self::Resolve { .. } => Vec::new(),
        }
    }
}

/// Returns what a task names: its agent, and the tasks that come first. A need that is no id is the
/// key of a task that is added with it.
fn named(spec: &TaskSpec) -> Vec<Named> {
    let agent = spec.terms.agent.iter().map(|agent| Named::Agent(agent.to_string()));
    let needs = spec.needs.iter().filter(|need| need.parse::<TaskId>().is_ok());
    agent.chain(needs.cloned().map(Named::Task)).collect()
}

fn excess(spec: &TaskSpec) -> Option<&'static str> {
    let runs = |gate: &String| Gate::parse(gate).is_ok_and(|gate| gate.check.runs_command());
    if spec.terms.gates.iter().any(runs) {
        return Some("add gates that run a command");
    }
    let is_outside = spec.terms.owns.iter().any(|path| !lies_inside(path));
    is_outside.then_some("add tasks about files outside the project")
}
