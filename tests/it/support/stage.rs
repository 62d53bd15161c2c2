//! Runs of playbooks without a dashboard, as a script sees them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use super::process;
use super::world::World;

/// The built-in playbooks, each with what must be given to it.
pub(crate) const PLAYBOOKS: [(&str, &[&str]); 6] = [
    ("feature-build", &["feature=Sign in"]),
    ("research-deep-dive", &["question=Is it fast?"]),
    ("product-launch", &["product=Acme 2"]),
    ("content-sprint", &["subject=Backups"]),
    ("bug-triage-swarm", &["list=docs/faults.md"]),
    ("competitive-analysis", &["ours=A", "first=B", "second=C", "third=D"]),
];

/// How a run went: its lines, and its exit code.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) lines: Vec<Value>,
    pub(crate) code: Option<i32>,
}

impl Told {
    pub(crate) fn last(&self) -> &Value {
        self.lines.last().unwrap()
    }

    pub(crate) fn state(&self) -> &str {
        self.last()["state"].as_str().unwrap()
    }

    /// Returns the texts of all that happened of this kind.
    pub(crate) fn texts(&self, event: &str) -> Vec<&str> {
        let found = self.lines.iter().filter(|line| line["event"] == event);
        found.filter_map(|line| line["text"].as_str()).collect()
    }
}

impl World {
    /// Begins a run of a built-in playbook, or takes part in one, with scripted agents.
    pub(crate) fn perform(&self, arguments: &[&str]) -> Child {
        let fixed = ["run", "--headless", "--json", "--timeout", "150"];
        let mut command = self.command(&[&fixed, arguments].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap()
    }

    pub(crate) fn performed(&self, arguments: &[&str]) -> Told {
        listen(self.perform(arguments), |_| {})
    }

    /// Writes a playbook and the script of all its agents, and runs it.
    pub(crate) fn rehearse(&self, playbook: &str, script: &str) -> Told {
        let path = self.write_playbook(playbook, script);
        self.performed(&[&path, "--with", "sim"])
    }

    pub(crate) fn write_playbook(&self, playbook: &str, script: &str) -> String {
        let path = self.path("own.toml");
        fs::write(&path, playbook).unwrap();
        fs::write(self.path("own.sim"), script).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn end_hub_at_once(&self) {
        for pid in self.players("hub") {
            process::kill(pid, Signal::KILL);
        }
    }
}

/// Hears a run to its end, and does something at each line.
pub(crate) fn listen(mut child: Child, mut at: impl FnMut(usize)) -> Told {
    let mut lines = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        lines.push(serde_json::from_str(&line.unwrap()).unwrap());
        at(lines.len());
    }
    Told { lines, code: child.wait().unwrap().code() }
}
