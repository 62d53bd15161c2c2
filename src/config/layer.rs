//! Lays one file over the settings below it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::model::Manifest;

use super::approvals;
use super::kit::{read_kit, read_server};
use super::problem::{Problems, suggest};
use super::reader::{Reader, parse};
use super::runner::{LOCAL, read_runner};
use super::settings::{Origin, Settings};
use super::team::{Known, ROLES, read_team, well_named};

/// The cli whose rules hold for a program that has none of its own.
const ANY_PROGRAM: &str = "shell";
/// What a cli is like of whose screen no rule knows anything.
const ANY: &str = "any";
/// A hand-written file never has more.
const CLIS_MAX: usize = 256;
/// Changes the settings as the text says, and returns all that is wrong with it.
pub(super) fn apply<'t>(
    settings: &mut Settings,
    file: &'t Path,
    text: &'t str,
    origin: Origin,
) -> Problems<'t> {
    let mut problems = Problems::new(file, text);
    // A test tries those of the program itself, once for everyone.
    problems.tries_patterns = origin != Origin::BuiltIn;
    if let Some(table) = parse(text, &mut problems) {
        let mut layer = Layer { settings, found: Vec::new(), problems: &mut problems };
        let mut file = Reader::of_file(table.get_ref());
        layer.sections(&mut file);
        layer.clis(&mut file);
        layer.servers(&mut file);
        layer.roles(&mut file);
        layer.runners(&mut file);
        layer.teams(&mut file);
        layer.approvals(&mut file);
        let found = layer.found.into_iter().map(|key| (key, origin));
        settings.provenance.extend(found);
        file.finish(&mut problems);
    }
    problems.errors.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

/// The keys of the dashboard, by action.
#[derive(Default, Deserialize)]
struct KeysTable {
    #[serde(default)]
    keys: BTreeMap<String, String>,
}

/// The cli whose screen another one's looks like.
#[derive(Deserialize)]
struct LikeTable {
    like: Option<Spanned<String>>,
}

struct Layer<'s, 'p, 't> {
    settings: &'s mut Settings,
    /// The keys that the file sets.
    found: Vec<String>,
    problems: &'p mut Problems<'t>,
}

impl Layer<'_, '_, '_> {
    /// Reads the tables of plain values.
    fn sections(&mut self, file: &mut Reader) {
        for (name, section) in self.settings.sections_mut() {
            if let Some(table) = file.table(name, self.problems) {
                let keys = section.apply(table, self.problems);
                self.found.extend(keys.into_iter().map(|key| format!("{name}.{key}")));
            }
        }
        // Each key on its own: a project that moves one leaves the others as their user wants them.
        let KeysTable { keys } = file.part(self.problems).unwrap_or_default();
        self.found.extend(keys.keys().map(|action| format!("keys.{action}")));
        self.settings.keys.extend(keys);
    }

    fn clis(&mut self, file: &mut Reader) {
        let tables = file.named_tables("cli", self.problems);
        if tables.len() > CLIS_MAX {
            let message = format!("{} clis are too many", tables.len());
            let hint = format!("Keep at most {CLIS_MAX}");
            self.problems.error(&file.span_of("cli"), &message, Some(&hint));
        }
        for (name, mut table) in tables.into_iter().take(CLIS_MAX) {
            if well_named("cli", &name, self.problems) {
                self.came(&format!("cli.{}", name.get_ref()));
                let like = self.like(&mut table, name.get_ref());
                let cli = self.settings.clis.entry(name.into_inner()).or_default();
                if let Some(manifest) = like {
                    cli.manifest = manifest;
                }
                cli.apply(table, self.problems);
            }
        }
    }

    /// Returns what a cli's screen means before its own rules: what the cli that it is like has,
    /// and for a new one what any program has.
    fn like(&mut self, table: &mut Reader, name: &str) -> Option<Manifest> {
        let clis = &self.settings.clis;
        let Some(like) = table.part::<LikeTable>(self.problems).and_then(|table| table.like) else {
            let is_new = self.problems.tries_patterns && !clis.contains_key(name);
            return clis
                .get(ANY_PROGRAM)
                .filter(|_| is_new)
                .map(|cli| cli.manifest.clone().general());
        };
        if like.get_ref() == ANY && !clis.contains_key(ANY) {
            return clis.get(ANY_PROGRAM).map(|cli| cli.manifest.clone().general());
        }
        let known = clis.get(like.get_ref()).map(|cli| cli.manifest.clone());
        if known.is_none() {
            let message = format!("Unknown cli `{}`{}", like.get_ref(), table.within());
            let hint = suggest(like.get_ref(), clis.keys().map(String::as_str));
            self.problems.error(&like.span(), &message, Some(&hint));
        }
        known
    }

    fn servers(&mut self, file: &mut Reader) {
        for (name, table) in file.named_tables("mcp", self.problems) {
            if let Some(server) = read_server(&name, table, self.problems) {
                self.came(&format!("mcp.{}", name.get_ref()));
                self.settings.servers.insert(name.into_inner(), server);
            }
        }
    }

    fn runners(&mut self, file: &mut Reader) {
        for (name, table) in file.named_tables("runner", self.problems) {
            if name.get_ref() == LOCAL {
                let message = "The runner `local` is this machine";
                self.problems.error(&name.span(), message, Some("Give it another name"));
            } else if well_named("runner", &name, self.problems)
                && let Some(runner) = read_runner(name.get_ref(), table, self.problems)
            {
                self.came(&format!("runner.{}", name.get_ref()));
                self.settings.runners.insert(name.into_inner(), runner);
            }
        }
    }

    fn roles(&mut self, file: &mut Reader) {
        for (name, mut table) in file.named_tables("role", self.problems) {
            let roles: Vec<String> = ROLES.iter().map(ToString::to_string).collect();
            if !roles.contains(name.get_ref()) {
                let hint = suggest(name.get_ref(), roles.iter().map(String::as_str));
                let message = format!("Unknown role `{}`", name.get_ref());
                self.problems.error(&name.span(), &message, Some(&hint));
            }
            let kit = read_kit(&mut table, &self.settings.servers, self.problems);
            table.finish(self.problems);
            self.came(&format!("role.{}", name.get_ref()));
            self.settings.roles.insert(name.into_inner(), kit);
        }
    }

    fn teams(&mut self, file: &mut Reader) {
        for (name, table) in file.named_tables("team", self.problems) {
            if well_named("team", &name, self.problems) {
                self.came(&format!("team.{}", name.get_ref()));
                let team =
                    read_team(name.get_ref(), table, Known::of(self.settings), self.problems);
                self.settings.teams.insert(name.into_inner(), team);
            }
        }
    }

    /// Adds the file's rules to those of the files before it.
    fn approvals(&mut self, file: &mut Reader) {
        let found = approvals::read(file, self.problems);
        self.settings.approvals.approve.extend(found.approve);
        self.settings.approvals.deny.extend(found.deny);
    }

    fn came(&mut self, key: &str) {
        self.found.push(key.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Layout;
    use super::super::builtin::built_in;
    use super::*;
    use crate::model::Role;
    use crate::template::Prompt;

    /// Returns the settings after the text, and what is wrong with it.
    fn applied(text: &str) -> (Settings, String, String) {
        let mut settings = built_in();
        let problems = apply(&mut settings, Path::new("w.toml"), text, Origin::Project);
        let shown = |list: &[super::super::Problem]| {
            list.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        (settings, shown(&problems.errors), shown(&problems.warnings))
    }

    fn errors(text: &str) -> String {
        applied(text).1
    }

    #[test]
    fn the_documented_form_is_read() {
        let (settings, errors, warnings) = applied(
            r#"
            [pane]
            scrollback = 500
            [cli.counter]
            command = ["bash", "-c", "echo"]
            [team.numbers]
            layout = "columns"
            [[team.numbers.agents]]
            name = "one"
            cli = "counter"
            role = "lead"
            prompt = "go"
            cwd = "sub"
            env = { KEY = "value" }
            owns = ["src/api/**"]
            capabilities = ["rust", "web"]
            workspace = "shared"
            runner = "local"
            "#,
        );
        assert_eq!(errors, "");
        assert_eq!(warnings, "");
        assert_eq!((settings.pane.scrollback, settings.pane.min_cols), (500, 80));
        assert_eq!(settings.origin("pane.scrollback"), Origin::Project);
        assert_eq!(settings.origin("pane.min_cols"), Origin::BuiltIn);
        assert_eq!(settings.cli("counter").unwrap().command, ["bash", "-c", "echo"]);
        let team = settings.team("numbers").unwrap();
        assert_eq!(team.layout, Layout::Columns);
        let agent = &team.agents[0];
        assert_eq!((agent.name.as_str(), agent.role), ("one", Role::Lead));
        assert_eq!(agent.prompt, Some(Prompt::Text("go".into())));
        assert_eq!(agent.directory(Path::new("/p")), Path::new("/p/sub"));
        assert_eq!(agent.env.0["KEY"], "value");
    }

    #[test]
    fn unknown_keys_are_all_named_with_the_nearest_valid_one() {
        insta::assert_snapshot!(errors(
            "colour = 1\n[pane]\nscrolback = 1\n[cli.x]\ncommand = ['x']\ncomand = 1\n\
             [team.t]\nlayot = 1\n[[team.t.agents]]\nname = 'a'\ncli = 'x'\nworkspce = 1\n"
        ), @r#"
        w.toml:1:1: Unknown key `colour`
        hint: Use one of `approve`, `casts`, `cli`, `dashboard`, `deny`, `env`, `grid`, `hub`, `keys`, `limit`, `log`, `mcp`, `notify`, `pane`, `record`, `reporters`, `role`, `runner`, `stop`, `stuck`, `team`, `workspace`
        w.toml:3:1: Unknown key `scrolback` in `[pane]`
        hint: Did you mean `scrollback`?
        w.toml:6:1: Unknown key `comand` in `[cli.x]`
        hint: Did you mean `command`?
        w.toml:8:1: Unknown key `layot` in `[team.t]`
        hint: Did you mean `layout`?
        w.toml:12:1: Unknown key `workspce` in `[[team.t.agents]]`
        hint: Did you mean `workspace`?
        "#);
    }

    #[test]
    fn whom_a_team_lets_speak_is_read_and_checked() {
        let team = "[cli.x]\ncommand = ['x']\n[team.t]\nspeaks = 'team'\n\
                    [[team.t.agents]]\nname = 'api'\ncli = 'x'\nspeaks = ['web']\n\
                    [[team.t.agents]]\nname = 'web'\ncli = 'x'\n";
        let (settings, told, _) = applied(team);
        assert_eq!(told, "");
        let read = settings.team("t").unwrap();
        assert_eq!(read.speaks, super::super::Speaks::Team);
        assert_eq!(read.agents[0].speaks[0].as_str(), "web");
        let wrong = team.replace("'team'", "'teem'").replace("['web']", "['wbe', 'B']");
        insta::assert_snapshot!(errors(&wrong), @r"
        w.toml:4:10: Unknown speaks `teem` in `[team.t]`
        hint: Did you mean `team`?
        w.toml:8:10: The team `t` has no agent `wbe` to speak to
        hint: Did you mean `web`?
        w.toml:8:18: `B` is not a name: use a lower-case letter, then up to 31 of `a-z`, `0-9`, `_` and `-`
        ");
    }

    #[test]
    fn wrong_types_are_all_told() {
        insta::assert_snapshot!(errors(
            "grid = 1\n[pane]\nscrollback = '1'\nmin_cols = 1\nmin_rows = 99999999999999999999\n\
             [env]\npass = ['A', 1]\n[cli]\nx = 1\n[cli.y]\ncommand = 'ls'\nenv = { A = 1 }\n\
             [team.t]\nagents = [1]\n"
        ), @r#"
        w.toml:1:8: `grid` must be a table, and is of type `integer`
        w.toml:3:14: `scrollback` in `[pane]` must be a whole number, and is of type `string`
        w.toml:4:12: `min_cols` in `[pane]` is out of range
        hint: Use a number from 2 to 1000
        w.toml:5:12: `min_rows` in `[pane]` is out of range
        hint: Use a number from 2 to 1000
        w.toml:7:14: `pass` in `[env]` must be a list of strings, and is of type `integer`
        w.toml:9:5: `cli.x` must be a table, and is of type `integer`
        w.toml:11:11: `command` in `[cli.y]` must be a list of strings, and is of type `string`
        w.toml:12:13: `env` in `[cli.y]` must be a table of strings, and is of type `integer`
        w.toml:14:11: `agents` in `[team.t]` must be a list of tables, and is of type `integer`
        "#);
    }

    #[test]
    fn what_a_team_cannot_mean_is_told() {
        insta::assert_snapshot!(errors(
            "[cli.x]\ncommand = []\nenv = { 'A=B' = '', WHEELHOUSE_TOKEN = '' }\npass_env = ['*']\n\
             [cli.y]\n[team.empty]\n[team.'-t']\n[team.t]\nlayout = 'gird'\n\
             [[team.t.agents]]\nname = 'a'\ncli = 'cladue'\nrole = 'boss'\n\
             [[team.t.agents]]\nname = 'a'\ncli = 'shell'\nworkspace = 'worktree'\nrunner = 'ssh'\n\
             [[team.t.agents]]\nname = 'B'\ncli = 'shell'\nprompt = 'a'\ntemplate = 'b'\n\
             [[team.t.agents]]\ncli = 'shell'\nowns = ['/etc', '../x']\nworkspace = 'shred'\n"
        ), @r#"
        w.toml:2:11: The command is empty
        hint: Name the program and its arguments: `command = ["program", "argument"]`
        w.toml:3:9: `A=B` cannot name a variable
        w.toml:3:21: `WHEELHOUSE_TOKEN` is set by wheelhouse itself
        hint: Choose a name that begins otherwise
        w.toml:4:13: `*` is not the name of a variable, nor the beginning of one followed by `*`
        hint: Write names such as `OPENAI_API_KEY`, or their beginning: `OPENAI_*`
        w.toml:5:1: No `command` in `[cli.y]`
        hint: Add the program and its arguments: `command = ["program", "argument"]`
        w.toml:6:1: The team `empty` has no agents
        hint: Add one: `[[team.empty.agents]]` with `name` and `cli`
        w.toml:7:7: `-t` cannot name a team
        hint: Use letters, digits, `_` and `-`, at most 64
        w.toml:9:10: Unknown layout `gird` in `[team.t]`
        hint: Did you mean `grid`?
        w.toml:12:7: Unknown cli `cladue`
        hint: Use one of `claude`, `codex`, `aider`, `amp`, `auggie`, `continue`, `agent`, `copilot`, `gemini`, `kilo`, `pi`, `qwen`, or add `[cli.cladue]`
        w.toml:13:8: Unknown role `boss` in `[[team.t.agents]]`
        hint: Use one of `lead`, `orchestrator`, `verifier`, `worker`
        w.toml:15:8: The team `t` has two agents named `a`
        hint: Give each agent of a team its own name
        w.toml:18:10: Unknown runner `ssh`
        hint: Use one of `local`, or add `[runner.ssh]`
        w.toml:20:8: `B` is not a name: use a lower-case letter, then up to 31 of `a-z`, `0-9`, `_` and `-`
        w.toml:23:12: Both `prompt` and `template` in `[[team.t.agents]]`
        hint: Keep one of them
        w.toml:24:1: No `name` in `[[team.t.agents]]`
        hint: Add `name = "…"`
        w.toml:26:9: `/etc` is not in the project
        hint: Write a path or pattern relative to the project, such as `src/api/**`
        w.toml:26:17: `../x` is not in the project
        hint: Write a path or pattern relative to the project, such as `src/api/**`
        w.toml:27:13: Unknown workspace `shred` in `[[team.t.agents]]`
        hint: Did you mean `shared`?
        "#);
    }

    #[test]
    fn a_template_that_cannot_be_filled_is_told() {
        insta::assert_snapshot!(errors(
            "[team.t]\n\
             [[team.t.agents]]\nname = 'a'\ncli = 'shell'\ntemplate = 'workr'\n\
             [[team.t.agents]]\nname = 'b'\ncli = 'shell'\ntemplate = 'tester'\n\
             [[team.t.agents]]\nname = 'c'\ncli = 'shell'\ntemplate = 'worker'\nvars = { tsk = 'x' }\n\
             [[team.t.agents]]\nname = 'd'\ncli = 'shell'\nvars = { task = 'x' }\n"
        ), @r#"
        w.toml:5:12: Unknown template `workr`
        hint: Did you mean `worker`?
        w.toml:9:12: The template `tester` needs the variable `task`: what to do: a title on the first line, then the details
        hint: Add `vars = { task = "…" }`
        w.toml:14:8: The template `worker` has no variable `tsk`
        hint: Did you mean `task`?
        w.toml:18:8: `vars` in `[[team.t.agents]]` fill a template, and there is none
        hint: Add `template = "…"`
        "#);
        let (settings, errors, _) = applied(
            "[team.t]\n[[team.t.agents]]\nname = 'a'\ncli = 'shell'\ntemplate = 'worker'\nowns = ['src/**']\n",
        );
        assert_eq!(errors, "");
        let vars = [("owns".to_owned(), "src/**".to_owned())].into();
        let prompt = Prompt::Template { name: "worker".into(), vars };
        assert_eq!(settings.team("t").unwrap().agents[0].prompt, Some(prompt));
    }

    #[test]
    fn broken_toml_is_told_with_its_place() {
        insta::assert_snapshot!(errors("[pane]\nscrollback = \n[pane]\n"), @r#"
        w.toml:2:14: Not TOML: string values must be quoted, expected literal string
        w.toml:3:2: Not TOML: duplicate key
        "#);
    }

    #[test]
    fn a_file_cannot_write_to_the_terminal() {
        let text = errors("\"\\u001b[2Jx\" = 1\n[team.t]\nlayout = \"\\u001b]0;x\\u0007\"\n");
        assert!(text.contains("\\u{1b}[2Jx") && !text.contains('\x1b'), "{text}");
    }

    #[test]
    fn a_hostile_file_is_refused_in_short_order() {
        let long = format!("{} = 1\n", "k".repeat(1_000_000));
        assert!(errors(&long).len() < 2000);
        let agents = "[[team.t.agents]]\nname='a'\ncli='zz'\nk=1\n".repeat(64);
        let many: Vec<String> =
            (0..300).map(|team| agents.replace("team.t", &format!("team.t{team}"))).collect();
        assert!(errors(&many.concat()).lines().count() <= 200);
    }

    #[test]
    fn a_cli_of_the_same_name_changes_only_what_it_names() {
        let (settings, errors, _) = applied("[cli.claude]\ncommand = ['claude', '--model', 'x']\n");
        assert_eq!(errors, "");
        let claude = settings.cli("claude").unwrap();
        assert_eq!(claude.command.len(), 3);
        assert!(claude.pass_env.iter().any(|pattern| pattern.matches("ANTHROPIC_API_KEY")));
        assert_eq!(settings.origin("cli.claude"), Origin::Project);
    }

    #[test]
    fn a_team_whose_agents_own_the_same_files_is_warned_of() {
        let agent = |name: &str, owns: &str| {
            format!("[[team.t.agents]]\nname = '{name}'\ncli = 'shell'\nowns = ['{owns}']\n")
        };
        let text = agent("a", "src/**") + &agent("b", "docs") + &agent("c", "src/x.rs");
        let (_, errors, warnings) = applied(&text);
        assert_eq!(errors, "");
        assert!(warnings.contains("`src/**` of a and `src/x.rs` of c"), "{warnings}");
    }

    #[test]
    fn a_team_and_a_file_have_bounds() {
        let agent = |index| format!("[[team.t.agents]]\nname = 'a{index}'\ncli = 'shell'\n");
        let team: Vec<String> = (0..65).map(agent).collect();
        assert!(errors(&team.concat()).contains("The team `t` has 65 agents"));
        assert!(errors("[team.t]\nagents = []\n").contains("The team `t` has no agents"));
        let cli = |index| format!("[cli.c{index}]\ncommand = ['x']\n");
        let clis: Vec<String> = (0..257).map(cli).collect();
        assert!(errors(&clis.concat()).contains("257 clis are too many"));
    }
}
