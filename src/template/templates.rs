//! Finds templates by name and renders them into prompts.

use std::collections::BTreeMap;

use super::fault::{Fault, FaultKind};
use super::fill::fill_with;
use super::text::{Prompt, Template};
use crate::protocol::brief;

/// What a template includes to teach the protocol.
pub const PROTOCOL: &str = "protocol";
/// The variable that every template has: the tag of the attempt, given when the prompt is sent.
pub const TAG: &str = "tag";
/// Stands for the tag of a prompt that is only shown.
pub const TAG_UNKNOWN: &str = "xxxx";

/// Templates by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Templates(BTreeMap<String, Template>);

/// What is told of a name that is none: no template is called anything longer.
const NAME_CHARS_MAX: usize = 64;

/// Says why there is no prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("Unknown template `{}`", name.chars().take(NAME_CHARS_MAX).collect::<String>())]
    UnknownTemplate { name: String, known: Vec<String> },
    #[error("The template `{template}` has no variable `{name}`")]
    UnknownVariable { template: String, name: String, known: Vec<String> },
    #[error("The template `{template}` needs the variable `{name}`: {what}")]
    MissingVariable { template: String, name: String, what: String },
    #[error("{file}:{}: {}", fault.line, fault.kind)]
    Broken { file: String, fault: Fault },
}

impl TemplateError {
    /// Returns the word that is not known, and those that are.
    pub fn unknown(&self) -> Option<(&str, &[String])> {
        match self {
            Self::UnknownTemplate { name, known } | Self::UnknownVariable { name, known, .. } => {
                Some((name, known))
            }
            Self::Broken { fault, .. } => match &fault.kind {
                FaultKind::UnknownVariable { name, known } => Some((name, known)),
                FaultKind::UnknownInclude(_) | FaultKind::Unused(_) | FaultKind::Broken(_) => None,
            },
            Self::MissingVariable { .. } => None,
        }
    }
}

impl Templates {
    /// Adds a template, in place of one of the same name.
    pub fn insert(&mut self, template: Template) {
        self.0.insert(template.name.clone(), template);
    }

    pub fn get(&self, name: &str) -> Result<&Template, TemplateError> {
        self.0.get(name).ok_or_else(|| TemplateError::UnknownTemplate {
            name: name.to_owned(),
            known: self.0.keys().cloned().collect(),
        })
    }

    /// Returns the templates by name.
    pub fn iter(&self) -> impl Iterator<Item = &Template> {
        self.0.values()
    }

    /// Returns all that is wrong with what is given to a template.
    pub fn check(&self, name: &str, given: &BTreeMap<String, String>) -> Vec<TemplateError> {
        match self.get(name) {
            Ok(template) => template.misfits(given),
            Err(error) => vec![error],
        }
    }

    /// Returns the words of the prompt, with the tag of its attempt.
    pub fn render(&self, prompt: &Prompt, tag: &str) -> Result<String, TemplateError> {
        match prompt {
            Prompt::Text(text) => Ok(text.clone()),
            Prompt::Template { name, vars } => self.get(name)?.render(vars, tag),
        }
    }
}

impl Template {
    /// Says whether something may be given for the name.
    pub fn takes(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    fn render(&self, given: &BTreeMap<String, String>, tag: &str) -> Result<String, TemplateError> {
        if let Some(error) = self.misfits(given).into_iter().next() {
            return Err(error);
        }
        let defaults = self.variables.iter().filter_map(|(name, variable)| {
            variable.default.as_ref().map(|default| (name.clone(), default.clone()))
        });
        let mut values: BTreeMap<String, String> = defaults.collect();
        values.extend(given.clone());
        values.insert(TAG.to_owned(), tag.to_owned());
        let rendered = fill_with(&self.body, &values, Some((PROTOCOL, &brief(tag))));
        rendered.map(|text| text.trim().to_owned()).map_err(|fault| TemplateError::Broken {
            file: self.file.display().to_string(),
            fault: self.in_file(fault),
        })
    }

    fn misfits(&self, given: &BTreeMap<String, String>) -> Vec<TemplateError> {
        let template = || self.name.clone();
        let unknown = given.keys().filter(|name| !self.takes(name)).map(|name| {
            let known = self.variables.keys().cloned().collect();
            TemplateError::UnknownVariable { template: template(), name: name.clone(), known }
        });
        let is_missing =
            |name: &String| given.get(name).is_none_or(|value| value.trim().is_empty());
        let missing = self
            .variables
            .iter()
            .filter(|(name, variable)| variable.default.is_none() && is_missing(name));
        let missing = missing.map(|(name, variable)| TemplateError::MissingVariable {
            template: template(),
            name: name.clone(),
            what: variable.what.clone(),
        });
        unknown.chain(missing).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::text::Variable;
    use super::*;
    use crate::model::Role;

    fn templates(body: &str) -> Templates {
        let variable = |default: Option<&str>| Variable {
            what: "what to do".into(),
            default: default.map(str::to_owned),
        };
        let template = Template {
            name: "t".into(),
            file: PathBuf::from("t.md"),
            purpose: "p".into(),
            role: Role::Worker,
            variables: [("task".into(), variable(None)), ("owns".into(), variable(Some("all")))]
                .into(),
            body: body.into(),
            body_line: 5,
        };
        let mut templates = Templates::default();
        templates.insert(template);
        templates
    }

    fn render(body: &str, name: &str, given: &[(&str, &str)]) -> Result<String, TemplateError> {
        let vars = given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        templates(body).render(&Prompt::Template { name: name.into(), vars }, "k7f3")
    }

    #[test]
    fn a_template_is_filled_and_teaches_the_protocol() {
        let body = "Do: {{ task }} in {{ owns }}\n\n{% include \"protocol\" %}\n";
        let prompt = render(body, "t", &[("task", "it")]).unwrap();
        assert_eq!(prompt, format!("Do: it in all\n\n{}", brief("k7f3")));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let message = |given: &[(&str, &str)]| render("{{ task }}", "t", given).unwrap_err();
        let unknown = message(&[("taks", "x")]);
        assert_eq!(unknown.to_string(), "The template `t` has no variable `taks`");
        assert_eq!(unknown.unknown().unwrap().1, ["owns", "task"]);
        let missing = message(&[("task", " ")]).to_string();
        assert_eq!(missing, "The template `t` needs the variable `task`: what to do");
        let tag = message(&[("task", "x"), ("tag", "aaaa")]).to_string();
        assert_eq!(tag, "The template `t` has no variable `tag`");
        let unknown = render("", "tt", &[]).unwrap_err();
        assert_eq!(unknown.unknown().unwrap(), ("tt", &["t".to_owned()][..]));
    }

    #[test]
    fn a_fault_that_shows_only_in_use_is_told_with_its_file_and_line() {
        let error = render("\n{{ task.x.y }}", "t", &[("task", "x")]).unwrap_err();
        assert!(error.to_string().starts_with("t.md:6: "), "{error}");
    }
}
