//! A real agent CLI in a world of its own, with a scripted model behind it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use wheelhouse::api::AgentStatus;
use wheelhouse::model::AgentState;

use super::clock::{now, wait_within};
use super::model::Model;
pub(crate) use super::real_cli::{CLAUDE, CODEX, Cli, GEMINI, OPENCODE};
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

/// A CLI that runs as the agent `real` of a hub.
pub(crate) struct RealAgent {
    pub(crate) world: World,
    pub(crate) model: Model,
    cli: &'static Cli,
    patience: Duration,
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
        let agent = Self { world, model, cli, patience: PATIENCE, until: now() + LIFE_MAX };
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
        let agent = Self { world, model, cli, patience: PATIENCE, until: now() + LIFE_MAX };
        for option in cli.dialogs {
            agent.answer(option);
        }
        agent
    }

    /// Waits for things no longer than a person would, and lives as long as it takes.
    pub(crate) fn at_a_trot(self) -> Self {
        Self { patience: PATIENCE / 3, until: now() + LIFE_MAX * 4, ..self }
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
        wait_within(
            self.patience.min(self.until.saturating_duration_since(now())),
            what,
            condition,
        );
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
        let receipt = self.world.ok(&["dispatch", "--json", "real", "--", prompt]);
        let receipt: serde_json::Value = serde_json::from_str(&receipt).unwrap();
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

    /// Waits until the CLI has taken a prompt; returns the reason if it was refused.
    #[track_caller]
    pub(crate) fn wait_until_taken_or_refused(&self, receipt: &str) -> Option<String> {
        let guard = Witness(self);
        let mut reason = None;
        self.wait_for(&format!("the end of {receipt}"), || {
            let said = self.world.run(&["wait", "--receipt", receipt, "--timeout", "20"]);
            assert!(matches!(said.code, Some(0 | 3 | 5)), "{said:?}");
            reason = (said.code == Some(3)).then(|| said.out.clone());
            said.code != Some(5)
        });
        std::mem::forget(guard);
        reason
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

    /// Answers the dialogs of a start that a CLI shows anew when it resumes, if it shows any.
    pub(crate) fn answer_first_dialogs_again(&self) {
        self.wait_for("it has come up", || {
            let status = self.status();
            status.dialog.is_some()
                || !matches!(status.state, AgentState::Starting | AgentState::Unknown)
        });
        if self.status().dialog.is_some() {
            self.cli.dialogs.iter().for_each(|option| self.answer(option));
        }
    }

    /// Approves or denies what the CLI asks for.
    #[track_caller]
    pub(crate) fn decide(&self, is_granted: bool) {
        let yes = self.cli.grants.expect("it asks");
        self.answer(if is_granted { yes } else { self.cli.denies });
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
    let is_here = agents.join(cli.program).exists();
    assert!(is_here, "{} is not installed: `.ci/agents` installs it", cli.name);
    let own = std::env::var_os("PATH").unwrap_or_default();
    let node = std::env::split_paths(&own).find(|directory| directory.join("node").exists());
    let usual = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    let all = [agents].into_iter().chain(node).chain(usual);
    std::env::join_paths(all).unwrap().into_string().unwrap()
}
