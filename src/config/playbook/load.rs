//! From what was asked for to a playbook in which nothing is wrong.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::DeTable;

use super::super::problem::{Problems, suggest};
use super::super::reader::parse;
use super::super::source_file::{SourceFile, whole_file};
use super::super::{ConfigError, Hash, Problem, Settings};
use super::embedded::EMBEDDED;
use super::locate::locate;
use super::read::read_playbook;
use crate::playbook::{Finding, Hint, Playbook, check, fill_in};

/// A playbook that is good, with its variables filled in.
#[derive(Debug)]
pub struct LoadedPlaybook {
    pub playbook: Playbook,
    pub vars: BTreeMap<String, String>,
    /// What scripted agents play, where a file of the same name with `.sim` lies beside it.
    pub script: Option<String>,
    /// The SHA-256 of its text.
    pub hash: String,
}

/// Returns the names of the playbooks that the program brings along.
pub fn built_in_playbooks() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// Reads a built-in playbook by its name, or a file: whatever has a slash or ends in `.toml`.
///
/// In a rehearsal scripted agents play, who build nothing: some variables have values for that.
pub fn load_playbook(
    asked: &str,
    directory: &Path,
    given: &BTreeMap<String, String>,
    settings: &Settings,
    is_rehearsal: bool,
) -> Result<LoadedPlaybook, ConfigError> {
    let is_toml = Path::new(asked).extension().is_some_and(|extension| extension == "toml");
    if !asked.contains('/') && !is_toml {
        let Some((name, text)) = EMBEDDED.iter().find(|(name, _)| *name == asked) else {
            let hint = suggest(asked, built_in_playbooks());
            let text =
                format!("No playbook has this name\nhint: {hint} A file needs a `/`: `./{asked}`");
            return Err(failed(vec![whole_file(Path::new(asked), &text)]));
        };
        let path = Path::new("playbooks").join(format!("{name}.toml"));
        return read(&path, text, (given, is_rehearsal), settings);
    }
    let path = directory.join(asked);
    let file = SourceFile::read(&path).map_err(|problem| failed(vec![problem]))?;
    let file = file.ok_or_else(|| failed(vec![whole_file(&path, "It is not there")]))?;
    let script = SourceFile::read(&path.with_extension("sim"));
    let script = script.map_err(|problem| failed(vec![problem]))?.map(|script| script.text);
    Ok(LoadedPlaybook { script, ..read(&path, &file.text, (given, is_rehearsal), settings)? })
}

/// Returns a built-in playbook to look at: a variable without a default is shown by its name.
pub fn preview_playbook(name: &str, settings: &Settings) -> Option<Playbook> {
    let (_, text) = EMBEDDED.iter().find(|(known, _)| *known == name)?;
    let table = DeTable::parse(text).ok()?;
    let mut problems = Problems::new(Path::new(name), text);
    let mut playbook = read_playbook(table.get_ref(), settings, &mut problems)?;
    let _ = fill_in(&mut playbook, &BTreeMap::new());
    Some(playbook)
}

fn read(
    path: &Path,
    text: &str,
    (given, is_rehearsal): (&BTreeMap<String, String>, bool),
    settings: &Settings,
) -> Result<LoadedPlaybook, ConfigError> {
    let mut problems = Problems::new(path, text);
    let table = parse(text, &mut problems);
    let mut found =
        table.as_ref().and_then(|table| read_playbook(table.get_ref(), settings, &mut problems));
    let mut vars = BTreeMap::new();
    if let (Some(playbook), Some(table)) = (&mut found, &table) {
        let mut given = given.clone();
        if is_rehearsal {
            let stand_ins = playbook.rehearsal.clone();
            given = stand_ins.into_iter().chain(given).collect();
        }
        let (values, findings) = fill_in(playbook, &given);
        vars = values;
        let checked = check(playbook, &settings.templates);
        for finding in findings.iter().chain(&checked) {
            tell(finding, table.get_ref(), &mut problems);
        }
    }
    problems.errors.sort_by_key(|problem| (problem.line, problem.column));
    match found {
        Some(playbook) if problems.errors.is_empty() => {
            let hash = Hash::of(text.as_bytes()).to_string();
            Ok(LoadedPlaybook { playbook, vars, script: None, hash })
        }
        Some(_) | None => Err(failed(problems.errors)),
    }
}

fn tell(finding: &Finding, table: &DeTable, problems: &mut Problems) {
    let hint = finding.hint.as_ref().map(|hint| match hint {
        Hint::Say(text) => text.clone(),
        Hint::Nearest { word, known } => suggest(word, known.iter().map(String::as_str)),
    });
    problems.error(&locate(table, &finding.place), &finding.message, hint.as_deref());
}

fn failed(problems: Vec<Problem>) -> ConfigError {
    ConfigError { problems, warnings: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::super::builtin::built_in;
    use super::*;
    use crate::model::Pattern;
    use crate::playbook::Plan;
    use crate::sim::Script;

    /// Returns all that is wrong with a playbook that begins with a sound head.
    fn errors(pattern: &str, rest: &str) -> String {
        let text = format!(
            "[playbook]\nname = 'p'\npurpose = 'x'\npattern = '{pattern}'\n\
             [[agents]]\nname = 'a'\ncli = 'shell'\ncapabilities = ['rust']\nowns = ['src/**']\n\
             [[agents]]\nname = 'b'\ncli = 'shell'\n{rest}"
        );
        let read = read(Path::new("p.toml"), &text, (&BTreeMap::new(), false), &built_in());
        let told = read.err().map(|error| error.problems).unwrap_or_default();
        told.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_playbook_of_the_assets_is_embedded_and_good() {
        let settings = built_in();
        for entry in fs::read_dir("assets/playbooks").unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(built_in_playbooks().any(|known| known == name), "embed {name}");
        }
        assert_eq!(EMBEDDED.len(), 6);
        for (name, text) in EMBEDDED {
            let table = DeTable::parse(text).unwrap();
            let mut problems = Problems::new(Path::new(name), text);
            let raw = read_playbook(table.get_ref(), &settings, &mut problems).unwrap();
            let given = raw.vars.into_iter().filter(|(_, var)| var.default.is_none());
            let given = given.map(|(name, _)| (name, "docs/x.md".to_owned())).collect();
            let loaded = load_playbook(name, Path::new("/"), &given, &settings, true);
            let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(loaded.playbook.name, *name);
            let plan = Plan::of(&loaded.playbook, loaded.vars, &settings.templates).unwrap();
            let told: usize = plan.waves.iter().map(Vec::len).sum();
            assert_eq!(told, plan.tasks.len());
            for (agent, script) in plan.with_sim(&loaded.playbook, None).scripts.unwrap() {
                Script::parse(&script).unwrap_or_else(|error| panic!("{name}, {agent}: {error}"));
            }
        }
    }

    #[test]
    fn the_built_in_ones_show_every_pattern() {
        use Pattern::{Chain, Hub, Mesh, Pipeline, Swarm};
        for pattern in [Hub, Pipeline, Swarm, Chain, Mesh] {
            let line = format!("\npattern = \"{pattern}\"");
            assert!(EMBEDDED.iter().any(|(_, text)| text.contains(&line)), "{pattern}");
        }
    }

    #[test]
    fn unknown_keys_and_wrong_values_are_told() {
        insta::assert_snapshot!(errors("hubb", "[[tasks]]\nid = 'x'\ntitel = 'x'\ntime_limit = 'soon'\n\
            on_failure = 'skp'\nowns = ['../x']\n[[tasks.artifacts]]\npath = '/etc/x'\nformt = 'json'\n\
            regex = '('\n[vars.a-b]\nwhat = 'x'\nrequired = true\n"), @r#"
        p.toml:4:11: Unknown pattern `hubb` in `[playbook]`
        hint: Did you mean `hub`?
        p.toml:13:1: No `title` in `[[tasks]]`
        hint: Add `title = "…"`
        p.toml:15:1: Unknown key `titel` in `[[tasks]]`
        hint: Did you mean `title`?
        p.toml:16:14: `soon` is not a time: expected number at 0
        hint: Write `45m` or `1h 30m`
        p.toml:17:14: Unknown on_failure `skp` in `[[tasks]]`
        hint: Did you mean `skip`?
        p.toml:18:9: `../x` is not in the project
        hint: Write a path or pattern relative to the project, such as `src/api/**`
        p.toml:21:1: Unknown key `formt` in `[[tasks.artifacts]]`
        hint: Did you mean `format`?
        p.toml:22:9: Not a regular expression: unclosed group
        hint: See https://docs.rs/regex/#syntax
        p.toml:23:7: `a-b` cannot name a variable
        hint: Use letters, digits and `_`
        p.toml:25:1: Unknown key `required` in `[vars.a-b]`
        hint: Use one of `default`, `rehearsal`, `what`
        "#);
        let empty =
            read(Path::new("p.toml"), "", (&BTreeMap::new(), false), &built_in()).unwrap_err();
        insta::assert_snapshot!(empty, @r#"
        error: p.toml:1:1: No `[playbook]`
        hint: Add it, with `name`, `purpose` and `pattern`
        "#);
    }

    #[test]
    fn what_cannot_be_run_is_told() {
        insta::assert_snapshot!(errors("hub", "[[tasks]]\nid = 'x'\ntitle = 'x'\nneeds = ['z']\nagent = 'a'\n\
            [[tasks]]\nid = 'y'\ntitle = 'y'\nneeds = ['x', 'w']\nagent = 'c'\n\
            [[tasks]]\nid = 'z'\ntitle = 'z {{ name }}'\nneeds = ['y']\nrequires = ['rst']\ntakes = ['plan.md']\n\
            [[tasks]]\nid = 'v'\ntitle = 'v'\nagent = 'b'\nowns = ['src/api/**']\nverifiers = 1\n\
            template = 'testr'\n\
            [[tasks]]\nid = 'u'\ntitle = 'u'\nagent = 'b'\ntemplate = 're-dispatch'\nvars = { eror = 'x' }\n"), @r#"
        p.toml:16:9: These tasks wait for each other: x → z → y → x
        hint: Take one of these `needs` out
        p.toml:21:15: No task is named `w`
        hint: Did you mean `u`?
        p.toml:22:9: No agent is named `c`
        hint: Did you mean `a`?
        p.toml:25:9: The playbook has no variable `name`
        p.toml:27:13: No agent can do `rst`
        hint: Did you mean `rust`?
        p.toml:28:10: No task makes `plan.md`
        p.toml:33:9: `x` and `v` may run at once, and both own `src/api/**` (`src/**`)
        hint: Put them in order with `needs = ["x"]`, or split the paths
        p.toml:34:13: `v` asks for 1 verifiers, and there are 0
        hint: Add agents with `role = "verifier"`, or ask for fewer
        p.toml:35:12: Unknown template `testr`
        hint: Did you mean `tester`?
        p.toml:40:12: The template `re-dispatch` needs the variable `error`: the error that came again and again
        hint: Add `vars = { error = "…" }`
        p.toml:41:17: The template `re-dispatch` has no variable `eror`
        hint: Did you mean `error`?
        "#);
    }

    #[test]
    fn contracts_are_held_against_their_examples() {
        insta::assert_snapshot!(errors("hub", "[[tasks]]\nid = 'x'\ntitle = 'x'\nagent = 'a'\non_failure = 'reduce'\n\
            [[tasks.artifacts]]\npath = 'src/a.json'\nformat = 'json'\nexample = '{'\nschema = '[]'\n\
            [[tasks.artifacts]]\npath = '../b'\nregex = '^b'\nexample = 'a'\n\
            [[tasks]]\nid = 'y'\ntitle = 'y'\nagent = 'a'\ntakes = ['src/a.json']\nprompt = 'STATUS: DONE — all'\n\
            [[tasks.artifacts]]\npath = 'src/a.json'\n"), @r#"
        p.toml:17:14: `x` is reduced on failure and does not say to what, or the reverse
        hint: Write `on_failure = "reduce"` together with `reduced = "what is left"`
        p.toml:21:11: The example of `src/a.json` is not JSON
        hint: Mend it, or change `format`
        p.toml:22:10: The schema of `src/a.json` is no JSON object, or not of a JSON file
        hint: Write a JSON schema as text, and `format = "json"`
        p.toml:24:8: `../b` is not in the project
        hint: Write a path relative to the project, such as `docs/plan.md`
        p.toml:26:11: The example of `../b` does not match its own `regex`
        hint: Make one fit the other
        p.toml:31:10: `x` makes `src/a.json`, and need not be done before
        hint: Add `needs = ["x"]`
        p.toml:32:10: The prompt has a line that reads as a report: `STATUS: DONE — all`
        hint: Say it in other words: agents' terminals show the prompt, too
        p.toml:34:8: `x` makes `src/a.json` already
        hint: Give each task a file of its own
        "#);
    }

    #[test]
    fn each_pattern_has_its_own_rules() {
        insta::assert_snapshot!(errors("swarm", "[[tasks]]\nid = 'x'\ntitle = 'x'\nagent = 'a'\nlocks = ['l']\n\
            [[stages]]\nname = 's'\n"), @r#"
        p.toml:16:9: `x` names its agent, and whoever is free takes a swarm's
        hint: Use `requires` or `role` instead
        p.toml:17:10: Unknown lock `l`
        p.toml:18:1: No tasks in `[[stages]]`
        hint: Add `[[stages.tasks]]` below it
        p.toml:18:1: `stages` belong to a pipeline, and this is a swarm
        hint: Take them out, or use `pattern = "pipeline"`
        "#);
        insta::assert_snapshot!(errors("pipeline", "[[tasks]]\nid = 'x'\ntitle = 'x'\nagent = 'a'\n"), @r#"
        p.toml:4:11: A pipeline has `stages`, and this one has none
        hint: Add `[[stages]]`, or use another `pattern`
        p.toml:13:1: The task `x` is in no stage
        hint: Write it as `[[stages.tasks]]` below its stage
        "#);
        insta::assert_snapshot!(errors("chain", "[[teams]]\nname = 'one'\nlead = 'a'\nmembers = []\n\
            [[teams]]\nname = 'two'\nlead = 'b'\nmembers = ['a', 'c']\n\
            [[tasks]]\nid = 'x'\ntitle = 'x'\nagent = 'a'\n\
            [[tasks]]\nid = 'y'\ntitle = 'y'\nagent = 'b'\nneeds = ['x']\n"), @r#"
        p.toml:15:8: `a` leads `one`, and has another role
        hint: Give it `role = "lead"`
        p.toml:19:8: `b` leads `two`, and has another role
        hint: Give it `role = "lead"`
        p.toml:20:12: `a` is in two teams
        hint: Keep it in one of them
        p.toml:20:17: No agent is named `c`
        hint: Did you mean `a`?
        p.toml:29:9: `y` needs `x` of another team, past the leads
        hint: Let a lead's task take it over, and need that one
        "#);
    }

    #[test]
    fn agents_that_may_run_at_once_own_different_paths() {
        let tasks = "[[tasks]]\nid = 'x'\ntitle = 'x'\nagent = 'a'\nLOCK\n\
            [[tasks]]\nid = 'y'\ntitle = 'y'\nagent = 'b'\nowns = ['src/api/mod.rs']\nLOCK\nNEED\n";
        let without = tasks.replace("LOCK", "");
        let told = errors("hub", &without.replace("NEED", ""));
        let expected = "`x` and `y` may run at once, and both own `src/api/mod.rs` (`src/**`)";
        assert!(told.contains(&format!("p.toml:22:9: {expected}")), "{told}");
        assert_eq!(errors("hub", &without.replace("NEED", "needs = ['x']")), "");
        let locked = tasks.replace("LOCK", "locks = ['l']").replace("NEED", "");
        assert_eq!(errors("mesh", &format!("{locked}[[locks]]\nname = 'l'\n")), "");
    }

    #[test]
    fn a_variable_without_a_value_and_a_value_without_a_variable_are_told() {
        let given = [("featur".to_owned(), "x".to_owned())].into();
        let error = load_playbook("feature-build", Path::new("/"), &given, &built_in(), false);
        insta::assert_snapshot!(error.unwrap_err(), @r#"
        error: playbooks/feature-build.toml:12:1: The variable `feature` has no value: the feature, in one sentence
        hint: Add `--var feature='…'`
        error: playbooks/feature-build.toml:12:2: The playbook has no variable `featur`
        hint: Did you mean `feature`?
        "#);
    }

    #[test]
    fn a_file_is_read_with_the_script_beside_it() {
        let world = tempfile::tempdir().unwrap();
        let text = EMBEDDED.iter().find(|(name, _)| *name == "content-sprint").unwrap().1;
        fs::write(world.path().join("own.toml"), text).unwrap();
        fs::write(world.path().join("own.sim"), "on prompt\n  stop\n").unwrap();
        let given = [("subject".to_owned(), "x".to_owned())].into();
        let loaded = load_playbook("./own.toml", world.path(), &given, &built_in(), false).unwrap();
        assert_eq!(loaded.script.as_deref(), Some("on prompt\n  stop\n"));
        let plan = Plan::of(&loaded.playbook, loaded.vars, &built_in().templates).unwrap();
        let scripts = plan.with_sim(&loaded.playbook, loaded.script.as_deref()).scripts.unwrap();
        assert_eq!(scripts["editor"], "on prompt\n  stop\n");
        assert!(load_playbook("none.toml", world.path(), &given, &built_in(), false).is_err());
    }
}
