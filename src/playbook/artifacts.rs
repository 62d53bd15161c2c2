//! What tasks hand on: who makes it, who takes it, and what must be true of it.

use std::path::{Component, Path};

use regex::Regex;

use super::graph::Graph;
use super::place::{Findings, Place};
use super::shape::{Artifact, Format, Playbook, Stage, Task};

pub(super) fn check(playbook: &Playbook, graph: &Graph, findings: &mut Findings) {
    for (at, task) in playbook.tasks.iter().enumerate() {
        for (index, artifact) in task.artifacts.iter().enumerate() {
            let place = task.place.clone().key("artifacts").index(index);
            made_once(playbook, at, artifact, &place, findings);
            contract(artifact, &place, findings);
        }
        for (index, path) in task.takes.iter().enumerate() {
            let place = task.place.clone().key("takes").index(index);
            taken(playbook, graph, at, path, place, findings);
        }
    }
    for (at, stage) in playbook.stages.iter().enumerate() {
        handed_on(playbook, stage, &Place::entry("stages", at), findings);
    }
}

/// Returns the task that makes the file.
fn maker(playbook: &Playbook, path: &str) -> Option<usize> {
    let makes = |task: &Task| task.artifacts.iter().any(|artifact| artifact.path == path);
    playbook.tasks.iter().position(makes)
}

fn made(tasks: &[Task]) -> impl Iterator<Item = &str> {
    tasks.iter().flat_map(|task| &task.artifacts).map(|artifact| artifact.path.as_str())
}

fn made_once(
    playbook: &Playbook,
    at: usize,
    artifact: &Artifact,
    place: &Place,
    findings: &mut Findings,
) {
    let first = maker(playbook, &artifact.path).filter(|first| *first < at);
    if let Some(first) = first.map(|first| &playbook.tasks[first].id) {
        let message = format!("`{first}` makes `{}` already", artifact.path);
        findings.say(place.clone().key("path"), message, "Give each task a file of its own");
    }
}

fn taken(
    playbook: &Playbook,
    graph: &Graph,
    at: usize,
    path: &str,
    place: Place,
    findings: &mut Findings,
) {
    match maker(playbook, path) {
        None => {
            let message = format!("No task makes `{path}`");
            findings.unknown(place, message, path, made(&playbook.tasks));
        }
        Some(maker) if !graph.comes_before(maker, at) => {
            let maker = &playbook.tasks[maker].id;
            let message = format!("`{maker}` makes `{path}`, and need not be done before");
            findings.say(place, message, &format!("Add `needs = [\"{maker}\"]`"));
        }
        Some(_) => {}
    }
}

fn handed_on(playbook: &Playbook, stage: &Stage, place: &Place, findings: &mut Findings) {
    let tasks = playbook.tasks.get(stage.tasks.clone()).unwrap_or_default();
    for (index, path) in stage.hands_on.iter().enumerate() {
        if !made(tasks).any(|made| made == path) {
            let message = format!("No task of the stage `{}` makes `{path}`", stage.name);
            let place = place.clone().key("hands_on").index(index);
            findings.unknown(place, message, path, made(tasks));
        }
    }
}

/// Returns what the hub checks of a file before whoever makes it is done: that it is there, that it
/// has its format, and what else its contract says.
pub(super) fn gates(artifact: &Artifact) -> Vec<String> {
    let Artifact { path, format, schema, regex, .. } = artifact;
    let kind = match format {
        Format::Text | Format::Markdown | Format::Html => "file",
        Format::Json => "json",
        Format::Toml => "toml",
        Format::Yaml => "yaml",
        Format::Csv => "csv",
    };
    let regex = regex.iter().map(|regex| format!("regex:{path}:{regex}"));
    let schema = schema.iter().map(|schema| format!("schema:{path}:{schema}"));
    std::iter::once(format!("{kind}:{path}")).chain(regex).chain(schema).collect()
}

/// Notes a contract that cannot hold: its own example breaks it.
fn contract(artifact: &Artifact, place: &Place, findings: &mut Findings) {
    let Artifact { path, format, schema, regex, example, .. } = artifact;
    let parts = Path::new(path).components().collect::<Vec<_>>();
    let is_inside = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    // A colon ends the path in the gate that looks at the file.
    if parts.is_empty() || !is_inside || path.contains(':') {
        let message = format!("`{path}` is not in the project");
        let hint = "Write a path relative to the project, such as `docs/plan.md`";
        findings.say(place.clone().key("path"), message, hint);
    }
    if let Some(schema) = schema {
        let is_schema = serde_json::from_str::<serde_json::Map<_, _>>(schema).is_ok();
        if !is_schema || *format != Format::Json {
            let message =
                format!("The schema of `{path}` is no JSON object, or not of a JSON file");
            let hint = "Write a JSON schema as text, and `format = \"json\"`";
            findings.say(place.clone().key("schema"), message, hint);
        }
    }
    let Some(example) = example else { return };
    let is_json = || serde_json::from_str::<serde_json::Value>(example).is_ok();
    if *format == Format::Json && !is_json() {
        let message = format!("The example of `{path}` is not JSON");
        findings.say(place.clone().key("example"), message, "Mend it, or change `format`");
    }
    let holds = |regex: &String| Regex::new(regex).is_ok_and(|regex| regex.is_match(example));
    if regex.as_ref().is_some_and(|regex| !holds(regex)) {
        let message = format!("The example of `{path}` does not match its own `regex`");
        findings.say(place.clone().key("example"), message, "Make one fit the other");
    }
}
