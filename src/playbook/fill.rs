//! Fills a playbook's variables in, wherever its texts name one.

use std::collections::BTreeMap;

use super::place::{Finding, Findings, Place};
use super::shape::{Playbook, Task};
use crate::template::{FaultKind, Prompt, fill};

/// Fills the variables in: what is given, else the default. Returns the values and what is wrong.
///
/// A variable that lacks a value is shown by its name, so that all else can be looked at.
pub fn fill_in(
    playbook: &mut Playbook,
    given: &BTreeMap<String, String>,
) -> (BTreeMap<String, String>, Vec<Finding>) {
    let mut findings = Findings::default();
    let values = values(playbook, given, &mut findings);
    let mut filler = Filler { values: &values, findings: &mut findings };
    for (at, agent) in playbook.agents.iter_mut().enumerate() {
        let place = Place::entry("agents", at);
        filler.list(&mut agent.owns, &place.clone().key("owns"));
        match &mut agent.prompt {
            Some(Prompt::Text(text)) => filler.text(text, place.key("prompt")),
            Some(Prompt::Template { vars, .. }) => filler.named(vars, &place.key("vars")),
            None => {}
        }
    }
    for task in &mut playbook.tasks {
        filler.task(task);
    }
    for (at, stage) in playbook.stages.iter_mut().enumerate() {
        let place = Place::entry("stages", at);
        filler.list(&mut stage.gates, &place.clone().key("gates"));
        filler.list(&mut stage.hands_on, &place.key("hands_on"));
    }
    (values, findings.0)
}

fn values(
    playbook: &Playbook,
    given: &BTreeMap<String, String>,
    findings: &mut Findings,
) -> BTreeMap<String, String> {
    for name in given.keys().filter(|name| !playbook.vars.contains_key(*name)) {
        let message = format!("The playbook has no variable `{name}`");
        let known = playbook.vars.keys().map(String::as_str);
        findings.unknown(Place::default().key("vars"), message, name, known);
    }
    let value = |(name, variable): (&String, &crate::template::Variable)| {
        let value = given.get(name).or(variable.default.as_ref()).cloned();
        let value = value.unwrap_or_else(|| {
            let message = format!("The variable `{name}` has no value: {}", variable.what);
            let place = Place::default().key("vars").name(name);
            findings.say(place, message, &format!("Add `--var {name}='…'`"));
            format!("<{name}>")
        });
        (name.clone(), value)
    };
    playbook.vars.iter().map(value).collect()
}

struct Filler<'v, 'f> {
    values: &'v BTreeMap<String, String>,
    findings: &'f mut Findings,
}

impl Filler<'_, '_> {
    fn task(&mut self, task: &mut Task) {
        let at = |key: &'static str| task.place.clone().key(key);
        self.text(&mut task.title, at("title"));
        self.text(&mut task.prompt, at("prompt"));
        if let Some(reduced) = &mut task.reduced {
            self.text(reduced, at("reduced"));
        }
        self.named(&mut task.vars, &at("vars"));
        let lists = [
            ("owns", &mut task.owns),
            ("gates", &mut task.gates),
            ("context", &mut task.context),
            ("takes", &mut task.takes),
        ];
        for (key, list) in lists {
            self.list(list, &task.place.clone().key(key));
        }
        for (index, artifact) in task.artifacts.iter_mut().enumerate() {
            let place = task.place.clone().key("artifacts").index(index);
            self.text(&mut artifact.path, place.clone().key("path"));
            self.text(&mut artifact.what, place.key("what"));
        }
    }

    fn named(&mut self, texts: &mut BTreeMap<String, String>, place: &Place) {
        for (name, text) in texts {
            self.text(text, place.clone().name(name));
        }
    }

    fn list(&mut self, texts: &mut [String], place: &Place) {
        for (index, text) in texts.iter_mut().enumerate() {
            self.text(text, place.clone().index(index));
        }
    }

    fn text(&mut self, text: &mut String, place: Place) {
        match fill(text, self.values) {
            Ok(filled) => *text = filled,
            Err(fault) => match &fault.kind {
                FaultKind::UnknownVariable { name, known } => {
                    let known = known.iter().map(String::as_str);
                    let message = format!("The playbook has no variable `{name}`");
                    self.findings.unknown(place, message, name, known);
                }
                FaultKind::UnknownInclude(_) | FaultKind::Unused(_) | FaultKind::Broken(_) => {
                    let hint = "Write a variable as `{{ name }}`";
                    self.findings.say(place, fault.to_string(), hint);
                }
            },
        }
    }
}
