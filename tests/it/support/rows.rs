//! A scripted team whose hub is killed in the middle of what it does about a report.

use std::fmt::Write as _;
use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use super::clock::wait_for;
use super::process::{self, identify};
use super::show::Show;
use super::world::{PROGRAM, World};

/// One agent: its name, more lines of its table in the team, and its script.
pub(crate) type Player<'a> = (&'a str, &'a str, String);

/// Keeps a turn open until the test lets it end. What the hub has to say waits for that.
pub(crate) const HOLD: &str = "await go 9000s";

/// Returns a script that answers the first prompt with these steps, and every prompt that has a
/// part in it with others. It keeps a list of what it was told: a word for each, `other` for the rest.
pub(crate) fn script(name: &str, first: &[&str], then: &[(&str, &str, &[&str])]) -> String {
    let mut text = "speed 10\n".to_owned();
    for (part, word, steps) in then {
        block(&mut text, name, &format!("prompt containing \"{part}\""), word, steps);
    }
    if !first.is_empty() {
        block(&mut text, name, "first prompt", "task", first);
    }
    block(&mut text, name, "prompt", "other", &["say \"Heard.\""]);
    text
}

fn block(text: &mut String, name: &str, event: &str, word: &str, steps: &[&str]) {
    // A turn that nobody sees is waited for in vain, for a while.
    writeln!(text, "on {event}\n  append {name}.heard\n    {word}\n  think 3s").unwrap();
    for step in steps {
        writeln!(text, "  {step}").unwrap();
    }
}

impl World {
    /// Returns a world in whose project this team is at its places; settings stand before it.
    pub(crate) fn with_players(settings: &str, players: &[Player]) -> Show {
        let world = Self::staged(settings, players);
        world.ok(&["up", "crew"]);
        Show::of(world)
    }

    /// Returns a world whose team has yet to come.
    pub(crate) fn staged(settings: &str, players: &[Player]) -> Self {
        let world = Self::new();
        let mut config = format!("{settings}\n[stop]\ngrace_seconds = 1\n");
        for (name, more, script) in players {
            let path = world.path(&format!("{name}.sim"));
            fs::write(&path, script).unwrap();
            let command = serde_json::to_string(&[PROGRAM, "sim", path.to_str().unwrap()]).unwrap();
            write!(
                config,
                "[cli.{name}]\nlike = \"sim\"\ncommand = {command}\n\
                 [[team.crew.agents]]\nname = \"{name}\"\ncli = \"{name}\"\n{more}\n"
            )
            .unwrap();
        }
        world.write_config(&config);
        world.trust();
        world
    }

    /// Adds a task, and returns its id.
    pub(crate) fn add(&self, more: &[&str]) -> String {
        let fixed = ["task", "add", "--title", "work", "--prompt", "do it"];
        self.json(&[&fixed, more].concat())["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn task(&self, id: &str) -> Value {
        self.json(&["task", "show", id])
    }

    pub(crate) fn wait_for_task(&self, id: &str, state: &str) -> Value {
        wait_for(&format!("{id} is {state}"), || self.task(id)["state"] == state);
        self.task(id)
    }

    /// Returns how often the journal tells of this; the agent may be empty.
    pub(crate) fn times(&self, kind: &str, agent: &str, part: &str) -> usize {
        let entries = self.ok(&["events", "--json"]);
        let is_it = |line: &&str| {
            let entry: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
            text("kind") == kind && text("agent") == agent && text("text").contains(part)
        };
        entries.lines().filter(is_it).count()
    }

    pub(crate) fn wait_for_entry(&self, kind: &str, agent: &str, part: &str) {
        let what = format!("{kind} of {agent}: {part}");
        wait_for(&what, || self.times(kind, agent, part) > 0);
    }

    /// Kills the hub, and waits until the next one has found every agent again.
    pub(crate) fn kill_hub(&self) {
        let before = self.running_status().unwrap();
        process::kill(before.hub.pid, Signal::KILL);
        let pids: Vec<_> = before.agents.iter().map(|agent| agent.pid).collect();
        wait_for("the next hub", || {
            let is_back = |status: &wheelhouse::api::Status| {
                let found: Vec<_> = status.agents.iter().map(|agent| agent.pid).collect();
                status.hub.pid != before.hub.pid && found == pids
            };
            identify(before.hub.pid).is_none() && self.running_status().is_some_and(|s| is_back(&s))
        });
    }

    /// Lets the turns end that `HOLD` keeps open.
    pub(crate) fn go(&self) {
        fs::write(self.project.join("go"), "go\n").unwrap();
    }

    /// Returns what an agent was told, by its own list.
    pub(crate) fn heard(&self, agent: &str) -> Vec<String> {
        let list = fs::read_to_string(self.project.join(format!("{agent}.heard")));
        list.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub(crate) fn wait_until_heard(&self, agent: &str, words: &[&str]) {
        wait_for(&format!("{agent} was told {words:?}"), || self.heard(agent).len() >= words.len());
        assert_eq!(self.heard(agent), words, "{agent}");
    }

    /// Returns what waits for a person, of this kind.
    pub(crate) fn items(&self, kind: &str) -> Vec<Value> {
        let items = self.json(&["attention"]);
        let items = items.as_array().unwrap().iter();
        items.filter(|item| item["kind"] == kind).cloned().collect()
    }

    pub(crate) fn wait_for_item(&self, kind: &str) -> Value {
        wait_for(&format!("{kind} in the queue"), || !self.items(kind).is_empty());
        let mut items = self.items(kind);
        assert_eq!(items.len(), 1, "{items:?}");
        items.remove(0)
    }

    /// Makes sure that one more hub has nothing to add: no prompt, no item, no other state.
    pub(crate) fn assert_at_rest(&self) {
        let rests =
            |state: &str| matches!(state, "idle" | "done" | "blocked" | "error" | "limited");
        let settle = || {
            self.wait_for_status("rest", |status| {
                status.agents.iter().all(|agent| rests(&agent.state.to_string()))
            });
            wait_for("every prompt to have an end", || {
                let rows = self.rows();
                let open = ["queued", "typed", "seen", "submitted"];
                let stage = |value: &Value| value["stage"].as_str().unwrap_or_default().to_owned();
                let prompts = rows.iter().filter(|((table, _), _)| table == "dispatch");
                prompts.into_iter().all(|(_, value)| !open.contains(&stage(value).as_str()))
            });
            let status = self.status();
            let told: Vec<_> = status.agents.iter().map(|agent| self.heard(&agent.name)).collect();
            let tasks: Vec<_> = self
                .json(&["task", "list"])
                .as_array()
                .unwrap()
                .iter()
                .map(|task| (task["state"].clone(), task["attempts"].as_array().map(Vec::len)))
                .collect();
            let items: Vec<_> = self
                .json(&["attention"])
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["id"].clone())
                .collect();
            (told, tasks, items)
        };
        let before = settle();
        self.kill_hub();
        assert_eq!(settle(), before);
    }
}
