//! A real agent CLI in a world of its own, with a scripted model behind it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wheelhouse::model::AgentState;
use wheelhouse::wire::AgentStatus;

use super::clock::{now, wait_within};
use super::model::Model;
use super::process;
use super::world::World;

/// Where `.ci/agents` puts the CLIs.
const AGENTS: &str = "target/agents/node_modules/.bin";
/// Some need half a minute to come up on a busy machine, and more if others compile.
const PATIENCE: Duration = Duration::from_mins(2);
/// An echo that has not changed for this long is complete.
const STILL: Duration = Duration::from_millis(600);

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
    /// Its model can put questions to the person.
    pub(crate) asks: bool,
    /// It starts itself again once it is trusted, and looks ready before that.
    starts_again: bool,
    /// What stands on the screen, one below the other, once it has really come up.
    banner: [&'static str; 2],
}

pub(crate) const CLAUDE: Cli = Cli {
    name: "claude",
    arguments: &["--permission-mode", "default"],
    variables: &[
        ("ANTHROPIC_BASE_URL", "{url}"),
        ("ANTHROPIC_API_KEY", "sk-ant-dummy"),
        ("CLAUDE_CONFIG_DIR", "{home}/.claude"),
    ],
    files: &[(".claude/.claude.json", r#"{"hasCompletedOnboarding": true}"#)],
    dialogs: &["Yes, I trust", "Yes"],
    grants: "Yes",
    denies: "No",
    asks: true,
    starts_again: false,
    banner: ["Claude Code v", "❯"],
};

pub(crate) const CODEX: Cli = Cli {
    name: "codex",
    arguments: &["--no-daemon", "-a", "on-request", "-s", "read-only"],
    variables: &[("MODEL_KEY", "dummy"), ("CODEX_HOME", "{home}/.codex")],
    files: &[(
        ".codex/config.toml",
        "model = \"gpt-5-codex\"\nmodel_provider = \"scripted\"\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n",
    )],
    dialogs: &[],
    grants: "Yes",
    denies: "No",
    asks: false,
    starts_again: false,
    banner: ["OpenAI Codex", "›"],
};

pub(crate) const GEMINI: Cli = Cli {
    name: "gemini",
    arguments: &[],
    variables: &[("GOOGLE_GEMINI_BASE_URL", "{url}"), ("GEMINI_API_KEY", "dummy")],
    files: &[(
        ".gemini/settings.json",
        r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#,
    )],
    dialogs: &["Trust folder"],
    grants: "Allow once",
    denies: "No",
    asks: true,
    starts_again: true,
    banner: ["Tips for getting started", "Type your message"],
};

pub(crate) const OPENCODE: Cli = Cli {
    name: "opencode",
    arguments: &[],
    variables: &[("OPENCODE_CONFIG", "{home}/opencode.json")],
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
    asks: true,
    starts_again: false,
    banner: ["Ask anything", "ctrl+p commands"],
};

/// A CLI that runs as the agent `real` of a hub.
pub(crate) struct RealAgent {
    pub(crate) world: World,
    pub(crate) model: Model,
    cli: &'static Cli,
}

impl RealAgent {
    /// Starts the CLI; returns nothing, and says so, if it is not installed.
    pub(crate) fn start(cli: &'static Cli) -> Option<Self> {
        let agents = Path::new(AGENTS).canonicalize().ok();
        let Some(agents) = agents.filter(|agents| agents.join(cli.name).exists()) else {
            println!("skipped: {} is not installed; `.ci/agents` installs it", cli.name);
            return None;
        };
        let mut world = World::new();
        world.set_variable("PATH", &search_path(&agents));
        let model = Model::start(&world.root);
        let home = world.path("home");
        let filled = |text: &str| {
            text.replace("{url}", &model.url).replace("{home}", home.to_str().unwrap())
        };
        for (name, text) in cli.files {
            let file = home.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, filled(text)).unwrap();
        }
        let command: Vec<&str> = [cli.name].iter().chain(cli.arguments).copied().collect();
        let command = serde_json::to_string(&command).unwrap();
        let variable = |(name, value): &(&str, &str)| format!("{name} = \"{}\"", filled(value));
        let variables: Vec<String> = cli.variables.iter().map(variable).collect();
        world.write_config(&format!(
            "[stop]\ngrace_seconds = 1\n[cli.{0}]\ncommand = {command}\n\
             [[team.crew.agents]]\nname = \"real\"\ncli = \"{0}\"\nenv = {{ {1} }}\n",
            cli.name,
            variables.join(", "),
        ));
        world.trust();
        world.ok(&["up", "crew"]);
        Some(Self { world, model, cli })
    }

    /// Starts the CLI, and answers what it asks before its first prompt.
    pub(crate) fn ready(cli: &'static Cli) -> Option<Self> {
        let agent = Self::start(cli)?;
        let parts = agent.parts();
        for option in cli.dialogs {
            agent.answer(option);
        }
        if cli.starts_again {
            agent.wait_for("its second start", || {
                let now = agent.parts();
                !now.is_empty() && now.iter().all(|part| !parts.contains(part))
            });
        }
        let [first, second] = cli.banner;
        agent.wait_for("the CLI has come up", || {
            let all = agent.world.ok(&["agent", "read", "real", "--scrollback"]);
            all.split(first).skip(1).any(|rest| rest.contains(second))
        });
        agent.wait_until_still();
        agent.wait_for_state(AgentState::Idle);
        Some(agent)
    }

    pub(crate) fn status(&self) -> AgentStatus {
        self.world.agent("real")
    }

    /// Returns the processes that the agent's own has started.
    fn parts(&self) -> Vec<u32> {
        let own = self.status().pid;
        process::numbers().filter(|pid| own.is_some() && process::parent(*pid) == own).collect()
    }

    pub(crate) fn screen(&self) -> String {
        self.world.read("real")
    }

    #[track_caller]
    pub(crate) fn wait_for_state(&self, state: AgentState) {
        let what = format!("{} is {state}", self.cli.name);
        self.wait_for(&what, || self.status().state == state);
    }

    /// Waits for as long as a real CLI may take; shows the screen if it was in vain.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, condition: impl FnMut() -> bool) {
        let guard = Witness(self);
        wait_within(PATIENCE, what, condition);
        std::mem::forget(guard);
    }

    /// Hands over a prompt, and waits until the CLI has taken it.
    #[track_caller]
    pub(crate) fn say(&self, prompt: &str) {
        let guard = Witness(self);
        self.world.ok(&["dispatch", "real", prompt, "--wait", "--timeout", "35"]);
        std::mem::forget(guard);
    }

    /// Answers the dialog in sight with the first option that begins so.
    #[track_caller]
    pub(crate) fn answer(&self, option: &str) {
        let guard = Witness(self);
        self.wait_for_state(AgentState::Waiting);
        // What a signal announces may have yet to be drawn.
        self.wait_until_still();
        // A dialog that is being drawn anew counts as another one: then nothing was chosen.
        wait_within(PATIENCE, &format!("an answer that begins with `{option}`"), || {
            let Some(dialog) = self.status().dialog else { return false };
            let at = dialog.options.iter().position(|one| one.starts_with(option));
            let Some(number) = at.map(|at| (at + 1).to_string()) else { return false };
            let words = ["agent", "answer", "real", "--option", &number, "--dialog", &dialog.id];
            self.world.run(&words).code == Some(0)
        });
        std::mem::forget(guard);
    }

    /// Approves or denies what the CLI asks for.
    pub(crate) fn decide(&self, is_granted: bool) {
        self.answer(if is_granted { self.cli.grants } else { self.cli.denies });
    }

    /// Waits until the screen rests: what a signal announces may have yet to be drawn.
    pub(crate) fn wait_until_still(&self) {
        let mut last = (String::new(), now());
        self.wait_for("the screen rests", || {
            let screen = self.screen();
            if screen != last.0 {
                last = (screen, now());
            }
            now() - last.1 > STILL
        });
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
        println!("{:?}\n{}", self.0.status(), self.0.screen());
    }
}

/// Returns a search path on which the CLIs and what runs them are found.
fn search_path(agents: &Path) -> String {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&own).find(|directory| directory.join("node").exists());
    let usual = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let all = [agents.to_owned()].into_iter().chain(node).chain(usual);
    std::env::join_paths(all).unwrap().into_string().unwrap()
}
