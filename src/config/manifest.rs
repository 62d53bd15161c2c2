//! Reads how a cli shows what it does: the tables below `[cli.NAME]`.

use std::mem;

use regex::Regex;
use serde::Deserialize;

use crate::model::{AskRule, BlockRule, Manifest, Rule, TitleRule, Usage};

use super::problem::Problems;
use super::reader::Reader;
use super::sections::{Section, fields_of};

/// A cli with more is not written by hand, and every look at its screen would pay for it.
const RULES_MAX: usize = 128;
/// What a pattern may cost once it is compiled.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// The signs by which a cli's screen is read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SignsTable {
    rules: Vec<Rule>,
    titles: Vec<TitleRule>,
    blocks: Vec<BlockRule>,
    asks: Vec<AskRule>,
    usage: Option<Usage>,
}

/// Changes what the table names. A rule or block of a known name takes the place of that one; a
/// new one goes before the others, so that it wins.
pub(super) fn apply(manifest: &mut Manifest, table: &mut Reader, problems: &mut Problems) {
    let is_general = manifest.screen.is_general;
    let sections: [(&str, &mut dyn Section); 3] = [
        ("screen", &mut manifest.screen),
        ("keys", &mut manifest.keys),
        ("sessions", &mut manifest.sessions),
    ];
    for (name, section) in sections {
        if let Some(table) = table.table(name, problems) {
            section.apply(table, problems);
        }
    }
    manifest.screen.is_general = is_general;
    if let Some(mut table) = table.table("submit", problems) {
        let below = mem::take(&mut manifest.submit.literal);
        let literal = table.part_over(&fields_of(&below), problems);
        manifest.submit.apply(table, problems);
        manifest.submit.literal = literal.unwrap_or(below);
    }
    let tries_patterns = problems.tries_patterns;
    for list in ["rules", "titles", "blocks", "asks"] {
        let count = table.length(list);
        if count > RULES_MAX {
            let message = format!("{count} {list}{} are too many", table.within());
            problems.error(table.span(), &message, Some(&format!("Keep at most {RULES_MAX}")));
            problems.tries_patterns = false;
        }
    }
    let signs: SignsTable = table.part(problems).unwrap_or_default();
    problems.tries_patterns = tries_patterns;
    place(&mut manifest.rules, signs.rules, |rule| &rule.name);
    place(&mut manifest.blocks, signs.blocks, |block| &block.name);
    place(&mut manifest.asks, signs.asks, |ask| &ask.name);
    if !signs.titles.is_empty() {
        manifest.titles = signs.titles;
    }
    if let Some(usage) = signs.usage {
        if !usage.pattern.contains("(?P<tokens>") && !usage.pattern.contains("(?<tokens>") {
            let span = table.span_of_inner("usage", "match");
            let hint = "Name it: `(?P<tokens>[0-9.]+k?) tokens`";
            problems.error(&span, "The pattern has no group `tokens`", Some(hint));
        }
        manifest.usage = Some(usage);
    }
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

/// Says what is wrong with a pattern, if it is no regular expression.
pub(super) fn try_pattern(text: &str) -> Result<(), String> {
    let built = regex::RegexBuilder::new(text).size_limit(PATTERN_BYTES_MAX).build();
    built.map(|_: Regex| ()).map_err(|error| {
        let error = error.to_string();
        let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("Not a regular expression: {why}\nhint: See https://docs.rs/regex/#syntax")
    })
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
