//! Reads how a cli is made to tell what it does: `[cli.NAME.hooks]`.

use crate::model::{HookEvent, HookMeaning, Hooks, Stream};

use super::manifest::{pattern, place, set, words};
use super::pattern::is_variable_name;
use super::problem::Problems;
use super::reader::Reader;

/// No cli has more events that matter.
const EVENTS_MAX: usize = 64;

const MEANINGS: &[HookMeaning] = &[
    HookMeaning::Session,
    HookMeaning::Prompt,
    HookMeaning::Asks,
    HookMeaning::Ended,
    HookMeaning::Failed,
    HookMeaning::Message,
    HookMeaning::Compacted,
];
const STREAMS: &[Stream] = &[Stream::OpenCode];

/// Changes what the table names; an event of a known name takes the place of that one.
pub(super) fn apply(hooks: &mut Hooks, mut table: Reader, problems: &mut Problems) {
    set(&mut hooks.enabled, table.switch("enabled", problems));
    set(&mut hooks.arguments, words(&mut table, "args", problems));
    if let Some(variables) = table.named_texts("env", problems) {
        for (name, text) in &variables {
            if !is_variable_name(name) {
                problems.error(&text.span, &format!("`{name}` cannot name a variable"), None);
            }
            super::cli::no_zero(text, problems);
        }
        hooks.environment = variables.into_iter().map(|(name, text)| (name, text.value)).collect();
    }
    if let Some(file) = table.text("file", problems) {
        hooks.file = Some(file.value);
    }
    set(&mut hooks.yields_to, words(&mut table, "yields_to", problems));
    set(&mut hooks.root_only, table.switch("root_only", problems));
    if let Some(stream) = table.choice("stream", STREAMS, problems) {
        hooks.stream = Some(stream);
    }
    let fields = &mut hooks.fields;
    for (key, slot) in [
        ("event", &mut fields.event),
        ("session", &mut fields.session),
        ("prompt", &mut fields.prompt),
        ("message", &mut fields.message),
    ] {
        set(slot, table.text(key, problems).map(|text| text.value));
    }
    let mut events = table.listed_tables("events", problems);
    if events.len() > EVENTS_MAX {
        let message = format!("{} events{} are too many", events.len(), table.within());
        problems.error(table.span(), &message, Some(&format!("Keep at most {EVENTS_MAX}")));
        events.truncate(EVENTS_MAX);
    }
    let events = events.into_iter().filter_map(|event| read_event(event, problems)).collect();
    place(&mut hooks.events, events, |event| &event.name);
    table.finish(problems);
}

fn read_event(mut table: Reader, problems: &mut Problems) -> Option<HookEvent> {
    let name = table.required_text("name", problems);
    let means = table.choice("means", MEANINGS, problems);
    if means.is_none() && !table.has("means") {
        let message = format!("No `means`{}", table.within());
        problems.error(table.span(), &message, Some("Add `means = \"ended\"` or another"));
    }
    let found = table.text("match", problems).and_then(|text| pattern(text, problems));
    let unless = table.text("unless", problems).and_then(|text| pattern(text, problems));
    table.finish(problems);
    Some(HookEvent { name: name?.value, means: means?, pattern: found, unless })
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
