//! Lays one file over the settings below it.

use std::path::Path;

use toml::de::DeTable;

use crate::model::Manifest;

use super::approvals;
use super::cli::read_patterns;
use super::kit::{read_kit, read_server};
use super::problem::{Problems, suggest};
use super::reader::Reader;
use super::settings::{Cards, LogLevel, Origin, Scope, Settings};
use super::team::{Known, ROLES, read_team, well_named};

/// The cli whose rules hold for a program that has none of its own.
const ANY_PROGRAM: &str = "shell";
/// A hand-written file never has more.
const CLIS_MAX: usize = 256;
/// A line of scrollback costs memory in the hub, for every pane.
const SCROLLBACK_MAX: u32 = 1_000_000;
/// Whoever stops a team waits for as long.
const GRACE_SECONDS_MAX: u32 = 600;
/// Nobody waits longer than a day to hear that nothing moves.
const STUCK_SECONDS_MAX: u32 = 86_400;

/// A recording is read as a whole when it is handed out.
const CAST_MEGABYTES_MAX: u32 = 256;

const LEVELS: &[LogLevel] =
    &[LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug, LogLevel::Trace];

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
    let (table, faults) = DeTable::parse_recoverable(text);
    for fault in &faults {
        let span = fault.span().unwrap_or_default();
        problems.error(&span, &format!("Not TOML: {}", fault.message()), None);
    }
    // What could be made of a broken file is a guess; checking a guess would only mislead.
    if faults.is_empty() {
        let mut layer = Layer { settings, origin, problems: &mut problems };
        let mut file = Reader::of_file(table.get_ref());
        layer.values(&mut file);
        layer.clis(&mut file);
        layer.servers(&mut file);
        layer.roles(&mut file);
        layer.teams(&mut file);
        layer.approvals(&mut file);
        file.finish(&mut problems);
    }
    problems.errors.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

struct Layer<'s, 'p, 't> {
    settings: &'s mut Settings,
    origin: Origin,
    problems: &'p mut Problems<'t>,
}

impl Layer<'_, '_, '_> {
    fn values(&mut self, file: &mut Reader) {
        if let Some(mut pane) = file.table("pane", self.problems) {
            let lines = pane.number("scrollback", 0..=SCROLLBACK_MAX, self.problems);
            self.set("pane.scrollback", lines, |settings| &mut settings.pane.scrollback);
            let cols = pane.length("min_cols", self.problems);
            self.set("pane.min_cols", cols, |settings| &mut settings.pane.min_cols);
            let rows = pane.length("min_rows", self.problems);
            self.set("pane.min_rows", rows, |settings| &mut settings.pane.min_rows);
            pane.finish(self.problems);
        }
        if let Some(mut grid) = file.table("grid", self.problems) {
            let cards = grid.choice("cards", &[Cards::Auto, Cards::Never], self.problems);
            self.set("grid.cards", cards, |settings| &mut settings.grid.cards);
            grid.finish(self.problems);
        }
        if let Some(mut dashboard) = file.table("dashboard", self.problems) {
            let theme = dashboard.text("theme", self.problems).map(|theme| theme.value);
            self.set("dashboard.theme", theme, |settings| &mut settings.dashboard.theme);
            dashboard.finish(self.problems);
        }
        // Each key on its own: a project that moves one leaves the others as their user wants them.
        for (action, keys) in file.named_texts("keys", self.problems).unwrap_or_default() {
            self.settings.provenance.insert(format!("keys.{action}"), self.origin);
            self.settings.keys.insert(action, keys.value);
        }
        if let Some(mut stop) = file.table("stop", self.problems) {
            let seconds = stop.number("grace_seconds", 0..=GRACE_SECONDS_MAX, self.problems);
            self.set("stop.grace_seconds", seconds, |settings| &mut settings.stop.grace_seconds);
            stop.finish(self.problems);
        }
        if let Some(mut stuck) = file.table("stuck", self.problems) {
            let seconds = stuck.number("after_seconds", 1..=STUCK_SECONDS_MAX, self.problems);
            self.set("stuck.after_seconds", seconds, |settings| &mut settings.stuck.after_seconds);
            stuck.finish(self.problems);
        }
        if let Some(mut limit) = file.table("limit", self.problems) {
            let resumes = limit.switch("resume_after_reset", self.problems);
            self.set("limit.resume_after_reset", resumes, |settings| {
                &mut settings.limit.resume_after_reset
            });
            limit.finish(self.problems);
        }
        if let Some(mut casts) = file.table("casts", self.problems) {
            let enabled = casts.switch("enabled", self.problems);
            self.set("casts.enabled", enabled, |settings| &mut settings.casts.enabled);
            let megabytes = casts.number("megabytes", 1..=CAST_MEGABYTES_MAX, self.problems);
            self.set("casts.megabytes", megabytes, |settings| &mut settings.casts.megabytes);
            casts.finish(self.problems);
        }
        if let Some(mut env) = file.table("env", self.problems) {
            let texts = env.texts("pass", self.problems);
            let patterns = texts.map(|texts| read_patterns(texts, self.problems));
            self.set("env.pass", patterns, |settings| &mut settings.pass_env);
            env.finish(self.problems);
        }
        if let Some(mut hub) = file.table("hub", self.problems) {
            let scope = hub.choice("scope", &[Scope::Auto, Scope::Never], self.problems);
            self.set("hub.scope", scope, |settings| &mut settings.hub.scope);
            hub.finish(self.problems);
        }
        if let Some(mut log) = file.table("log", self.problems) {
            let level = log.choice("level", LEVELS, self.problems);
            self.set("log.level", level, |settings| &mut settings.log.level);
            log.finish(self.problems);
        }
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
                self.came(&format!("cli.{}", name.value));
                let like = self.like(&mut table, &name.value);
                let cli = self.settings.clis.entry(name.value).or_default();
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
        let Some(like) = table.text("like", self.problems) else {
            let is_new = self.origin != Origin::BuiltIn && !clis.contains_key(name);
            return clis.get(ANY_PROGRAM).filter(|_| is_new).map(|cli| cli.manifest.clone());
        };
        let known = clis.get(&like.value).map(|cli| cli.manifest.clone());
        if known.is_none() {
            let message = format!("Unknown cli `{}`{}", like.value, table.within());
            let hint = suggest(&like.value, clis.keys().map(String::as_str));
            self.problems.error(&like.span, &message, Some(&hint));
        }
        known
    }

    fn servers(&mut self, file: &mut Reader) {
        for (name, table) in file.named_tables("mcp", self.problems) {
            if let Some(server) = read_server(&name, table, self.problems) {
                self.came(&format!("mcp.{}", name.value));
                self.settings.servers.insert(name.value, server);
            }
        }
    }

    fn roles(&mut self, file: &mut Reader) {
        for (name, mut table) in file.named_tables("role", self.problems) {
            let roles: Vec<String> = ROLES.iter().map(ToString::to_string).collect();
            if !roles.contains(&name.value) {
                let hint = suggest(&name.value, roles.iter().map(String::as_str));
                let message = format!("Unknown role `{}`", name.value);
                self.problems.error(&name.span, &message, Some(&hint));
            }
            let kit = read_kit(&mut table, &self.settings.servers, self.problems);
            table.finish(self.problems);
            self.came(&format!("role.{}", name.value));
            self.settings.roles.insert(name.value, kit);
        }
    }

    fn teams(&mut self, file: &mut Reader) {
        for (name, table) in file.named_tables("team", self.problems) {
            if well_named("team", &name, self.problems) {
                self.came(&format!("team.{}", name.value));
                let team = read_team(&name.value, table, Known::of(self.settings), self.problems);
                self.settings.teams.insert(name.value, team);
            }
        }
    }

    /// Adds the file's rules to those of the files before it.
    fn approvals(&mut self, file: &mut Reader) {
        let found = approvals::read(file, self.problems);
        self.settings.approvals.approve.extend(found.approve);
        self.settings.approvals.deny.extend(found.deny);
    }

    /// Puts the value, if the file has one, into its place, and remembers where it came from.
    fn set<T>(&mut self, key: &str, value: Option<T>, place: fn(&mut Settings) -> &mut T) {
        if let Some(value) = value {
            *place(self.settings) = value;
            self.came(key);
        }
    }

    fn came(&mut self, key: &str) {
        self.settings.provenance.insert(key.to_owned(), self.origin);
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
        hint: Use one of `approve`, `casts`, `cli`, `dashboard`, `deny`, `env`, `grid`, `hub`, `keys`, `limit`, `log`, `mcp`, `pane`, `role`, `stop`, `stuck`, `team`
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
        hint: Use one of `claude`, `codex`, `aider`, `agent`, `gemini`, `shell`, `sim`, `x`, `y`, `opencode`, or add `[cli.cladue]`
        w.toml:13:8: Unknown role `boss` in `[[team.t.agents]]`
        hint: Use one of `lead`, `orchestrator`, `verifier`, `worker`
        w.toml:15:8: The team `t` has two agents named `a`
        hint: Give each agent of a team its own name
        w.toml:17:13: This version has no workspace `worktree`
        hint: It runs agents in the project itself; use `workspace = "shared"`
        w.toml:18:10: This version has no runner `ssh`
        hint: It runs agents on this machine; use `runner = "local"`
        w.toml:20:8: `B` is not a name: use a lower-case letter, then up to 31 of `a-z`, `0-9`, `_` and `-`
        w.toml:23:12: Both `prompt` and `template` in `[[team.t.agents]]`
        hint: Keep one of them
        w.toml:24:1: No `name` in `[[team.t.agents]]`
        hint: Add `name = "…"`
        w.toml:26:9: `/etc` does not lie in the project
        hint: Write a path or pattern relative to the project, such as `src/api/**`
        w.toml:26:17: `../x` does not lie in the project
        hint: Write a path or pattern relative to the project, such as `src/api/**`
        w.toml:27:13: Unknown workspace `shred`
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
