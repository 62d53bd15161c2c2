//! Reads how a cli shows what it does: the tables below `[cli.NAME]`.

use regex::Regex;

use crate::model::{
    AgentState, AskRule, BlockKind, BlockRule, DialogKind, Key, Manifest, Newlines, Per, Region,
    Rule, Submit, TitleRule, Usage,
};

use super::problem::Problems;
use super::reader::{Located, Reader};

/// A cli with more is not written by hand, and every look at its screen would pay for it.
const RULES_MAX: usize = 128;
/// What a pattern may cost once it is compiled.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Nobody waits longer to be told that an agent is idle.
const MILLISECONDS_MAX: u32 = 60_000;

const STATES: &[AgentState] = &[
    AgentState::Idle,
    AgentState::Working,
    AgentState::Waiting,
    AgentState::Done,
    AgentState::Error,
    AgentState::Limited,
    AgentState::Starting,
    AgentState::Unknown,
];
const REGIONS: &[Region] =
    &[Region::Bottom, Region::Footer, Region::Under, Region::Tail, Region::Cursor];
const DIALOGS: &[DialogKind] =
    &[DialogKind::Approval, DialogKind::Question, DialogKind::Trust, DialogKind::Login];
const NEWLINES: &[Newlines] = &[Newlines::Refuse, Newlines::Keep, Newlines::Lines];
const BLOCKS: &[BlockKind] = &[BlockKind::Own, BlockKind::Echo, BlockKind::Tool, BlockKind::Chrome];

/// Changes what the table names. A rule or block of a known name takes the place of that one; a
/// new one goes before the others, so that it wins.
pub(super) fn apply(manifest: &mut Manifest, table: &mut Reader, problems: &mut Problems) {
    if let Some(screen) = table.table("screen", problems) {
        apply_screen(manifest, screen, problems);
    }
    let rules = bounded(table.listed_tables("rules", problems), table, problems);
    let rules = rules.into_iter().filter_map(|rule| read_rule(rule, problems));
    place(&mut manifest.rules, rules.collect(), |rule| &rule.name);
    let titles = bounded(table.listed_tables("titles", problems), table, problems);
    let titles: Vec<TitleRule> =
        titles.into_iter().filter_map(|title| read_title(title, problems)).collect();
    if !titles.is_empty() {
        manifest.titles = titles;
    }
    let blocks = bounded(table.listed_tables("blocks", problems), table, problems);
    let blocks = blocks.into_iter().filter_map(|block| read_block(block, problems));
    place(&mut manifest.blocks, blocks.collect(), |block| &block.name);
    let asks = bounded(table.listed_tables("asks", problems), table, problems);
    let asks = asks.into_iter().filter_map(|ask| read_ask(ask, problems));
    place(&mut manifest.asks, asks.collect(), |ask| &ask.name);
    if let Some(keys) = table.table("keys", problems) {
        apply_keys(manifest, keys, problems);
    }
    if let Some(submit) = table.table("submit", problems) {
        apply_submit(&mut manifest.submit, submit, problems);
    }
    if let Some(mut sessions) = table.table("sessions", problems) {
        set(&mut manifest.sessions.start, words(&mut sessions, "start", problems));
        set(&mut manifest.sessions.resume, words(&mut sessions, "resume", problems));
        set(&mut manifest.sessions.resume_latest, words(&mut sessions, "resume_latest", problems));
        sessions.finish(problems);
    }
    if let Some(usage) = table.table("usage", problems) {
        apply_usage(manifest, usage, problems);
    }
}

fn apply_usage(manifest: &mut Manifest, mut table: Reader, problems: &mut Problems) {
    let span = table.span_of("match");
    let found = table.required_text("match", problems).and_then(|text| pattern(text, problems));
    let region = table.choice("region", REGIONS, problems).unwrap_or_default();
    let per = table.choice("per", &[Per::Turn, Per::Conversation], problems).unwrap_or_default();
    table.finish(problems);
    let Some(pattern) = found else { return };
    if !pattern.contains("(?P<tokens>") && !pattern.contains("(?<tokens>") {
        let hint = "Name it: `(?P<tokens>[0-9.]+k?) tokens`";
        problems.error(&span, "The pattern has no group `tokens`", Some(hint));
    }
    manifest.usage = Some(Usage { region, pattern, per });
}

fn apply_screen(manifest: &mut Manifest, mut table: Reader, problems: &mut Problems) {
    let screen = &mut manifest.screen;
    let patterns = [
        ("banner", &mut screen.banner),
        ("composer", &mut screen.composer),
        ("message_row", &mut screen.message_row),
        ("compacted", &mut screen.compacted),
        ("option", &mut screen.option),
    ];
    for (key, slot) in patterns {
        if let Some(pattern) = table.text(key, problems).and_then(|text| pattern(text, problems)) {
            *slot = Some(pattern);
        }
    }
    set(&mut screen.echo_is_shaded, table.switch("echo_is_shaded", problems));
    set(&mut screen.code_is_colored, table.switch("code_is_colored", problems));
    set(&mut screen.selected_is_shaded, table.switch("selected_is_shaded", problems));
    set(&mut screen.output_means_working, table.switch("output_means_working", problems));
    if let Some(rest) = table.choice("rest", BLOCKS, problems) {
        screen.rest = Some(rest);
    }
    if let Some(settle) = table.number("settle_ms", 0..=MILLISECONDS_MAX, problems) {
        screen.settle_ms = Some(settle);
    }
    table.finish(problems);
}

fn apply_submit(submit: &mut Submit, mut table: Reader, problems: &mut Problems) {
    set(&mut submit.quiet_ms, table.number("quiet_ms", 0..=MILLISECONDS_MAX, problems));
    let key = table.text("key", problems).and_then(|key| key_name(key, problems));
    set(&mut submit.key, key);
    let placeholder = table.text("placeholder", problems);
    if let Some(placeholder) = placeholder.and_then(|text| pattern(text, problems)) {
        submit.placeholder = Some(placeholder);
    }
    set(&mut submit.newlines, table.choice("newlines", NEWLINES, problems));
    set(&mut submit.paste, table.switch("paste", problems));
    table.finish(problems);
}

fn apply_keys(manifest: &mut Manifest, mut table: Reader, problems: &mut Problems) {
    let keys = &mut manifest.keys;
    let slots = [
        ("approve", &mut keys.approve),
        ("deny", &mut keys.deny),
        ("interrupt", &mut keys.interrupt),
        ("clear", &mut keys.clear),
        ("exit", &mut keys.exit),
    ];
    for (name, slot) in slots {
        if let Some(names) = table.texts(name, problems) {
            *slot = names.value.into_iter().filter_map(|key| key_name(key, problems)).collect();
        }
    }
    set(&mut keys.digits, table.switch("digits", problems));
    table.finish(problems);
}

fn read_rule(mut table: Reader, problems: &mut Problems) -> Option<Rule> {
    let name = table.required_text("name", problems);
    let state = table.choice("state", STATES, problems);
    if state.is_none() && !table.has("state") {
        let message = format!("No `state`{}", table.within());
        problems.error(table.span(), &message, Some("Add `state = \"working\"` or another"));
    }
    let kind = table.choice("kind", DIALOGS, problems);
    let region = table.choice("region", REGIONS, problems).unwrap_or_default();
    let found = table.required_text("match", problems).and_then(|text| pattern(text, problems));
    let unless = table.text("unless", problems).and_then(|text| pattern(text, problems));
    table.finish(problems);
    Some(Rule { name: name?.value, state: state?, kind, region, pattern: found?, unless })
}

fn read_title(mut table: Reader, problems: &mut Problems) -> Option<TitleRule> {
    let state = table.choice("state", STATES, problems);
    let found = table.required_text("match", problems).and_then(|text| pattern(text, problems));
    table.finish(problems);
    Some(TitleRule { state: state?, pattern: found? })
}

fn read_block(mut table: Reader, problems: &mut Problems) -> Option<BlockRule> {
    let name = table.required_text("name", problems);
    let kind = table.choice("kind", BLOCKS, problems);
    let found = table.required_text("match", problems).and_then(|text| pattern(text, problems));
    let single = table.switch("single", problems).unwrap_or_default();
    table.finish(problems);
    Some(BlockRule { name: name?.value, kind: kind?, pattern: found?, single })
}

fn read_ask(mut table: Reader, problems: &mut Problems) -> Option<AskRule> {
    let name = table.required_text("name", problems);
    let found = table.required_text("match", problems).and_then(|text| pattern(text, problems));
    let yes = table.required_text("yes", problems).and_then(|text| pattern(text, problems));
    table.finish(problems);
    Some(AskRule { name: name?.value, pattern: found?, yes: yes? })
}

/// Puts each item where its namesake is, and the others first, in their order.
pub(super) fn place<T>(list: &mut Vec<T>, items: Vec<T>, name: impl Fn(&T) -> &String) {
    let mut first = 0;
    for item in items {
        if let Some(at) = list.iter().position(|known| name(known) == name(&item)) {
            list[at] = item;
        } else {
            list.insert(first, item);
            first += 1;
        }
    }
}

pub(super) fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

pub(super) fn words(
    table: &mut Reader,
    key: &'static str,
    problems: &mut Problems,
) -> Option<Vec<String>> {
    let words = table.texts(key, problems)?;
    Some(words.value.into_iter().map(|word| word.value).collect())
}

fn bounded<'t>(
    mut tables: Vec<Reader<'t>>,
    table: &Reader,
    problems: &mut Problems,
) -> Vec<Reader<'t>> {
    if tables.len() > RULES_MAX {
        let message = format!("{} rules{} are too many", tables.len(), table.within());
        problems.error(table.span(), &message, Some(&format!("Keep at most {RULES_MAX}")));
        tables.truncate(RULES_MAX);
    }
    tables
}

/// Returns the pattern if it is a regular expression.
pub(super) fn pattern(text: Located<String>, problems: &mut Problems) -> Option<String> {
    if !problems.tries_patterns {
        return Some(text.value);
    }
    let built = regex::RegexBuilder::new(&text.value).size_limit(PATTERN_BYTES_MAX).build();
    match built.map(|_: Regex| ()) {
        Ok(()) => Some(text.value),
        Err(error) => {
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let message = format!("Not a regular expression: {why}");
            problems.error(&text.span, &message, Some("See https://docs.rs/regex/#syntax"));
            None
        }
    }
}

fn key_name(text: Located<String>, problems: &mut Problems) -> Option<String> {
    match text.value.parse::<Key>() {
        Ok(_) => Some(text.value),
        Err(error) => {
            problems.error(&text.span, &error.to_string(), None);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::layer::apply;
    use super::super::settings::{Origin, Settings};

    const BASE: &str = "[cli.shell]\ncommand = ['sh']\n[[cli.shell.rules]]\nname = 'one'\n\
        state = 'idle'\nmatch = 'a'\n[[cli.shell.rules]]\nname = 'two'\nstate = 'idle'\nmatch = 'b'\n";

    fn applied(text: &str) -> (Settings, String) {
        let mut settings = Settings::default();
        let file = Path::new("f.toml");
        assert_eq!(apply(&mut settings, file, BASE, Origin::BuiltIn).errors, []);
        let found = apply(&mut settings, file, text, Origin::User);
        let errors: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        (settings, errors.join("\n"))
    }

    fn names(settings: &Settings, cli: &str) -> Vec<String> {
        let rules = &settings.cli(cli).unwrap().manifest.rules;
        rules.iter().map(|rule| format!("{} {}", rule.name, rule.pattern)).collect()
    }

    #[test]
    fn a_rule_of_a_known_name_takes_its_place_and_a_new_one_goes_first() {
        let text = "[[cli.shell.rules]]\nname = 'two'\nstate = 'working'\nmatch = 'c'\n\
            [[cli.shell.rules]]\nname = 'three'\nstate = 'idle'\nmatch = 'd'\n";
        let (settings, errors) = applied(text);
        assert_eq!(errors, "");
        assert_eq!(names(&settings, "shell"), ["three d", "one a", "two c"]);
    }

    #[test]
    fn a_new_cli_has_the_rules_of_any_program_or_of_the_one_it_is_like() {
        let (settings, errors) = applied("[cli.own]\ncommand = ['x']\n");
        assert_eq!((errors.as_str(), names(&settings, "own").len()), ("", 2));
        let (_, errors) = applied("[cli.own]\ncommand = ['x']\nlike = 'shel'\n");
        assert!(errors.contains("f.toml:3:8: Unknown cli `shel`"), "{errors}");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let text = "[[cli.shell.rules]]\nname = 'x'\nstate = 'wroking'\nmatch = 'a('\nfoo = 1\n\
            [cli.shell.keys]\napprove = ['entr']\n[[cli.shell.rules]]\nmatch = 'a'\n";
        let (_, errors) = applied(text);
        for part in [
            "f.toml:3:9: Unknown state `wroking`",
            "f.toml:4:9: Not a regular expression: unclosed group",
            "f.toml:5:1: Unknown key `foo`",
            "f.toml:7:12: `entr` is not a key",
            "No `name` in `[[cli.shell.rules]]`",
            "No `state` in `[[cli.shell.rules]]`",
        ] {
            assert!(errors.contains(part), "{part} in\n{errors}");
        }
    }
}
