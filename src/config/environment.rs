//! What an agent's process finds in its environment.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::model::Environment;

use super::cli::is_executable;
use super::pattern::{covers, is_variable_name};
use super::{Agent, Cli, VariablePattern};

/// What every program needs to find its user, its tools and its network. Nothing here is a secret,
/// save that a proxy's address may hold a password without which nothing would work.
#[rustfmt::skip]
const PASSED: &[&str] = &[
    // Who and where.
    "HOME", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    // Language.
    "LANG", "LANGUAGE", "LC_*", "LOCALE_ARCHIVE",
    // What opens a browser for a log-in, reaches the key ring that holds the log-in, and signs a
    // push.
    "BROWSER", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "SSH_AUTH_SOCK", "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "EDITOR", "PAGER", "VISUAL",
    // The road out, and whom to believe on it.
    "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "http_proxy",
    "https_proxy", "no_proxy", "CURL_CA_BUNDLE", "NIX_SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
    // Where toolchains live: without these an agent builds with other tools than its user.
    "BUN_INSTALL", "CARGO_HOME", "GOPATH", "GOROOT", "JAVA_HOME", "NIX_PATH", "NIX_PROFILES",
    "NVM_DIR", "PNPM_HOME", "PYENV_ROOT", "RUSTUP_HOME", "VIRTUAL_ENV", "VOLTA_HOME",
];

/// What belongs to the agent, multiplexer or terminal around us and would mislead ours: a Claude
/// that inherits `CLAUDE_CODE_CHILD_SESSION` keeps no transcript, and so cannot be resumed.
#[rustfmt::skip]
const STRIPPED: &[&str] = &[
    "CLAUDECODE", "CLAUDE_CODE_*", "CLAUDE_EFFORT", "CLAUDE_PID", "AI_AGENT",
    "COREPACK_ENABLE_AUTO_PIN", "NoDefaultCurrentDirectoryInExePath",
    "CODEX_*", "GEMINI_CLI", "GEMINI_CLI_*", "OPENCODE", "OPENCODE_*", "AGENT",
    // Agents and git hooks point these at their own repository and switch the user's settings off.
    "GIT_CONFIG_*", "GIT_DIR", "GIT_EDITOR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_WORK_TREE",
    "HERDR_*", "STY", "TMUX", "TMUX_PANE", "ZELLIJ", "ZELLIJ_*",
    // The terminal around us; ours has its own abilities.
    "COLUMNS", "LINES", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID",
    "WHEELHOUSE_*",
];

/// Settings that a person makes, and whose names look like those of a session.
#[rustfmt::skip]
const KEPT: &[&str] = &[
    "CLAUDE_CODE_DISABLE_*", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_SKIP_*", "CLAUDE_CODE_USE_*",
    "CODEX_API_KEY", "CODEX_HOME",
    "OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR",
];

/// What shows that we were started by an agent, which then has set `OVERWRITTEN` for its own tools.
const SESSION_MARKS: &[&str] =
    &["CLAUDECODE", "CODEX_CI", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE"];
/// A person's wishes, unless an agent around us has put its own in their place.
const OVERWRITTEN: &[&str] = &["GH_PAGER", "GIT_PAGER", "NO_COLOR", "PAGER"];

/// What our terminal can do, whatever the terminal around us can.
const OUR_TERMINAL: &[(&str, &str)] = &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];

/// Returns the whole environment of an agent.
///
/// From the caller come only the variables that `PASSED`, the cli's `pass_env` or `pass` name, and
/// of those never one that belongs to a session around us. What the cli and then the team set by
/// value comes on top, whatever its name: that was asked for. Last comes `own`, by which the
/// program tells the agent who it is.
pub fn agent_environment(
    caller: &Environment,
    pass: &[VariablePattern],
    cli: &Cli,
    agent: &Agent,
    own: &Environment,
) -> Environment {
    let patterns = || pass.iter().chain(&cli.pass_env);
    let is_passed = |name: &str| any(PASSED, name) || patterns().any(|one| one.matches(name));
    let is_nested = caller.0.keys().any(|name| any(SESSION_MARKS, name));
    let is_foreign = |name: &str| {
        (any(STRIPPED, name) && !any(KEPT, name)) || (is_nested && any(OVERWRITTEN, name))
    };
    let inherited = caller.0.iter().filter(|(name, _)| is_passed(name) && !is_foreign(name));
    let terminal = OUR_TERMINAL.iter().map(|(name, value)| ((*name).into(), (*value).into()));

    let mut environment: BTreeMap<String, String> =
        inherited.map(|(name, value)| (name.clone(), value.clone())).collect();
    environment.extend(terminal);
    for literal in [&cli.env, &agent.env, own] {
        environment.extend(literal.0.clone());
    }
    Environment(environment)
}

/// Returns what goes along with an agent that runs elsewhere.
///
/// Of the caller's variables only those that its runner names leave this machine; what every program
/// needs comes from the place where it runs.
pub fn far_environment(
    caller: &Environment,
    pass: &[String],
    cli: &Cli,
    agent: &Agent,
    own: &Environment,
) -> Environment {
    let is_passed = |name: &str| pass.iter().any(|pattern| covers(pattern, name));
    let is_foreign = |name: &str| any(STRIPPED, name) && !any(KEPT, name);
    let named = caller.0.iter().filter(|(name, _)| is_passed(name) && !is_foreign(name));
    let terminal = OUR_TERMINAL.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let mut environment: BTreeMap<String, String> =
        named.map(|(name, value)| (name.clone(), value.clone())).collect();
    environment.extend(terminal);
    for literal in [&cli.env, &agent.env, own] {
        environment.extend(literal.0.clone());
    }
    Environment(environment)
}

/// Returns what every program gets of the caller's variables, and nothing that is an agent's.
pub fn plain_environment(caller: &Environment) -> Environment {
    let is_plain = |name: &str| any(PASSED, name) && !any(STRIPPED, name);
    let passed = caller.0.iter().filter(|(name, _)| is_plain(name));
    Environment(passed.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Returns the variables as text; one that is not UTF-8 is left out.
pub fn environment_of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    Environment(variables.into_iter().filter_map(text).collect())
}

/// Adds the directory of our own program to the end of the path, if a program of its name is found nowhere
/// else: agents call it by name.
pub fn with_own_program(mut environment: Environment, program: &Path) -> Environment {
    let (Some(directory), Some(name)) = (program.parent(), program.file_name()) else {
        return environment;
    };
    let Some(path) = environment.0.get("PATH") else { return environment };
    let mut entries: Vec<PathBuf> = env::split_paths(path).collect();
    if name == "wheelhouse" && !entries.iter().any(|entry| is_executable(&entry.join(name))) {
        entries.push(directory.to_owned());
        // A directory with a colon in its name cannot be on a path.
        let joined = env::join_paths(entries).ok().and_then(|path| path.into_string().ok());
        environment.0.extend(joined.map(|path| ("PATH".to_owned(), path)));
    }
    environment
}

/// Says why nobody may set a variable of this name for an agent, and what to do instead.
pub fn unfit_variable(name: &str) -> Option<(String, Option<&'static str>)> {
    if !is_variable_name(name) {
        Some((format!("`{name}` cannot name a variable"), None))
    } else if name.starts_with("WHEELHOUSE_") {
        let hint = "Choose a name that begins otherwise";
        Some((format!("`{name}` is set by wheelhouse itself"), Some(hint)))
    } else {
        None
    }
}

fn any(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| covers(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::super::builtin::built_in;
    use super::*;

    fn variables(list: &[(&str, &str)]) -> Environment {
        Environment(list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    }

    /// Returns what an agent of the cli gets when the caller has all of the variables.
    fn passed(cli: &str, caller: &[&str], pass: &[&str]) -> Vec<String> {
        let settings = built_in();
        let agent = &settings.team("shell").unwrap().agents[0];
        let caller = Environment(caller.iter().map(|name| ((*name).into(), "x".into())).collect());
        let pass: Vec<_> = pass.iter().map(|pattern| pattern.parse().unwrap()).collect();
        let cli = settings.cli(cli).unwrap();
        let environment = agent_environment(&caller, &pass, cli, agent, &Environment::default());
        environment.0.into_keys().filter(|name| !name.ends_with("TERM")).collect()
    }

    #[test]
    fn each_cli_gets_the_usual_variables_and_its_own_keys() {
        let caller = [
            "HOME",
            "PATH",
            "LC_ALL",
            "HTTPS_PROXY",
            "SSH_AUTH_SOCK",
            "AWS_SECRET_ACCESS_KEY",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GITHUB_TOKEN",
            "CODEX_HOME",
            "CLAUDE_CONFIG_DIR",
            "LD_PRELOAD",
            "CLAUDE_CODE_USE_BEDROCK",
        ];
        let usual = ["HOME", "HTTPS_PROXY", "LC_ALL", "PATH", "SSH_AUTH_SOCK"];
        let table: &[(&str, &[&str])] = &[
            ("shell", &[]),
            ("claude", &["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CONFIG_DIR"]),
            ("codex", &["CODEX_HOME", "OPENAI_API_KEY"]),
            ("gemini", &["GEMINI_API_KEY"]),
            ("opencode", &["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"]),
            ("aider", &["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"]),
        ];
        for (cli, own) in table {
            let mut wanted: Vec<&str> = usual.iter().chain(*own).copied().collect();
            wanted.sort_unstable();
            assert_eq!(passed(cli, &caller, &[]), wanted, "{cli}");
        }
    }

    #[test]
    fn what_the_session_around_us_left_is_stripped_even_if_a_pattern_names_it() {
        let foreign = [
            "CLAUDECODE",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_MESSAGING_TOKEN",
            "CLAUDE_PID",
            "CLAUDE_EFFORT",
            "AI_AGENT",
            "GIT_EDITOR",
            "CODEX_SESSION_ID",
            "CODEX_THREAD_ID",
            "CODEX_CI",
            "CODEX_SANDBOX_NETWORK_DISABLED",
            "GEMINI_CLI",
            "GEMINI_CLI_NO_RELAUNCH",
            "OPENCODE",
            "OPENCODE_PID",
            "AGENT",
            "TMUX",
            "TMUX_PANE",
            "STY",
            "ZELLIJ",
            "ZELLIJ_SESSION_NAME",
            "GIT_CONFIG_GLOBAL",
            "WHEELHOUSE_TOKEN",
            "PAGER",
            "NO_COLOR",
        ];
        let pass = [
            "CLAUDE*",
            "AI_*",
            "GIT_*",
            "CODEX_*",
            "GEMINI_*",
            "OPENCODE*",
            "AGENT",
            "TMUX*",
            "STY",
            "ZELLIJ*",
            "WHEELHOUSE_*",
            "PAGER",
            "NO_COLOR",
        ];
        for cli in ["claude", "codex", "gemini", "opencode", "aider", "shell"] {
            assert_eq!(passed(cli, &foreign, &pass), [""; 0], "{cli}");
        }
    }

    #[test]
    fn a_persons_own_wishes_pass_when_no_agent_is_around_us() {
        let wishes = ["EDITOR", "NO_COLOR", "PAGER"];
        assert_eq!(passed("shell", &wishes, &["NO_COLOR"]), wishes);
        assert_eq!(passed("shell", &["NO_COLOR"], &[]), [""; 0]);
    }

    #[test]
    fn what_is_set_by_value_wins_and_ours_wins_over_all() {
        let settings = built_in();
        let mut agent = settings.team("shell").unwrap().agents[0].clone();
        agent.env = variables(&[("CLAUDECODE", "1"), ("A", "agent"), ("W", "agent")]);
        let env = variables(&[("A", "cli"), ("B", "cli"), ("PATH", "/cli")]);
        let cli = Cli { env, ..Cli::default() };
        let caller = variables(&[("PATH", "/caller"), ("TERM", "dumb"), ("HOME", "/h")]);
        let own = variables(&[("W", "own")]);
        let wanted = variables(&[
            ("A", "agent"),
            ("B", "cli"),
            ("CLAUDECODE", "1"),
            ("COLORTERM", "truecolor"),
            ("HOME", "/h"),
            ("PATH", "/cli"),
            ("TERM", "xterm-256color"),
            ("W", "own"),
        ]);
        assert_eq!(agent_environment(&caller, &[], &cli, &agent, &own).0, wanted.0);
    }

    #[test]
    fn our_own_program_is_found_unless_another_is() {
        let (ours, another) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let program = ours.path().join("wheelhouse");
        let path = |directory: &Path| variables(&[("PATH", directory.to_str().unwrap())]);
        let extended = with_own_program(path(another.path()), &program);
        let both = env::join_paths([another.path(), ours.path()]).unwrap();
        assert_eq!(extended.0["PATH"], both.to_str().unwrap());
        std::os::unix::fs::symlink("/bin/sh", another.path().join("wheelhouse")).unwrap();
        assert_eq!(with_own_program(path(another.path()), &program), path(another.path()));
        assert_eq!(with_own_program(variables(&[]), &program), variables(&[]));
        let renamed = ours.path().join("it");
        assert_eq!(with_own_program(path(ours.path()), &renamed), path(ours.path()));
    }

    #[test]
    fn what_is_not_text_is_left_out() {
        use std::os::unix::ffi::OsStringExt;
        let bad = || OsString::from_vec(vec![0xff]);
        let list = [(bad(), "x".into()), ("PATH".into(), bad()), ("HOME".into(), "/h".into())];
        assert_eq!(environment_of(list).0, variables(&[("HOME", "/h")]).0);
    }
}
