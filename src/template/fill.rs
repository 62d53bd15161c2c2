//! Runs the template language; the only file that does.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::fault::{Fault, FaultKind, line_of};

/// Steps that one text may take: a prompt takes dozens, a loop over a long text thousands.
const STEPS_MAX: u64 = 100_000;

/// Returns the text with its variables filled in, or the first thing that is wrong with it.
///
/// The texts that are filled in are taken as they are: what looks like a variable in them is none.
pub fn fill(text: &str, values: &BTreeMap<String, String>) -> Result<String, Fault> {
    fill_with(text, values, None)
}

/// As `fill`, with one text that may be included by its name.
pub(super) fn fill_with(
    text: &str,
    values: &BTreeMap<String, String>,
    include: Option<(&str, &str)>,
) -> Result<String, Fault> {
    let known: BTreeSet<&str> = values.keys().map(String::as_str).collect();
    if let Some(name) = names_in(text)?.into_iter().find(|name| !known.contains(name.as_str())) {
        return Err(unknown(text, name, &known));
    }
    let mut environment = environment();
    if let Some((name, included)) = include {
        // What is included has no blanks: what looks like one is shown as it is.
        let raw = format!("{{% raw %}}{included}{{% endraw %}}");
        environment.add_template_owned(name.to_owned(), raw).map_err(|error| fault(&error))?;
    }
    environment.render_str(text, Value::from(values.clone())).map_err(|error| fault(&error))
}

/// Returns the names of the variables that the text uses.
pub fn names_in(text: &str) -> Result<BTreeSet<String>, Fault> {
    let environment = environment();
    let template = environment.template_from_str(text).map_err(|error| fault(&error))?;
    Ok(template.undeclared_variables(false).into_iter().collect())
}

pub(super) fn unknown(text: &str, name: String, known: &BTreeSet<&str>) -> Fault {
    let line = line_of(text, &name);
    let known = known.iter().map(ToString::to_string).collect();
    Fault { line, kind: FaultKind::UnknownVariable { name, known } }
}

/// Returns a language without filters, functions or a way to the outside.
pub(super) fn environment<'source>() -> Environment<'source> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(STEPS_MAX));
    // A line with nothing but a condition on it leaves no empty line behind.
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the usual delimiters differ from each other"));
    environment
}

pub(super) fn fault(error: &Error) -> Fault {
    let detail = error.detail().unwrap_or_default();
    let kind = error.kind();
    let reason = if kind == ErrorKind::SyntaxError {
        format!("Not a template: {detail}")
    } else if kind == ErrorKind::OutOfFuel {
        "It takes too many steps".to_owned()
    } else {
        format!("{kind}: {detail}")
    };
    Fault { line: error.line().unwrap_or(1), kind: FaultKind::Broken(reason) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_is_filled_in_is_not_read_again() {
        let filled = fill("a {{ x }} b", &values(&[("x", "{{ y }} <&>")])).unwrap();
        assert_eq!(filled, "a {{ y }} <&> b");
    }

    #[test]
    fn an_unknown_variable_is_told_with_its_line_and_what_is_known() {
        let fault = fill("one\ntwo {{ taks }}", &values(&[("task", "x")])).unwrap_err();
        assert_eq!(fault.line, 2);
        let known = vec!["task".to_owned()];
        assert_eq!(fault.kind, FaultKind::UnknownVariable { name: "taks".into(), known });
    }

    #[test]
    fn a_broken_text_is_told_with_its_line() {
        let fault = fill("one\n{% if x %}\n", &values(&[("x", "")])).unwrap_err();
        assert!(fault.line >= 2, "{fault:?}");
        assert!(
            matches!(fault.kind, FaultKind::Broken(reason) if reason.contains("Not a template"))
        );
    }

    #[test]
    fn a_text_cannot_run_for_ever() {
        let long = "x".repeat(1000);
        let text = "{% for a in x %}{% for b in x %}{{ a }}{% endfor %}{% endfor %}";
        assert!(fill(text, &values(&[("x", &long)])).is_err());
    }

    #[test]
    fn a_condition_on_its_own_line_leaves_none() {
        let text = "a\n{% if x %}\nb {{ x }}\n{% endif %}\nc\n";
        assert_eq!(fill(text, &values(&[("x", "")])).unwrap(), "a\nc");
        assert_eq!(fill(text, &values(&[("x", "1")])).unwrap(), "a\nb 1\nc");
    }
}
