//! Reads which dialogs may be answered without a person: `[[approve]]` and `[[deny]]`.

use crate::approval::{Criteria, Fault, Rule, Rules};

use super::problem::Problems;
use super::reader::Reader;

/// A list with more is not written by hand, and nobody could say any more what it approves.
const RULES_MAX: usize = 256;

pub(super) fn read(file: &mut Reader, problems: &mut Problems) -> Rules {
    Rules {
        approve: read_list(file, "approve", Criteria::fault_to_approve, problems),
        deny: read_list(file, "deny", Criteria::fault_to_deny, problems),
    }
}

fn read_list(
    file: &mut Reader,
    key: &'static str,
    fault: fn(&Criteria) -> Option<Fault>,
    problems: &mut Problems,
) -> Vec<Rule> {
    let tables = file.listed_tables(key, problems);
    if tables.len() > RULES_MAX {
        let message = format!("{} rules under `{key}` are too many", tables.len());
        let hint = format!("Keep at most {RULES_MAX}");
        problems.error(&file.span_of(key), &message, Some(&hint));
    }
    let tables = tables.into_iter().take(RULES_MAX);
    tables.filter_map(|table| read_rule(table, fault, problems)).collect()
}

fn read_rule(
    mut table: Reader,
    fault: fn(&Criteria) -> Option<Fault>,
    problems: &mut Problems,
) -> Option<Rule> {
    let errors_before = problems.errors.len();
    let criteria = table.part::<Criteria>(problems)?;
    let place = problems.place(table.span());
    let fault = fault(&criteria).map(|fault| (table.span_of(fault.key), fault));
    table.finish(problems);
    // Of a rule that was misread, what it lacks need not be told: it may be what was misspelt.
    if let Some((span, fault)) = fault
        && problems.errors.len() == errors_before
    {
        problems.error(&span, fault.message, Some(fault.hint));
    }
    (problems.errors.len() == errors_before).then_some(Rule { place, criteria })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::layer::apply;
    use super::super::settings::{Origin, Settings};

    fn applied(text: &str) -> (Settings, String) {
        let mut settings = Settings::default();
        let found = apply(&mut settings, Path::new("/p/f.toml"), text, Origin::User);
        let errors: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        (settings, errors.join("\n"))
    }

    #[test]
    fn nothing_is_approved_unless_a_file_says_so() {
        assert!(Settings::built_in().approvals.is_empty());
        let (settings, errors) = applied(
            "[[approve]]\nagent = 'back*'\ncommand = 'cargo test*'\ncompound = true\n\n\
             [[approve]]\npath = 'src/**'\n[[deny]]\ncommand = '--config'\n",
        );
        assert_eq!(errors, "");
        let places = |rules: &[super::Rule]| -> Vec<String> {
            rules.iter().map(|rule| rule.place.clone()).collect()
        };
        assert_eq!(places(&settings.approvals.approve), ["f.toml:1", "f.toml:6"]);
        assert_eq!(places(&settings.approvals.deny), ["f.toml:8"]);
        assert!(settings.approvals.approve[0].criteria.compound);
    }

    #[test]
    fn a_rule_that_is_not_understood_says_nothing_and_is_told() {
        let (settings, errors) = applied(
            "[[approve]]\ncomand = 'cargo test'\n[[approve]]\ncommand = '*'\n[[approve]]\n\
             agent = 7\ncommand = 'ls'\n[[deny]]\n[[approve]]\npath = '../x'\n",
        );
        insta::assert_snapshot!(errors, @r"
        /p/f.toml:2:1: Unknown key `comand` in `[[approve]]`
        hint: Did you mean `command`?
        /p/f.toml:4:11: Only whole words can be approved, and `*` stands for the words after them
        hint: Begin with the program, and end with `*` if anything may follow: `cargo test*`
        /p/f.toml:6:9: `agent` in `[[approve]]` must be a string, and is of type `integer`
        /p/f.toml:8:1: A denial must say whom or what it is for
        hint: Add `command`, `path`, `agent` or `cli`
        /p/f.toml:10:8: This is no pattern of files where the agent works
        hint: Write it relative to that directory, such as `src/**`
        ");
        assert!(settings.approvals.approve.is_empty() && settings.approvals.deny.is_empty());
    }
}
