//! The command-line agents that a team can run.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::Deserialize;

use crate::model::{Environment, Hooks, KitRules, Manifest};

use super::VariablePattern;
use super::checks::{command, environment};
use super::hooks;
use super::kit;
use super::manifest::{self, set};
use super::problem::Problems;
use super::reader::Reader;

/// The first word of a command that stands for the user's own shell.
const USER_SHELL: &str = "$SHELL";
const SHELL_OF_LAST_RESORT: &str = "/bin/sh";

/// The first word of a command that stands for whichever agent is installed.
const ANY_AGENT: &str = "$AGENT";
/// The agents that `$AGENT` can mean, the first one found wins.
const AGENTS: &[&str] = &[
    "claude", "codex", "gemini", "opencode", "aider", "copilot", "qwen", "kilo", "pi", "continue",
];

/// How to run one command-line agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cli {
    /// The program and its arguments; no shell reads them. `$SHELL` as the program means the user's
    /// shell.
    pub command: Vec<String>,
    /// Set for every agent that runs this cli.
    pub env: Environment,
    /// Which of the caller's variables it gets beside the usual ones.
    pub pass_env: Vec<VariablePattern>,
    /// How it shows what it does, and how to talk to it.
    pub manifest: Manifest,
    /// How it is made to tell what it does.
    pub hooks: Hooks,
    /// How it is told what to work with.
    pub kit: KitRules,
}

/// What a cli's table says of how it is run.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CliTable {
    #[serde(deserialize_with = "command")]
    command: Option<Vec<String>>,
    #[serde(deserialize_with = "environment")]
    env: Option<Environment>,
    pass_env: Option<Vec<VariablePattern>>,
}

impl Cli {
    /// Returns the command with the user's shell in its place.
    ///
    /// Only a program that is exactly `$SHELL` is replaced; every other word is taken as it is.
    pub fn argv(&self, caller: &Environment) -> Vec<String> {
        let mut argv = self.command.clone();
        if let Some(program) = argv.first_mut().filter(|program| *program == USER_SHELL) {
            let shell = caller.0.get("SHELL").filter(|shell| Path::new(shell).is_absolute());
            *program = shell.cloned().unwrap_or_else(|| SHELL_OF_LAST_RESORT.to_owned());
        }
        argv
    }

    /// Says whether the command stands for whichever agent is installed.
    pub(super) fn is_any_agent(&self) -> bool {
        self.command.first().is_some_and(|program| program == ANY_AGENT)
    }

    /// Says whether the program is there for someone with these variables.
    pub fn is_installed(&self, caller: &Environment) -> bool {
        let argv = self.argv(caller);
        let Some(program) = argv.first() else { return false };
        let path = caller.0.get("PATH").map(String::as_str).unwrap_or_default();
        let is_program = |path: &Path| is_executable(path);
        if program.contains('/') {
            return is_program(Path::new(program));
        }
        std::env::split_paths(path).any(|directory| is_program(&directory.join(program)))
    }

    /// Changes what the table names; what it leaves out stays as the file below has it.
    pub(super) fn apply(&mut self, mut table: Reader, problems: &mut Problems) {
        let found: CliTable = table.part(problems).unwrap_or_default();
        if self.command.is_empty() && !table.has("command") {
            let message = format!("No `command`{}", table.within());
            let hint = "Add the program and its arguments: `command = [\"program\", \"argument\"]`";
            problems.error(table.span(), &message, Some(hint));
        }
        set(&mut self.command, found.command);
        set(&mut self.env, found.env);
        set(&mut self.pass_env, found.pass_env);
        if let Some(table) = table.table("hooks", problems) {
            hooks::apply(&mut self.hooks, table, problems);
        }
        if let Some(table) = table.table("kit", problems) {
            kit::apply(&mut self.kit, table, problems);
        }
        manifest::apply(&mut self.manifest, &mut table, problems);
        table.finish(problems);
    }
}

/// Returns the first agent that is installed.
pub(super) fn installed_agent<'a>(
    clis: &'a BTreeMap<String, Cli>,
    caller: &Environment,
) -> Option<(&'a str, &'a Cli)> {
    let known = AGENTS.iter().filter_map(|name| clis.get_key_value(*name));
    let mut installed = known.filter(|(_, cli)| cli.is_installed(caller));
    installed.next().map(|(name, cli)| (name.as_str(), cli))
}

pub(super) fn is_executable(path: &Path) -> bool {
    let mode = |data: std::fs::Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    path.metadata().is_ok_and(mode)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_users_shell_stands_in_for_its_name_and_for_nothing_else() {
        let argv = |command: &[&str], shell: &str| {
            let command = command.iter().map(ToString::to_string).collect();
            let caller = Environment(BTreeMap::from([("SHELL".into(), shell.into())]));
            Cli { command, ..Cli::default() }.argv(&caller)
        };
        assert_eq!(argv(&["$SHELL", "-l", "$SHELL"], "/bin/zsh"), ["/bin/zsh", "-l", "$SHELL"]);
        assert_eq!(argv(&["$SHELL"], "zsh"), ["/bin/sh"]);
        assert_eq!(argv(&["echo", "$HOME"], "/bin/zsh"), ["echo", "$HOME"]);
    }
}
