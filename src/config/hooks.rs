//! Reads how a cli is made to tell what it does: `[cli.NAME.hooks]`.

use std::mem;

use crate::model::{HookFields, Hooks};

use super::manifest::place;
use super::pattern::is_variable_name;
use super::problem::Problems;
use super::reader::Reader;
use super::sections::fields_of;

/// No cli has more events that matter.
const EVENTS_MAX: usize = 64;

/// Changes what the table names; an event of a known name takes the place of that one.
pub(super) fn apply(hooks: &mut Hooks, mut table: Reader, problems: &mut Problems) {
    let mut below = hooks.clone();
    below.events.clear();
    let found = table.part_over::<Hooks>(&fields_of(&below), problems);
    let fields = table.part_over::<HookFields>(&fields_of(&below.fields), problems);
    for (name, span) in table.names("env").filter(|(name, _)| !is_variable_name(name)) {
        problems.error(&span, &format!("`{name}` cannot name a variable"), None);
    }
    if table.length("events") > EVENTS_MAX {
        let message = format!("{} events{} are too many", table.length("events"), table.within());
        problems.error(table.span(), &message, Some(&format!("Keep at most {EVENTS_MAX}")));
    }
    table.finish(problems);
    let (Some(mut found), Some(fields)) = (found, fields) else { return };
    let events = mem::replace(&mut found.events, mem::take(&mut hooks.events));
    place(&mut found.events, events, |event| &event.name);
    *hooks = Hooks { fields, ..found };
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::builtin::built_in;
    use super::super::layer::apply;
    use super::super::settings::Origin;

    #[test]
    fn hooks_can_be_turned_off_and_do_not_come_with_a_likeness() {
        let mut settings = built_in();
        let text = "[cli.claude.hooks]\nenabled = false\n\
            [cli.mine]\ncommand = ['x']\nlike = 'codex'\n";
        assert_eq!(apply(&mut settings, Path::new("f"), text, Origin::User).errors, []);
        let claude = &settings.cli("claude").unwrap().hooks;
        assert!(!claude.enabled && !claude.arguments.is_empty(), "the rest stays as it was");
        assert!(settings.cli("mine").unwrap().hooks.is_empty(), "it may not know the arguments");
        assert!(settings.cli("sim").unwrap().hooks.is_empty());
    }

    #[test]
    fn no_command_is_risked_in_a_program_that_is_not_known() {
        let mut settings = built_in();
        let text = "[cli.mine]\ncommand = ['x']\n";
        assert_eq!(apply(&mut settings, Path::new("f"), text, Origin::User).errors, []);
        for name in ["mine", "copilot", "qwen", "pi", "continue", "amp"] {
            let refused = &settings.cli(name).unwrap().manifest.submit.literal.refused;
            assert_eq!(refused, "/!", "{name}");
        }
        assert_eq!(settings.cli("shell").unwrap().manifest.submit.literal.refused, "");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let text = "[cli.shell.hooks]\nenvv = 1\nenv = { 'A B' = 'x' }\n\
            [[cli.shell.hooks.events]]\nname = 'Stop'\nmeans = 'over'\nmatch = 'a('\n";
        let mut settings = built_in();
        let found = apply(&mut settings, Path::new("f"), text, Origin::User).errors;
        let errors: Vec<String> = found.iter().map(ToString::to_string).collect();
        let errors = errors.join("\n");
        for part in [
            "f:2:1: Unknown key `envv`",
            "`A B` cannot name a variable",
            "f:6:9: Unknown means `over`",
            "f:7:9: Not a regular expression",
        ] {
            assert!(errors.contains(part), "{part} in\n{errors}");
        }
    }
}
