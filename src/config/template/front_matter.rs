//! Reads one template: what it says about itself, and its text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::super::pattern::is_variable_name;
use super::super::problem::{Problems, suggest};
use super::super::reader::{Reader, parse};
use crate::model::Role;
use crate::template::{Fault, FaultKind, PROTOCOL, TAG, Template, Variable};

/// The line above and below what a template says about itself.
const FENCE: &str = "+++\n";
const FORM: &str = "Begin with `+++`, then `purpose`, `role` and `[variables]`, then `+++` again";

/// What a template says of itself, but for its variables.
#[derive(Deserialize)]
struct FrontTable {
    purpose: String,
    #[serde(default)]
    role: Role,
}

#[derive(Deserialize)]
struct VariableTable {
    what: String,
    #[serde(default)]
    required: bool,
    default: Option<String>,
}

/// Returns the template, if it is good, and notes all that is wrong with it.
pub(super) fn read_template(
    name: &str,
    file: &Path,
    text: &str,
    problems: &mut Problems,
) -> Option<Template> {
    let Some((front, body)) = split(text) else {
        problems.error(&(0..0), "No front matter", Some(FORM));
        return None;
    };
    // Blanks in place of the first fence keep every span right for the whole file.
    let front = format!("{}\n{front}", " ".repeat(FENCE.len() - 1));
    let table = parse(&front, problems)?;
    let before = problems.errors.len();
    let mut table = Reader::of_file(table.get_ref());
    let found = table.part::<FrontTable>(problems);
    let (variables, spans) = read_variables(&mut table, problems);
    table.finish(problems);
    let FrontTable { purpose, role } = found?;
    let template = Template {
        name: name.to_owned(),
        file: file.to_path_buf(),
        purpose,
        role,
        variables,
        body: body.to_owned(),
        body_line: text[..text.len() - body.len()].matches('\n').count() + 1,
    };
    for fault in template.faults() {
        tell(&fault, text, &spans, problems);
    }
    (problems.errors.len() == before).then_some(template)
}

/// Splits a text into what stands between the fences and what follows them.
fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(FENCE)?;
    let end = if rest.starts_with(FENCE) { 0 } else { rest.find(&format!("\n{FENCE}"))? + 1 };
    Some((&rest[..end], &rest[end + FENCE.len()..]))
}

type Variables = (BTreeMap<String, Variable>, BTreeMap<String, Range<usize>>);

/// Returns the variables, and where each is declared.
fn read_variables(table: &mut Reader, problems: &mut Problems) -> Variables {
    let (mut variables, mut spans) = (BTreeMap::new(), BTreeMap::new());
    for (name, mut inner) in table.named_tables("variables", problems) {
        check_name(&name, problems);
        let found = inner.part_with_stand_ins(problems).value;
        let Some(VariableTable { what, required, default }) = found else { continue };
        if required == default.is_some() {
            let message =
                format!("`{}` is neither required nor has a default, or both", name.get_ref());
            let hint = "Keep one of `required = true` and `default = \"…\"`";
            problems.error(&name.span(), &message, Some(hint));
        }
        inner.finish(problems);
        spans.insert(name.get_ref().clone(), name.span());
        variables.insert(name.into_inner(), Variable { what, default });
    }
    (variables, spans)
}

fn check_name(name: &Spanned<String>, problems: &mut Problems) {
    if name.get_ref() == TAG {
        let hint = "Wheelhouse fills it in itself; use it without declaring it";
        problems.error(&name.span(), "`tag` is the tag of the task", Some(hint));
    } else if !is_variable_name(name.get_ref()) {
        let message = format!("`{}` cannot name a variable", name.get_ref());
        problems.error(&name.span(), &message, Some("Use letters, digits and `_`"));
    }
}

fn tell(
    fault: &Fault,
    text: &str,
    spans: &BTreeMap<String, Range<usize>>,
    problems: &mut Problems,
) {
    let line = || {
        let start = text.split_inclusive('\n').take(fault.line - 1).map(str::len).sum::<usize>();
        start..start
    };
    let known = |known: &[String], name: &str| suggest(name, known.iter().map(String::as_str));
    let (span, hint) = match &fault.kind {
        FaultKind::UnknownVariable { name, known: all } => (line(), Some(known(all, name))),
        FaultKind::UnknownInclude(name) => (line(), Some(suggest(name, [PROTOCOL]))),
        FaultKind::Unused(name) => {
            let hint = format!("Write `{{{{ {name} }}}}` where it belongs, or take it out");
            (spans.get(name).cloned().unwrap_or_default(), Some(hint))
        }
        FaultKind::Broken(_) => (line(), None),
    };
    problems.error(&span, &fault.to_string(), hint.as_deref());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Template>, String) {
        let mut problems = Problems::new(Path::new("t.md"), text);
        let template = read_template("t", Path::new("t.md"), text, &mut problems);
        let told = problems.errors.iter().map(ToString::to_string).collect::<Vec<_>>();
        (template, told.join("\n"))
    }

    #[test]
    fn a_template_tells_about_itself_and_then_its_text() {
        let (template, errors) = read(
            "+++\npurpose = 'p'\nrole = 'lead'\n[variables]\na = { required = true, what = 'w' }\n\
             b = { default = 'x', what = 'w' }\n+++\n{{ a }}{{ b }}\n",
        );
        assert_eq!(errors, "");
        let template = template.unwrap();
        assert_eq!((template.body_line, template.body.as_str()), (8, "{{ a }}{{ b }}\n"));
        assert_eq!(template.variables["b"].default.as_deref(), Some("x"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_nearest_word() {
        let text = "+++\npurpos = 'p'\nrole = 'led'\n[variables]\ntask = { what = 'w' }\n\
            tag = { default = '', what = 'w' }\n'a-b' = { default = '', wat = 'w' }\n+++\n{{ task }}\n";
        insta::assert_snapshot!(read(text).1, @r#"
        t.md:3:8: Unknown role `led`
        hint: Did you mean `lead`?
        t.md:1:1: No `purpose`
        hint: Add `purpose = "…"`
        t.md:7:1: `a-b` cannot name a variable
        hint: Use letters, digits and `_`
        t.md:7:9: No `what` in `[variables.a-b]`
        hint: Add `what = "…"`
        t.md:7:25: Unknown key `wat` in `[variables.a-b]`
        hint: Did you mean `what`?
        t.md:6:1: `tag` is the tag of the task
        hint: Wheelhouse fills it in itself; use it without declaring it
        t.md:5:1: `task` is neither required nor has a default, or both
        hint: Keep one of `required = true` and `default = "…"`
        t.md:2:1: Unknown key `purpos`
        hint: Did you mean `purpose`?
        "#);
        let text = "+++\npurpose = 'p'\n[variables]\ntask = { required = true, what = 'w' }\n\
            +++\n\n{{ taks }}\n{% include \"protocl\" %}\n";
        insta::assert_snapshot!(read(text).1, @r#"
        t.md:7:1: Unknown variable `taks`
        hint: Did you mean `task`?
        t.md:8:1: Unknown include `protocl`
        hint: Did you mean `protocol`?
        t.md:4:1: The text never uses the variable `task`
        hint: Write `{{ task }}` where it belongs, or take it out
        "#);
        insta::assert_snapshot!(read("+++\npurpose = 'p'\n+++\n{% if %}\n").1, @r#"
        t.md:4:1: Not a template: unexpected end of block
        "#);
        insta::assert_snapshot!(read("+++\npurpose =\n+++\n").1, @r#"
        t.md:2:10: Not TOML: string values must be quoted, expected literal string
        "#);
        insta::assert_snapshot!(read("Do it.\n").1, @r#"
        t.md:1:1: No front matter
        hint: Begin with `+++`, then `purpose`, `role` and `[variables]`, then `+++` again
        "#);
    }
}
