//! Finds agents that would change the same files at the same time.

use super::graph::Graph;
use super::place::Findings;
use super::shape::{Playbook, Task};
use crate::model::overlap;

pub(super) fn check(playbook: &Playbook, graph: &Graph, findings: &mut Findings) {
    for (at, task) in playbook.tasks.iter().enumerate() {
        within_agent(playbook, task, findings);
        let together = |other: &usize| !graph.are_ordered(at, *other);
        for other in (0..at).filter(together).map(|other| &playbook.tasks[other]) {
            let is_locked = task.locks.iter().any(|lock| other.locks.contains(lock));
            let sole = playbook.sole(task).map(|agent| &agent.name);
            let is_same = sole.is_some() && sole == playbook.sole(other).map(|agent| &agent.name);
            if !is_locked && !is_same {
                apart(playbook, task, other, findings);
            }
        }
    }
}

/// Notes paths that two tasks which may run at once both change.
fn apart(playbook: &Playbook, task: &Task, other: &Task, findings: &mut Findings) {
    let theirs = paths(playbook, other);
    for (at, mine) in paths(playbook, task).iter().enumerate() {
        let Some(shared) = theirs.iter().find(|theirs| overlap(mine, theirs)) else { continue };
        let (id, other) = (&task.id, &other.id);
        let message =
            format!("`{other}` and `{id}` may run at once, and both own `{mine}` (`{shared}`)");
        let hint = format!("Put them in order with `needs = [\"{other}\"]`, or split the paths");
        let place = task.place.clone();
        let place = if task.owns.is_empty() { place } else { place.key("owns").index(at) };
        return findings.say(place, message, &hint);
    }
}

/// Notes paths of a task that its agent does not own.
fn within_agent(playbook: &Playbook, task: &Task, findings: &mut Findings) {
    let Some(agent) = playbook.sole(task).filter(|agent| !agent.owns.is_empty()) else { return };
    for (at, path) in task.owns.iter().enumerate() {
        if !agent.owns.iter().any(|owned| overlap(owned, path)) {
            let message = format!("`{path}` does not lie in what `{}` owns", agent.name);
            let hint = format!("It owns {}", agent.owns.join(", "));
            findings.say(task.place.clone().key("owns").index(at), message, &hint);
        }
    }
}

/// Returns what the task changes: its own paths, else those of its agent.
pub(super) fn paths<'p>(playbook: &'p Playbook, task: &'p Task) -> &'p [String] {
    match playbook.sole(task) {
        Some(agent) if task.owns.is_empty() => &agent.owns,
        Some(_) | None => &task.owns,
    }
}
