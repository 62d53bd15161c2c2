//! What an agent finds in its environment, and what is found nowhere else.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::Signal;

use super::support::clock::wait_for;
use super::support::process::{self, environment, words};
use super::support::world::{World, files};

#[rustfmt::skip]
const SECRETS: [&str; 30] = [
    "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN",
    "NPM_TOKEN", "CARGO_REGISTRY_TOKEN", "PYPI_TOKEN", "DOCKER_PASSWORD", "KUBECONFIG_DATA",
    "DATABASE_URL", "PGPASSWORD", "MYSQL_PWD", "REDIS_URL", "STRIPE_SECRET_KEY", "SLACK_TOKEN",
    "SENTRY_AUTH_TOKEN", "TWILIO_AUTH_TOKEN", "AZURE_CLIENT_SECRET", "GOOGLE_CREDENTIALS",
    "VAULT_TOKEN", "SSH_PRIVATE_KEY", "GPG_PASSPHRASE", "SECRET", "PASSWORD", "COMPANY_X",
];

/// What an agent, a multiplexer or a terminal around us leaves in our environment.
#[rustfmt::skip]
const SURROUNDINGS: [&str; 12] = [
    "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "CODEX_THREAD_ID",
    "GEMINI_CLI", "OPENCODE", "TMUX", "TMUX_PANE", "ZELLIJ", "TERM_PROGRAM", "GIT_DIR",
    "WHEELHOUSE_AGENT",
];

#[test]
fn secrets_reach_no_agent_no_file_and_no_command_line() {
    let mut world = World::new();
    for (number, name) in SECRETS.iter().chain(&SURROUNDINGS).enumerate() {
        world.set_variable(name, &format!("sentinel-{number}-value"));
    }
    world.set_variable("ALLOWED_TOKEN", "sentinel-allowed");
    world.set_variable("TERM", "dumb");
    fs::create_dir(world.path("config/wheelhouse")).unwrap();
    let settings = "[env]\npass = [\"ALLOWED_*\"]\n[log]\nlevel = \"trace\"\n";
    fs::write(world.path("config/wheelhouse/config.toml"), settings).unwrap();

    world.ok(&["up", "shell"]);
    let found = agent_environment(&world);
    for name in SECRETS.iter().chain(&SURROUNDINGS).filter(|name| **name != "WHEELHOUSE_AGENT") {
        assert!(!found.contains_key(*name), "{name}");
    }
    assert!(found.values().all(|value| !value.contains("sentinel") || value == "sentinel-allowed"));
    assert_eq!(found["ALLOWED_TOKEN"], "sentinel-allowed");
    assert_eq!((&*found["TERM"], &*found["COLORTERM"]), ("xterm-256color", "truecolor"));
    assert_eq!(found["WHEELHOUSE_AGENT"], "one");
    let token = &found["WHEELHOUSE_TOKEN"];
    assert_eq!(token.len(), 64);

    // Whatever a life leaves in logs and records: a crash, a loss, a restart, an error, a stop.
    assert_nothing_tells(&world, token);
    process::kill(world.status().hub.pid, Signal::KILL);
    wait_for("the next hub", || world.running_status().is_some());
    process::kill(world.agent("two").keeper_pid.unwrap(), Signal::KILL);
    world.ok(&["agent", "restart", "one"]);
    world.run(&["up", "nonsense"]);
    world.run(&["agent", "start", "nobody"]);
    world.ok(&["agent", "keys", "one", "--text", "exit", "enter"]);
    assert_nothing_tells(&world, token);
    world.ok(&["down", "--force"]);
    assert_nothing_tells(&world, token);
}

/// Returns what the shell `one` has, once it is itself and not what starts it.
fn agent_environment(world: &World) -> BTreeMap<String, String> {
    let pid = world.agent("one").pid.unwrap();
    let split = |entry: String| entry.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned()));
    let mut found = BTreeMap::new();
    wait_for("its environment", || {
        found = environment(pid).into_iter().filter_map(split).collect();
        found.contains_key("WHEELHOUSE_RUN")
    });
    found
}

fn assert_nothing_tells(world: &World, token: &str) {
    for part in ["state", "run", "config", "home", "project"] {
        for file in files(&world.path(part)) {
            let content = fs::read(&file).unwrap_or_default();
            let content = String::from_utf8_lossy(&content);
            assert!(!content.contains("sentinel"), "{}: {content}", file.display());
            assert!(!content.contains(token), "{}: {content}", file.display());
        }
    }
    for id in world.alive() {
        let words = words(id.pid);
        let tells = |word: &String| word.contains("sentinel") || word.contains(token);
        assert!(!words.iter().any(tells), "{words:?}");
    }
}
