//! Scripts for scripted agents that do a playbook's tasks, made of the tasks themselves.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::prompts::heading;
use super::shape::{Artifact, Format, Playbook, Task};
use crate::model::Role;

/// What one who verifies says about another's work; the words are those of the hub's prompt.
const VERDICT: &str = "
on prompt containing \"Another agent says that it has finished a task\"
  think 100ms \"Checking\"
  status done \"the claim holds + 1 of 1 checks passed\"
";

/// What is done with a prompt that begins no task: a check that failed, or news of others.
const REST: &str = "
on prompt containing \"with the same tag\"
  think 100ms \"Looking again\"
  status done \"looked again + 1 of 1 checks passed\"

on prompt
  think 400ms \"Reading\"
  say \"Noted.\"
";

/// Returns a script for each agent: for every task that it may take, the artifacts and a report.
pub fn scripts(playbook: &Playbook) -> BTreeMap<String, String> {
    let script = |agent: &super::Agent| {
        let mut text = format!("# What {} does in a rehearsal of {}.\n", agent.name, playbook.name);
        if agent.role == Role::Verifier {
            text.push_str(VERDICT);
        }
        for task in &playbook.tasks {
            let takes = playbook.candidates(task).iter().any(|other| other.name == agent.name);
            if takes {
                text.push_str(&reaction(task));
            }
        }
        text.push_str(REST);
        (agent.name.to_string(), text)
    };
    playbook.agents.iter().map(script).collect()
}

fn reaction(task: &Task) -> String {
    let mut text = format!("\non prompt containing {}\n", quoted(&heading(task)));
    let mut step = |words: String| writeln!(text, "  {words}").unwrap_or_default();
    let steps = task.artifacts.len() + 1;
    step(format!("think 100ms {}", quoted(&task.title)));
    for (at, artifact) in task.artifacts.iter().enumerate() {
        let path = quoted(&artifact.path);
        step(format!("write {path}"));
        for line in sample(artifact).lines() {
            step(format!("  {line}"));
        }
        step(format!("artifact {path} {}", quoted(&artifact.format.to_string())));
        let wrote = quoted(&format!("wrote {}", artifact.path));
        step(format!("progress {}/{steps} {wrote}", at + 1));
    }
    step("build pass".to_owned());
    let files = task.artifacts.len();
    let done = format!("{} + 1 build passed, {files} files written", task.title);
    step(format!("status done {}", quoted(&done)));
    text
}

/// Returns a content that the artifact's contract accepts, as far as it gives an example.
fn sample(artifact: &Artifact) -> &str {
    match (&artifact.example, artifact.format) {
        (Some(example), _) if !example.trim().is_empty() => example.trim(),
        (_, Format::Json) => "{}",
        (_, Format::Html) => "<p>Rehearsal</p>",
        (_, Format::Markdown | Format::Toml | Format::Yaml) => "# Rehearsal",
        (_, Format::Csv | Format::Text) => "rehearsal",
    }
}

/// Returns the text as one word of a script; a script knows no line breaks in it.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.split_whitespace().collect::<Vec<_>>().join(" "))
}
