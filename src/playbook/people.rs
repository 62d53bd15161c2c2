//! Who may take a task.

use super::place::Findings;
use super::shape::{Agent, Playbook, Task, Who};
use crate::model::Role;

impl Playbook {
    /// Returns the agents that may take the task, in the order of the file.
    ///
    /// Without a role, a task is for workers: whoever leads or verifies is asked by name or role.
    pub(super) fn candidates(&self, task: &Task) -> Vec<&Agent> {
        let Who { agent, role, requires } = &task.who;
        let fits = |candidate: &&Agent| match agent {
            Some(name) => candidate.name.as_str() == name,
            None => {
                candidate.role == role.unwrap_or_default()
                    && requires.iter().all(|word| candidate.capabilities.contains(word))
            }
        };
        self.agents.iter().filter(fits).collect()
    }

    /// Returns the one agent that the task is for, if there is no other.
    pub(super) fn sole(&self, task: &Task) -> Option<&Agent> {
        match self.candidates(task)[..] {
            [agent] => Some(agent),
            _ => None,
        }
    }
}

pub(super) fn check(playbook: &Playbook, findings: &mut Findings) {
    let names = || playbook.agents.iter().map(|agent| agent.name.as_str());
    for task in &playbook.tasks {
        let place = &task.place;
        let Who { agent, role, requires } = &task.who;
        if let Some(agent) = agent {
            if !names().any(|name| name == agent) {
                let message = format!("No agent is named `{agent}`");
                findings.unknown(place.clone().key("agent"), message, agent, names());
            }
            if role.is_some() || !requires.is_empty() {
                let message = format!("The task `{}` names its agent, and more than that", task.id);
                let hint = "Keep `agent`, or `role` and `requires`";
                findings.say(place.clone().key("agent"), message, hint);
            }
        } else if !capabilities(playbook, task, findings) && playbook.candidates(task).is_empty() {
            let wanted = role.unwrap_or_default();
            let with = if requires.is_empty() {
                String::new()
            } else {
                format!(" that can do all of {}", requires.join(", "))
            };
            let message = format!("Nobody can take `{}`: no {wanted}{with}", task.id);
            let hint = "Add an agent, or ask for another `role` or less in `requires`";
            findings.say(place.clone(), message, hint);
        }
        check_verifiers(playbook, task, findings);
    }
}

/// Notes capabilities that no agent has, and says whether there are any.
fn capabilities(playbook: &Playbook, task: &Task, findings: &mut Findings) -> bool {
    let known = || playbook.agents.iter().flat_map(|agent| &agent.capabilities);
    let mut lacks = false;
    for (at, word) in task.who.requires.iter().enumerate() {
        if !known().any(|capability| capability == word) {
            let place = task.place.clone().key("requires").index(at);
            let message = format!("No agent can do `{word}`");
            findings.unknown(place, message, word, known().map(String::as_str));
            lacks = true;
        }
    }
    lacks
}

/// A verifier is someone who has not done the work.
fn check_verifiers(playbook: &Playbook, task: &Task, findings: &mut Findings) {
    let doer = playbook.sole(task).map(|agent| &agent.name);
    let is_free = |agent: &&Agent| agent.role == Role::Verifier && Some(&agent.name) != doer;
    let free = playbook.agents.iter().filter(is_free).count();
    if (task.verifiers as usize) > free {
        let wanted = task.verifiers;
        let message = format!("`{}` asks for {wanted} verifiers, and there are {free}", task.id);
        let hint = "Add agents with `role = \"verifier\"`, or ask for fewer";
        findings.say(task.place.clone().key("verifiers"), message, hint);
    }
    if task.agree > task.verifiers {
        let message = format!("More must agree than look at `{}`", task.id);
        let hint = format!("Use at most `agree = {}`", task.verifiers);
        findings.say(task.place.clone().key("agree"), message, &hint);
    }
}
