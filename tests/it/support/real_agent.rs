//! A real agent CLI in a world of its own, with a scripted model behind it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use wheelhouse::api::AgentStatus;
use wheelhouse::model::AgentState;

use super::clock::{now, wait_within};
use super::model::Model;
use super::world::{World, run};

/// Where `.ci/agents` puts the CLIs at the versions whose screens are known.
const AGENTS: &str = "target/agents/node_modules/.bin";
/// Names the directory of others.
const AGENTS_ELSEWHERE: &str = "WHEELHOUSE_AGENTS";
/// Where the recording of a failed test is kept.
const RECORDINGS: &str = "target/real-agents";
/// Some need half a minute to come up on a busy machine; beside a dozen compilers one took a minute for
/// that and another for a turn.
pub(crate) const PATIENCE: Duration = Duration::from_mins(4);
/// All that one test lets a CLI live through is over by then, so that one that hangs does not eat up
/// the time of the others.
const LIFE_MAX: Duration = Duration::from_mins(8);

/// How one CLI is set up so that it talks to the scripted model and to nobody else.
pub(crate) struct Cli {
    pub(crate) name: &'static str,
    arguments: &'static [&'static str],
    /// Variables; `{url}` stands for the model's address and `{home}` for the home.
    variables: &'static [(&'static str, &'static str)],
    /// Files below the home, in the same way.
    files: &'static [(&'static str, &'static str)],
    /// How its first dialogs are answered.
    dialogs: &'static [&'static str],
    /// How it is told yes and no when it asks for something.
    grants: &'static str,
    denies: &'static str,
}

pub(crate) const CLAUDE: Cli = Cli {
    name: "claude",
    arguments: &["--permission-mode", "default"],
    variables: &[
        ("ANTHROPIC_BASE_URL", "{url}"),
        ("ANTHROPIC_API_KEY", "sk-ant-dummy"),
        ("CLAUDE_CONFIG_DIR", "{home}/.claude"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
    ],
    files: &[(".claude/.claude.json", r#"{"hasCompletedOnboarding": true}"#)],
    dialogs: &["Yes, I trust", "Yes"],
    grants: "Yes",
    denies: "No",
};

pub(crate) const CODEX: Cli = Cli {
    name: "codex",
    arguments: &[
        "--no-daemon",
        "-a",
        "on-request",
        "-s",
        "read-only",
        "--enable",
        "default_mode_request_user_input",
    ],
    variables: &[("MODEL_KEY", "dummy"), ("CODEX_HOME", "{home}/.codex")],
    files: &[(
        ".codex/config.toml",
        "model = \"gpt-5-codex\"\nmodel_provider = \"scripted\"\n\
         check_for_update_on_startup = false\n[analytics]\nenabled = false\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n",
    )],
    dialogs: &[],
    grants: "Yes",
    denies: "No",
};

pub(crate) const GEMINI: Cli = Cli {
    name: "gemini",
    arguments: &[],
    variables: &[("GOOGLE_GEMINI_BASE_URL", "{url}"), ("GEMINI_API_KEY", "dummy")],
    files: &[(
        ".gemini/settings.json",
        r#"{"security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "privacy": {"usageStatisticsEnabled": false}, "telemetry": {"enabled": false}}"#,
    )],
    dialogs: &["Trust folder"],
    grants: "Allow once",
    denies: "No",
};

pub(crate) const OPENCODE: Cli = Cli {
    name: "opencode",
    arguments: &[],
    variables: &[
        ("OPENCODE_CONFIG", "{home}/opencode.json"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
        // It asks npm how it was installed.
        ("NPM_CONFIG_UPDATE_NOTIFIER", "false"),
    ],
    files: &[(
        "opencode.json",
        r#"{"model": "scripted/fake-1", "autoupdate": false,
            "permission": {"bash": "ask", "edit": "ask"},
            "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
                "options": {"baseURL": "{url}/v1", "apiKey": "dummy"},
                "models": {"fake-1": {"name": "Fake 1"}}}}}"#,
    )],
    dialogs: &[],
    grants: "Allow once",
    denies: "Reject",
};

impl Cli {
    /// Writes the CLI's own settings into a home, and returns ours for it.
    pub(crate) fn settle(&self, arguments: &[&str], home: &Path, url: &str) -> String {
        let filled =
            |text: &str| text.replace("{url}", url).replace("{home}", home.to_str().unwrap());
        for (name, text) in self.files {
            let file = home.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, filled(text)).unwrap();
        }
        let command: Vec<&str> = [self.name].iter().chain(arguments).copied().collect();
        let command = serde_json::to_string(&command).unwrap();
        let variable = |(name, value): &(&str, &str)| format!("{name} = \"{}\"", filled(value));
        let variables: Vec<String> = self.variables.iter().map(variable).collect();
        let variables = variables.join(", ");
        format!("[cli.{}]\ncommand = {command}\nenv = {{ {variables} }}\n", self.name)
    }
}

/// A CLI that runs as the agent `real` of a hub.
pub(crate) struct RealAgent {
    pub(crate) world: World,
    pub(crate) model: Model,
    cli: &'static Cli,
    /// When it has had all the time there is.
    until: Instant,
}

impl RealAgent {
    /// Starts the CLI, tells it a first prompt, and answers what it asks before that.
    pub(crate) fn start(cli: &'static Cli, prompt: &str) -> Self {
        Self::start_with(cli, cli.arguments, None, prompt, "")
    }

    /// Starts the CLI with other arguments than usual, perhaps with another home for its own
    /// settings, and with more to ours as an agent.
    pub(crate) fn start_with(
        cli: &'static Cli,
        arguments: &[&str],
        home: Option<&Path>,
        prompt: &str,
        settings: &str,
    ) -> Self {
        let mut world = World::new();
        world.set_variable("PATH", &search_path(cli));
        let model = Model::start(&world.root);
        let home = home.map_or_else(|| world.path("home"), Path::to_owned);
        world.write_config(&format!(
            "[stop]\ngrace_seconds = 1\n{}[[team.crew.agents]]\nname = \"real\"\n\
             cli = \"{}\"\nprompt = {prompt:?}\n{settings}",
            cli.settle(arguments, &home, &model.url),
            cli.name,
        ));
        world.trust();
        world.ok(&["up", "crew"]);
        let agent = Self { world, model, cli, until: now() + LIFE_MAX };
        for option in cli.dialogs {
            agent.answer(option);
        }
        agent
    }

    /// Starts the CLI as the orchestrator of four scripted workers, with our own tools and leave to
    /// use them.
    pub(crate) fn lead(cli: &'static Cli) -> Self {
        // Gemini takes servers from no file below a directory that everyone may write to.
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let mut world = World::below(&home.unwrap_or_else(std::env::temp_dir));
        world.set_variable("PATH", &search_path(cli));
        let model = Model::start(&world.root);
        let lead = format!(
            "name = \"real\"\ncli = \"{}\"\nmcp = [\"*\", \"wheelhouse\"]\n\
             tools = [\"*\", \"mcp(wheelhouse)\"]\n",
            cli.name
        );
        world.write_config(&format!(
            "[stop]\ngrace_seconds = 1\n{}{}",
            cli.settle(cli.arguments, &world.path("home"), &model.url),
            world.squad(&lead),
        ));
        world.trust();
        world.ok(&["up", "squad"]);
        let agent = Self { world, model, cli, until: now() + LIFE_MAX };
        for option in cli.dialogs {
            agent.answer(option);
        }
        agent
    }

    pub(crate) fn status(&self) -> AgentStatus {
        self.world.agent("real")
    }

    pub(crate) fn screen(&self) -> String {
        self.world.read("real")
    }

    #[track_caller]
    pub(crate) fn wait_for_state(&self, state: AgentState) {
        let what = format!("{} is {state}", self.cli.name);
        self.wait_for(&what, || self.status().state == state);
    }

    /// Waits until the CLI has ended a turn with a report that has these words in it.
    #[track_caller]
    pub(crate) fn wait_for_report(&self, state: AgentState, words: &str) {
        self.wait_for(&format!("{} is {state}: {words}", self.cli.name), || {
            let status = self.status();
            status.state == state && status.note.is_some_and(|note| note.contains(words))
        });
    }

    /// Waits for as long as a real CLI may take; shows the screen if it was in vain.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, condition: impl FnMut() -> bool) {
        let guard = Witness(self);
        wait_within(PATIENCE.min(self.until.saturating_duration_since(now())), what, condition);
        std::mem::forget(guard);
    }

    /// Hands over a prompt, and waits until the CLI has taken it.
    #[track_caller]
    pub(crate) fn say(&self, prompt: &str) {
        let receipt = self.dispatch(prompt);
        self.wait_until_taken(&receipt);
    }

    /// Hands over a prompt, and returns its receipt.
    pub(crate) fn dispatch(&self, prompt: &str) -> String {
        let guard = Witness(self);
        let receipt = self.world.json(&["dispatch", "real", prompt]);
        std::mem::forget(guard);
        receipt["receipt"].as_str().unwrap().to_owned()
    }

    /// Waits until the CLI has taken a prompt; any other end of it is a failure.
    #[track_caller]
    pub(crate) fn wait_until_taken(&self, receipt: &str) {
        let guard = Witness(self);
        self.wait_for(&format!("the end of {receipt}"), || {
            let said = self.world.run(&["wait", "--receipt", receipt, "--timeout", "20"]);
            assert!(matches!(said.code, Some(0 | 5)), "{said:?}");
            said.code == Some(0)
        });
        std::mem::forget(guard);
    }

    /// Waits for a dialog with an option that begins so, and takes that one.
    #[track_caller]
    pub(crate) fn answer(&self, option: &str) {
        let guard = Witness(self);
        let mut words = Vec::new();
        self.wait_for(&format!("a dialog with `{option}`"), || {
            let Some(dialog) = self.status().dialog else { return false };
            let at = dialog.options.iter().position(|one| one.starts_with(option));
            words = at.map(|at| vec![(at + 1).to_string(), dialog.id]).unwrap_or_default();
            at.is_some()
        });
        let [number, id] = words.as_slice() else { unreachable!("it was just found") };
        self.world.ok(&["agent", "answer", "real", "--option", number, "--dialog", id]);
        std::mem::forget(guard);
    }

    /// Approves or denies what the CLI asks for.
    #[track_caller]
    pub(crate) fn decide(&self, is_granted: bool) {
        self.answer(if is_granted { self.cli.grants } else { self.cli.denies });
    }

    /// Interrupts the CLI, and waits until it has stopped.
    #[track_caller]
    pub(crate) fn interrupt(&self) {
        let guard = Witness(self);
        self.world.ok(&["agent", "interrupt", "real"]);
        std::mem::forget(guard);
    }

    /// Asserts that a prompt has had one turn, and no more.
    #[track_caller]
    pub(crate) fn assert_once(&self, part: &str) {
        let guard = Witness(self);
        assert_eq!(self.model.turns(part), 1, "turns of `{part}`");
        std::mem::forget(guard);
    }

    /// Tells how far the test has come.
    pub(crate) fn tell(&self, what: &str) {
        println!("{}: {what}", self.cli.name);
    }

    /// Returns the path of a file in the project.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.world.project.join(name)
    }
}

/// Shows what stood on the screen when a wait was in vain.
struct Witness<'a>(&'a RealAgent);

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        let Self(RealAgent { world, cli, model, .. }) = self;
        println!("the model was asked: {:?}", model.asked());
        // A test that fails must not fail again over a hub that is gone.
        println!("{:?}", world.running_status().map(|status| status.agents));
        if let Some(screen) = run(world.command(&["agent", "read", "real"])) {
            println!("{}", screen.text());
        }
        if let Some(story) = run(world.command(&["events", "--agent", "real"])) {
            println!("{}", story.text());
        }
        // Two tests of one CLI may fail at once.
        let test = thread::current().name().unwrap_or(cli.name).replace("::", "-");
        let from = world.paths().casts().join("real.cast");
        let to = Path::new(RECORDINGS).join(format!("{test}.cast"));
        let _ = fs::create_dir_all(RECORDINGS);
        if fs::copy(&from, &to).is_ok() {
            println!("its recording is kept in {}", to.display());
        }
    }
}

/// Returns a search path on which the CLIs and what runs them are found.
pub(crate) fn search_path(cli: &Cli) -> String {
    let agents =
        std::env::var_os(AGENTS_ELSEWHERE).map_or_else(|| PathBuf::from(AGENTS), PathBuf::from);
    let agents = agents.canonicalize().unwrap_or_default();
    let is_here = agents.join(cli.name).exists();
    assert!(is_here, "{} is not installed: `.ci/agents` installs it", cli.name);
    let own = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&own).find(|directory| directory.join("node").exists());
    let usual = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let all = [agents].into_iter().chain(node).chain(usual);
    std::env::join_paths(all).unwrap().into_string().unwrap()
}
