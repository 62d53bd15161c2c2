//! All that is wrong with a playbook before it runs.

use std::collections::BTreeSet;

use super::graph::Graph;
use super::place::{Finding, Findings};
use super::shape::{OnFailure, Playbook};
use super::{artifacts, ownership, pattern, people, prompts};
use crate::template::Templates;

/// Returns everything that is wrong with a playbook whose variables are filled in.
pub fn check(playbook: &Playbook, templates: &Templates) -> Vec<Finding> {
    let mut findings = Findings::default();
    let graph = Graph::of(playbook);
    names(playbook, &mut findings);
    cycles(playbook, &graph, &mut findings);
    people::check(playbook, &mut findings);
    artifacts::check(playbook, &graph, &mut findings);
    ownership::check(playbook, &graph, &mut findings);
    pattern::check(playbook, &graph, &mut findings);
    prompts::check(playbook, templates, &mut findings);
    findings.0
}

fn names(playbook: &Playbook, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    let ids = || playbook.tasks.iter().map(|task| task.id.as_str());
    for task in &playbook.tasks {
        if !seen.insert(&task.id) {
            let message = format!("Two tasks are named `{}`", task.id);
            findings.say(task.place.clone().key("id"), message, "Give each task its own `id`");
        }
        for (at, need) in task.needs.iter().enumerate() {
            if !ids().any(|id| id == need) {
                let place = task.place.clone().key("needs").index(at);
                let others = ids().filter(|id| *id != task.id);
                findings.unknown(place, format!("No task is named `{need}`"), need, others);
            }
        }
        if (task.on_failure == OnFailure::Reduce) != task.reduced.is_some() {
            let message = format!(
                "`{}` is reduced on failure and does not say to what, or the reverse",
                task.id
            );
            let hint = "Write `on_failure = \"reduce\"` together with `reduced = \"what is left\"`";
            findings.say(task.place.clone().key("on_failure"), message, hint);
        }
    }
}

fn cycles(playbook: &Playbook, graph: &Graph, findings: &mut Findings) {
    let Some(path) = graph.cycle() else { return };
    let ids: Vec<&str> = path.iter().map(|task| playbook.tasks[*task].id.as_str()).collect();
    let message = format!("These tasks wait for each other: {}", ids.join(" → "));
    let place = playbook.tasks[path[0]].place.clone().key("needs");
    findings.say(place, message, "Take one of these `needs` out");
}
