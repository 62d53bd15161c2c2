//! What a request names, and what no agent may say in one.

use super::declare::Names;
use super::{Request, TaskRequest};
use crate::model::{Gate, Named, ReceiptId, TaskId, TaskSpec, lies_inside};

pub(super) fn agents(agents: &impl Names<String>) -> Vec<Named> {
    agents.names().into_iter().map(Named::Agent).collect()
}

/// Returns whom a prompt is for: without a name, everyone.
pub(super) fn audience(names: &[String]) -> Vec<Named> {
    if names.is_empty() { vec![Named::Everyone] } else { agents(&names.to_vec()) }
}

pub(super) fn tasks(tasks: &impl Names<String>) -> Vec<Named> {
    tasks.names().into_iter().map(Named::Task).collect()
}

pub(super) fn offers(tasks: &impl Names<String>) -> Vec<Named> {
    tasks.names().into_iter().map(Named::Offer).collect()
}

pub(super) fn receipts(receipts: &impl Names<ReceiptId>) -> Vec<Named> {
    receipts.names().into_iter().map(Named::Receipt).collect()
}

pub(super) fn needs(needs: &impl Names<String>) -> Vec<Named> {
    needs.names().into_iter().map(Named::Need).collect()
}

pub(super) fn runs(runs: &impl Names<String>) -> Vec<Named> {
    runs.names().into_iter().map(Named::Run).collect()
}

pub(super) fn specs(specs: &[TaskSpec]) -> Vec<Named> {
    specs.iter().flat_map(named).collect()
}

impl Request {
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
