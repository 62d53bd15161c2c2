//! What the program brings along, so that it works on a fresh machine.

use std::path::Path;

use super::layer::apply;
use super::settings::{Origin, Settings};
use super::template::built_in_templates;

/// The `wheelhouse.toml` that `wheelhouse config init` writes.
pub const STARTER: &str = include_str!("../../assets/starter.toml");

/// The files, as they lie in `assets/`, with the clis before those that are like them, and before the teams.
const FILES: &[(&str, &str)] = &[
    ("agents/agent.toml", include_str!("../../assets/agents/agent.toml")),
    ("agents/shell.toml", include_str!("../../assets/agents/shell.toml")),
    ("agents/aider.toml", include_str!("../../assets/agents/aider.toml")),
    ("agents/amp.toml", include_str!("../../assets/agents/amp.toml")),
    ("agents/auggie.toml", include_str!("../../assets/agents/auggie.toml")),
    ("agents/claude.toml", include_str!("../../assets/agents/claude.toml")),
    ("agents/codex.toml", include_str!("../../assets/agents/codex.toml")),
    ("agents/continue.toml", include_str!("../../assets/agents/continue.toml")),
    ("agents/copilot.toml", include_str!("../../assets/agents/copilot.toml")),
    ("agents/gemini.toml", include_str!("../../assets/agents/gemini.toml")),
    ("agents/opencode.toml", include_str!("../../assets/agents/opencode.toml")),
    ("agents/kilo.toml", include_str!("../../assets/agents/kilo.toml")),
    ("agents/pi.toml", include_str!("../../assets/agents/pi.toml")),
    ("agents/qwen.toml", include_str!("../../assets/agents/qwen.toml")),
    ("agents/sim.toml", include_str!("../../assets/agents/sim.toml")),
    ("teams/feature.toml", include_str!("../../assets/teams/feature.toml")),
    ("teams/fleet.toml", include_str!("../../assets/teams/fleet.toml")),
    ("teams/pair.toml", include_str!("../../assets/teams/pair.toml")),
    ("teams/review.toml", include_str!("../../assets/teams/review.toml")),
    ("teams/shell.toml", include_str!("../../assets/teams/shell.toml")),
    ("teams/solo.toml", include_str!("../../assets/teams/solo.toml")),
    ("teams/squad.toml", include_str!("../../assets/teams/squad.toml")),
    ("teams/swarm.toml", include_str!("../../assets/teams/swarm.toml")),
];

/// Says whether the program brings this cli along.
pub fn is_built_in_cli(name: &str) -> bool {
    let is_it =
        |file: &str| file.strip_prefix("agents/")?.strip_suffix(".toml").map(|it| it == name);
    FILES.iter().any(|(file, _)| is_it(file) == Some(true))
}

/// Returns the settings that hold where no file says otherwise.
pub(super) fn built_in() -> Settings {
    let mut settings = Settings { templates: built_in_templates(), ..Settings::default() };
    for (name, text) in FILES {
        let found = apply(&mut settings, Path::new(name), text, Origin::BuiltIn);
        debug_assert!(found.errors.is_empty(), "{:?}", found.errors);
    }
    settings
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::Problem;
    use super::*;

    fn applied(text: &str) -> (Settings, Vec<Problem>) {
        let mut settings = built_in();
        let problems = apply(&mut settings, Path::new("file"), text, Origin::User);
        (settings, problems.errors)
    }

    #[test]
    fn every_file_of_the_assets_is_embedded_and_good() {
        let settings = built_in();
        let names: Vec<&str> = settings.clis().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "agent", "aider", "amp", "auggie", "claude", "codex", "continue", "copilot",
                "gemini", "kilo", "opencode", "pi", "qwen", "shell", "sim"
            ]
        );
        assert_eq!(settings.team("shell").unwrap().agents.len(), 2);
        for folder in ["agents", "teams"] {
            for entry in std::fs::read_dir(Path::new("assets").join(folder)).unwrap() {
                let name = format!("{folder}/{}", entry.unwrap().file_name().display());
                assert!(FILES.iter().any(|(file, _)| *file == name), "embed {name}");
            }
        }
    }

    #[test]
    fn every_built_in_pattern_is_a_regular_expression() {
        let mut settings = Settings::default();
        for (name, text) in FILES {
            let found = apply(&mut settings, Path::new(name), text, Origin::User);
            assert_eq!(found.errors, []);
        }
    }

    #[test]
    fn the_starter_is_good_as_it_is_and_without_its_marks() {
        let (settings, errors) = applied(STARTER);
        assert_eq!(errors, []);
        assert_eq!(settings.team("shells").unwrap().agents.len(), 2);
        let (settings, errors) = applied(&uncommented(STARTER));
        assert_eq!(errors, []);
        assert_eq!(settings.team("build").unwrap().agents.len(), 2);
    }

    #[test]
    fn the_example_shows_every_setting_with_its_default() {
        let example = include_str!("../../config.example.toml");
        let (mut settings, errors) = applied(example);
        assert_eq!(errors, []);
        settings.provenance = built_in().provenance;
        assert_eq!(settings, built_in());

        let full = uncommented(example);
        assert_eq!(applied(&full).1, []);
        for (table, keys) in valid_keys() {
            for key in keys {
                let is_shown = match table {
                    "" => {
                        full.contains(&format!("\n[{key}"))
                            || full.contains(&format!("\n[[{key}]]"))
                    }
                    _ => {
                        full.contains(&format!("\n{key} = ")) || full.contains(&format!(".{key}]"))
                    }
                };
                assert!(is_shown || key == "agents", "`{key}` of `{table}` is not in the example");
            }
        }
    }

    #[test]
    fn every_value_stands_in_the_example_with_its_default() {
        let example = include_str!("../../config.example.toml");
        let written: Value = toml::from_str(example).unwrap();
        let all: Value = toml::from_str(&uncommented(example)).unwrap();
        let values = Settings::default().values();
        assert!(values.len() > 30, "{values:?}");
        for (key, default) in values {
            let (table, name) = key.split_once('.').unwrap();
            let shown = &written[table][name];
            let is_nothing = shown.is_null() || *shown == "";
            assert!(*shown == default || (default.is_null() && is_nothing), "{key}: {shown}");
            assert!(!all[table][name].is_null(), "`{key}` is not in the example");
        }
    }

    /// Returns every valid key by the table it stands in, as the hint for an unknown key tells
    /// them.
    fn valid_keys() -> Vec<(&'static str, Vec<String>)> {
        let tables = [
            "",
            "[pane]",
            "[grid]",
            "[stop]",
            "[stuck]",
            "[limit]",
            "[workspace]",
            "[notify]",
            "[reporters]",
            "[env]",
            "[hub]",
            "[log]",
            "[cli.shell]",
            "[cli.shell.screen]",
            "[[approve]]",
            "[[deny]]",
            "[[cli.shell.asks]]",
            "[[cli.shell.rules]]",
            "[[cli.shell.titles]]",
            "[[cli.shell.blocks]]",
            "[cli.shell.keys]",
            "[cli.shell.submit]",
            "[cli.shell.sessions]",
            "[cli.shell.usage]",
            "[cli.shell.hooks]",
            "[[cli.shell.hooks.events]]",
            "[cli.shell.kit]",
            "[cli.shell.kit.allow]",
            "[mcp.x]",
            "[role.worker]",
            "[runner.r]\nkind = 'ssh'\nhost = 'x'",
            "[runner.r]\nkind = 'kubectl'\npod = 'x'",
            "[team.t]",
            "[[team.t.agents]]",
        ];
        let mut found = Vec::new();
        for table in tables {
            let (_, errors) = applied(&format!("{table}\nzzzzzzzzzzzz = 1\n"));
            let unknown = errors.iter().find(|error| error.message.contains("zzzz")).unwrap();
            let hint = unknown.hint.as_ref().unwrap();
            let keys = hint.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            found.push((table, keys));
        }
        found
    }

    /// Returns the text with `#key = …` made `key = …`; prose has a blank after its `#`.
    fn uncommented(text: &str) -> String {
        let line = |line: &str| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with(' ') => format!("{rest}\n"),
            _ => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    }
}
