//! A team with four workers that do as workers do: one succeeds, one is blocked, one claims too
//! much, one waits for another.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::world::{PROGRAM, World};

/// What each worker plays.
const WORKERS: [(&str, &str); 4] = [
    ("one", "on prompt\n  run echo 1 > one.txt\n  status done \"wrote one.txt, 3 tests pass\"\n"),
    (
        "two",
        "on prompt containing \"orders_db\"\n  run echo 2 > two.txt\n  \
         status done \"wrote two.txt, 3 tests pass\"\n\
         on prompt\n  status blocked \"the name of the database\"\n",
    ),
    (
        "three",
        "on prompt containing \"in the root\"\n  run echo 3 > three.txt\n  \
         status done \"wrote three.txt, 3 tests pass\"\n\
         on prompt\n  run date +%N >> notes.txt\n  status done \"wrote three.txt, 3 tests pass\"\n",
    ),
    (
        "four",
        "on prompt\n  run echo 4 > four.txt\n  status done \"wrote four.txt, 3 tests pass\"\n",
    ),
];

impl World {
    /// Returns the clis and a team `squad` with these lines for the agent that orchestrates it.
    pub(crate) fn squad(&self, lead: &str) -> String {
        let mut config = format!(
            "[team.squad]\nlayout = \"focus\"\n\
             [[team.squad.agents]]\nrole = \"orchestrator\"\n{lead}\n"
        );
        let mut clis = String::new();
        for (name, script) in WORKERS {
            let path = self.path(&format!("{name}.sim"));
            fs::write(&path, format!("speed 1\n{script}")).unwrap();
            let command = json!([PROGRAM, "sim", path]);
            write!(clis, "[cli.{name}]\nlike = \"sim\"\ncommand = {command}\n").unwrap();
            write!(config, "[[team.squad.agents]]\nname = \"{name}\"\ncli = \"{name}\"\n").unwrap();
        }
        format!("{clis}{config}")
    }
}

/// Returns the goal as tasks.
pub(crate) fn plan() -> Value {
    let task = |agent: &str, words: &str| {
        let gate = format!("file:{agent}.txt");
        json!({ "title": words, "prompt": words, "agent": agent, "key": agent, "gates": [gate] })
    };
    let mut last = task("four", "Join the parts");
    last["needs"] = json!(["one", "two"]);
    json!([
        task("one", "Build the first part"),
        task("two", "Build the second part"),
        task("three", "Build the third part"),
        last,
    ])
}
