//! What each agent is told: a task's template, filled with all that the playbook knows.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::ownership::paths;
use super::place::{Findings, Place};
use super::shape::{Agent, Artifact, Playbook, Task};
use crate::protocol::first_line_like_a_report;
use crate::template::{Prompt, TAG_UNKNOWN, TemplateError, Templates};

/// Returns how a prompt names its task, and so what tells it from every other.
pub(super) fn heading(task: &Task) -> String {
    format!("Task {}:", task.id)
}

impl Playbook {
    /// Returns what whoever takes the task is told.
    pub(super) fn task_prompt(&self, task: &Task, templates: &Templates) -> Prompt {
        let details = task.prompt.trim();
        let gap = if details.is_empty() { "" } else { "\n\n" };
        let read_first = task.context.iter().chain(&task.takes).chain(self.handed_to(task));
        let known = [
            ("task", format!("{} {}{gap}{details}", heading(task), task.title)),
            ("context", read_first.cloned().collect::<Vec<_>>().join(", ")),
            ("owns", paths(self, task).join(", ")),
            ("artifacts", listed(task.artifacts.iter().map(described))),
            ("gates", listed(task.gates.iter().cloned())),
            ("team", self.others(self.sole(task))),
        ];
        filled(&task.template, &task.vars, known, templates)
    }

    /// Returns what an agent is told before its first task.
    pub(super) fn opening(&self, agent: &Agent, templates: &Templates) -> Option<Prompt> {
        let known = [("owns", agent.owns.join(", ")), ("team", self.others(Some(agent)))];
        match agent.prompt.as_ref()? {
            Prompt::Text(text) => Some(Prompt::Text(text.clone())),
            Prompt::Template { name, vars } => Some(filled(name, vars, known, templates)),
        }
    }

    /// Returns what the stage before hands on to a task.
    fn handed_to(&self, task: &Task) -> impl Iterator<Item = &String> {
        let at = self.tasks.iter().position(|other| other.id == task.id);
        let is_next =
            move |pair: &&[super::Stage]| at.is_some_and(|at| pair[1].tasks.contains(&at));
        let before = self.stages.windows(2).find(is_next).map(|pair| &pair[0].hands_on);
        before.into_iter().flatten().filter(|path| !task.takes.contains(path))
    }

    fn others(&self, but: Option<&Agent>) -> String {
        let others = self.agents.iter().filter(|agent| Some(&agent.name) != but.map(|b| &b.name));
        listed(others.map(|agent| {
            let owns = if agent.owns.is_empty() { "" } else { ", owns " };
            format!("{} ({}){owns}{}", agent.name, agent.role, agent.owns.join(", "))
        }))
    }
}

/// Fills a template with what is known, where it asks for it and nothing else is given.
fn filled<const N: usize>(
    name: &str,
    given: &BTreeMap<String, String>,
    known: [(&str, String); N],
    templates: &Templates,
) -> Prompt {
    let mut vars = given.clone();
    for (key, value) in known {
        let asks = templates.get(name).is_ok_and(|template| template.takes(key));
        if asks && !value.is_empty() {
            vars.entry(key.to_owned()).or_insert(value);
        }
    }
    Prompt::Template { name: name.to_owned(), vars }
}

fn listed(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

/// Puts an artifact and what must be true of it into words.
fn described(artifact: &Artifact) -> String {
    let Artifact { path, format, what, schema, regex, example } = artifact;
    let mut text = format!("{path} ({format})");
    let mut add = |words: String| write!(text, "{words}").unwrap_or_default();
    if !what.is_empty() {
        add(format!(", {what}"));
    }
    if let Some(regex) = regex {
        add(format!("; it must match the regular expression `{regex}`"));
    }
    if let Some(schema) = schema {
        add(format!("; it must fit this JSON schema:\n{}", indented(schema)));
    }
    if let Some(example) = example {
        add(format!("; for example:\n{}", indented(example)));
    }
    text
}

fn indented(text: &str) -> String {
    let lines = text.trim().lines().map(|line| format!("    {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn check(playbook: &Playbook, templates: &Templates, findings: &mut Findings) {
    for task in &playbook.tasks {
        check_one(&playbook.task_prompt(task, templates), &task.place, templates, findings);
    }
    for (at, agent) in playbook.agents.iter().enumerate() {
        if let Some(prompt) = playbook.opening(agent, templates) {
            // Whether its template can be filled was checked where the agent was read.
            if fits(&prompt, templates).is_empty() {
                check_one(&prompt, &Place::entry("agents", at), templates, findings);
            }
        }
    }
}

fn fits(prompt: &Prompt, templates: &Templates) -> Vec<TemplateError> {
    match prompt {
        Prompt::Template { name, vars } => templates.check(name, vars),
        Prompt::Text(_) => Vec::new(),
    }
}

fn check_one(prompt: &Prompt, place: &Place, templates: &Templates, findings: &mut Findings) {
    let errors = fits(prompt, templates);
    if errors.is_empty() {
        let rendered = templates.render(prompt, TAG_UNKNOWN);
        match rendered.map(|text| first_line_like_a_report(&text)) {
            Ok(None) => {}
            Ok(Some(report)) => {
                let message =
                    format!("The prompt has a line that reads as a report: `{}`", report.raw);
                let hint = "Say it in other words: agents' terminals show the prompt, too";
                findings.say(place.clone().key("prompt"), message, hint);
            }
            Err(error) => tell(&error, place, findings),
        }
    }
    for error in &errors {
        tell(error, place, findings);
    }
}

fn tell(error: &TemplateError, place: &Place, findings: &mut Findings) {
    let message = error.to_string();
    match error {
        TemplateError::MissingVariable { name, .. } => {
            let hint = format!("Add `vars = {{ {name} = \"…\" }}`");
            findings.say(place.clone().key("template"), message, &hint);
        }
        TemplateError::UnknownVariable { name, known, .. } => {
            let place = place.clone().key("vars").name(name);
            findings.unknown(place, message, name, known.iter().map(String::as_str));
        }
        TemplateError::UnknownTemplate { name, known } => {
            let known = known.iter().map(String::as_str);
            findings.unknown(place.clone().key("template"), message, name, known);
        }
        TemplateError::Broken { .. } => {
            let hint = "Mend the template; `wheelhouse template show` prints it";
            findings.say(place.clone().key("template"), message, hint);
        }
    }
}
