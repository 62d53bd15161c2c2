//! A program with a composer that a test can hold back at every step, behind a real hub.

use std::fmt::Write as _;
use std::fs;

use wheelhouse::model::{Receipt, Stage};

use super::clock::wait_for;
use super::world::{Said, World};

const PROGRAM: &str = "tests/it/support/composer.py";

/// Agents `one` and, where wanted, `two`, each with a composer.
pub(crate) struct Composers {
    pub(crate) world: World,
}

impl Composers {
    /// Starts these agents; `holds` are in the way of `one` from the beginning.
    pub(crate) fn start(names: &[&str], holds: &[&str]) -> Self {
        let composers = Self::prepare(names, holds, "");
        composers.up(names);
        composers
    }

    /// Prepares a team of these agents; each is what the lines say beside its name.
    pub(crate) fn prepare(names: &[&str], holds: &[&str], lines: &str) -> Self {
        let world = World::new();
        fs::copy(PROGRAM, world.path("composer.py")).unwrap();
        let mut config = "[stop]\ngrace_seconds = 1\n".to_owned();
        for name in names {
            fs::create_dir(world.path(name)).unwrap();
            let (program, place) = (world.path("composer.py"), world.path(name));
            let argv = ["python3", program.to_str().unwrap(), place.to_str().unwrap()];
            let argv = serde_json::to_string(&argv).unwrap();
            write!(
                config,
                "[cli.{name}]\nlike = \"sim\"\ncommand = {argv}\n\
                 [cli.{name}.sessions]\nstart = [\"--session-id\", \"{{id}}\"]\n\
                 resume = [\"--resume\", \"{{id}}\"]\n\
                 [[team.crew.agents]]\nname = \"{name}\"\ncli = \"{name}\"\n{lines}\n"
            )
            .unwrap();
        }
        let composers = Self { world };
        for hold in holds {
            composers.hold(hold);
        }
        composers.world.write_config(&config);
        composers.world.trust();
        composers
    }

    /// Starts the team, and waits until these agents have come up.
    pub(crate) fn up(&self, names: &[&str]) {
        self.world.ok(&["up", "crew"]);
        for name in names {
            self.wait_until_up(name);
        }
    }

    pub(crate) fn wait_until_up(&self, name: &str) {
        self.world.wait_for_text(name, "A composer");
        let wait = ["wait", "--agent", name, "--for", "idle,working", "--timeout", "30"];
        self.world.ok(&wait);
    }

    /// Returns the arguments of every run of `one`.
    pub(crate) fn started(&self) -> Vec<Vec<String>> {
        let log = fs::read_to_string(self.world.path("one").join("started")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Holds `one` back.
    pub(crate) fn hold(&self, hold: &str) {
        fs::write(self.world.path("one").join(hold), "").unwrap();
    }

    pub(crate) fn let_go(&self, hold: &str) {
        fs::remove_file(self.world.path("one").join(hold)).unwrap();
    }

    /// Returns the prompts that `one` was given.
    pub(crate) fn submitted(&self) -> Vec<String> {
        self.submitted_to("one")
    }

    pub(crate) fn submitted_to(&self, name: &str) -> Vec<String> {
        let log = fs::read_to_string(self.world.path(name).join("submitted")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Hands a prompt to `one`, and returns its receipt at once.
    pub(crate) fn dispatch(&self, prompt: &str) -> Receipt {
        serde_json::from_value(self.world.json(&["dispatch", "one", prompt])).unwrap()
    }

    pub(crate) fn wait(&self, receipt: &Receipt) -> Said {
        self.world.run(&["wait", "--receipt", &receipt.receipt.to_string(), "--timeout", "30"])
    }

    /// Returns what the status tells of the latest prompt of `one`, unless that was accepted.
    pub(crate) fn latest(&self) -> Option<Receipt> {
        self.world.agent("one").receipt
    }

    pub(crate) fn wait_for_stage(&self, stage: Stage) {
        wait_for(&format!("a prompt is {stage}"), || {
            self.latest().is_some_and(|receipt| receipt.state == stage)
        });
    }
}
