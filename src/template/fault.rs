//! Explains what is wrong with a template, and on which line.

use std::collections::BTreeSet;

use super::fill::{names_in, unknown};
use super::templates::{PROTOCOL, TAG};
use super::text::Template;

/// One thing that is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Fault {
    /// From 1, within the text.
    pub line: usize,
    pub kind: FaultKind,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    #[error("Unknown variable `{name}`")]
    UnknownVariable { name: String, known: Vec<String> },
    #[error("Unknown include `{0}`")]
    UnknownInclude(String),
    #[error("The text never uses the variable `{0}`")]
    Unused(String),
    #[error("{0}")]
    Broken(String),
}

impl Template {
    /// Returns all that is wrong with the template, with lines of its file.
    pub fn faults(&self) -> Vec<Fault> {
        let used = match names_in(&self.body) {
            Ok(used) => used,
            Err(fault) => return vec![self.in_file(fault)],
        };
        let mut known: BTreeSet<&str> = self.variables.keys().map(String::as_str).collect();
        let unused = known.iter().filter(|name| !used.contains(**name));
        let unused = unused
            .map(|name| Fault { line: 1, kind: FaultKind::Unused((*name).to_owned()) })
            .collect::<Vec<_>>();
        known.insert(TAG);
        let missing = used.iter().filter(|name| !known.contains(name.as_str()));
        let missing = missing.map(|name| unknown(&self.body, name.clone(), &known));
        let includes = includes(&self.body).into_iter().filter(|(_, name)| *name != PROTOCOL);
        let includes = includes
            .map(|(line, name)| Fault { line, kind: FaultKind::UnknownInclude(name.to_owned()) });
        let in_body = missing.chain(includes).map(|fault| self.in_file(fault));
        in_body.chain(unused).collect()
    }

    /// Returns the fault of the body with its line in the file.
    pub(super) fn in_file(&self, fault: Fault) -> Fault {
        Fault { line: fault.line + self.body_line - 1, ..fault }
    }
}

/// Returns the line, from 1, on which the text first names the variable.
pub(super) fn line_of(text: &str, name: &str) -> usize {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let is_named = |(_, code): &(usize, &str)| code.split(|c| !inside(c)).any(|word| word == name);
    code(text).into_iter().find(is_named).map_or(1, |(line, _)| line)
}

/// Returns what the text includes, with the lines.
fn includes(text: &str) -> Vec<(usize, &str)> {
    code(text).into_iter().filter_map(|(line, code)| Some((line, included(code)?))).collect()
}

fn included(code: &str) -> Option<&str> {
    let rest = code.trim_start_matches(['-', '+']).trim_start().strip_prefix("include")?;
    rest.split(['"', '\'']).nth(1)
}

/// Returns what stands between `{{ }}` and `{% %}`, with the lines.
fn code(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").into_iter().chain(text[at..].find("{%")).min() {
        let start = at + start + 2;
        let Some(end) = text[start..].find(['}', '%']).map(|end| start + end) else { break };
        let line = text[..start].matches('\n').count() + 1;
        found.push((line, &text[start..end]));
        at = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::text::Variable;
    use super::*;
    use crate::model::Role;

    fn faults(body: &str) -> Vec<(usize, String)> {
        let variable = Variable { what: "what to do".into(), default: None };
        let template = Template {
            name: "t".into(),
            file: PathBuf::from("t.md"),
            purpose: "p".into(),
            role: Role::Worker,
            variables: [("task".to_owned(), variable)].into(),
            body: body.into(),
            body_line: 5,
        };
        template.faults().into_iter().map(|fault| (fault.line, fault.to_string())).collect()
    }

    #[test]
    fn a_good_template_has_none() {
        let body = "{{ task }}\n{% if tag %}x{% endif %}\n{% include \"protocol\" %}\n";
        assert_eq!(faults(body), []);
    }

    #[test]
    fn every_fault_has_its_line_in_the_file() {
        let found = faults("a\n{%- include 'protocl' -%}\n{{ taks }}\n");
        let expected = [
            (7, "Unknown variable `taks`".to_owned()),
            (6, "Unknown include `protocl`".to_owned()),
            (1, "The text never uses the variable `task`".to_owned()),
        ];
        assert_eq!(found, expected);
        assert_eq!(faults("{{ task }}\n\n{{ a b }}")[0].0, 7);
    }
}
