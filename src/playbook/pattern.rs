//! What each pattern asks of a playbook.

use super::graph::Graph;
use super::place::{Findings, Part, Place};
use super::shape::{Playbook, Task};
use crate::model::{Pattern, Role};

pub(super) fn check(playbook: &Playbook, graph: &Graph, findings: &mut Findings) {
    parts(playbook, findings);
    match playbook.pattern {
        Pattern::Hub | Pattern::Mesh | Pattern::Pipeline => {}
        Pattern::Swarm => swarm(playbook, findings),
        Pattern::Chain => chain(playbook, graph, findings),
    }
    for task in &playbook.tasks {
        for (at, lock) in task.locks.iter().enumerate() {
            if !playbook.locks.iter().any(|one| one.name == *lock) {
                let place = task.place.clone().key("locks").index(at);
                let known = playbook.locks.iter().map(|one| one.name.as_str());
                findings.unknown(place, format!("Unknown lock `{lock}`"), lock, known);
            }
        }
    }
}

/// Stages belong to a pipeline, teams to a chain, locks to a mesh, and to no other.
fn parts(playbook: &Playbook, findings: &mut Findings) {
    let pattern = playbook.pattern;
    let parts = [
        ("stages", Pattern::Pipeline, playbook.stages.len()),
        ("teams", Pattern::Chain, playbook.teams.len()),
        ("locks", Pattern::Mesh, playbook.locks.len()),
    ];
    for (key, owner, count) in parts {
        if pattern == owner && count == 0 {
            let message = format!("A {owner} has `{key}`, and this one has none");
            let hint = format!("Add `[[{key}]]`, or use another `pattern`");
            findings.say(Place::default().key("playbook").key("pattern"), message, &hint);
        } else if pattern != owner && count > 0 {
            let message = format!("`{key}` belong to a {owner}, and this is a {pattern}");
            let hint = format!("Take them out, or use `pattern = \"{owner}\"`");
            findings.say(Place::default().key(key), message, &hint);
        }
    }
    let outside = |task: &&Task| task.place.0.first() == Some(&Part::Key("tasks"));
    if let Some(task) = playbook.tasks.iter().find(outside)
        && pattern == Pattern::Pipeline
    {
        let message = format!("The task `{}` is in no stage", task.id);
        findings.say(task.place.clone(), message, "Write it as `[[stages.tasks]]` below its stage");
    }
}

fn swarm(playbook: &Playbook, findings: &mut Findings) {
    for task in playbook.tasks.iter().filter(|task| task.who.agent.is_some()) {
        let message = format!("`{}` names its agent, and whoever is free takes a swarm's", task.id);
        findings.say(task.place.clone().key("agent"), message, "Use `requires` or `role` instead");
    }
}

/// Messages cross from team to team through leads alone.
fn chain(playbook: &Playbook, graph: &Graph, findings: &mut Findings) {
    teams(playbook, findings);
    let team = |task: &Task| {
        let agent = task.who.agent.as_ref()?;
        playbook.teams.iter().find(|team| team.lead == *agent || team.members.contains(agent))
    };
    let leads = |task: &Task| {
        let agent = playbook.sole(task).map(|agent| agent.role);
        matches!(agent, Some(Role::Lead | Role::Orchestrator))
    };
    for (at, task) in playbook.tasks.iter().enumerate() {
        if task.who.agent.is_none() {
            let message = format!("The task `{}` of a chain names no agent", task.id);
            findings.say(task.place.clone(), message, "Add `agent = \"…\"`");
        }
        for need in graph.needs(at).map(|need| &playbook.tasks[need]) {
            let crosses = team(task).map(|team| &team.name) != team(need).map(|team| &team.name);
            if crosses && !(leads(task) && leads(need)) {
                let (id, other) = (&task.id, &need.id);
                let message = format!("`{id}` needs `{other}` of another team, past the leads");
                let hint = "Let a lead's task take it over, and need that one";
                findings.say(task.place.clone().key("needs"), message, hint);
            }
        }
    }
}

fn teams(playbook: &Playbook, findings: &mut Findings) {
    let names = || playbook.agents.iter().map(|agent| agent.name.as_str());
    let mut seen: Vec<&String> = Vec::new();
    for (at, team) in playbook.teams.iter().enumerate() {
        let place = Place::entry("teams", at);
        let lead = playbook.agents.iter().find(|agent| agent.name.as_str() == team.lead);
        if lead.is_some_and(|lead| lead.role != Role::Lead) {
            let message = format!("`{}` leads `{}`, and has another role", team.lead, team.name);
            findings.say(place.clone().key("lead"), message, "Give it `role = \"lead\"`");
        }
        let members = team.members.iter().enumerate();
        let members = members.map(|(at, name)| (name, place.clone().key("members").index(at)));
        for (name, place) in members.chain([(&team.lead, place.clone().key("lead"))]) {
            if !names().any(|known| known == name) {
                findings.unknown(place, format!("No agent is named `{name}`"), name, names());
            } else if seen.contains(&name) {
                let message = format!("`{name}` is in two teams");
                findings.say(place, message, "Keep it in one of them");
            }
            seen.push(name);
        }
    }
}
