//! A playbook as data.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::model::{
    AgentName, Kit, LockTerms, Pattern, Posting, Role, optional_regular_expression,
};
use crate::template::{Prompt, Variable};

/// A whole run: who works, on what, in which order, and how each result is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playbook {
    pub name: String,
    pub purpose: String,
    pub pattern: Pattern,
    /// How long a run takes when all goes well.
    pub expected: Option<Duration>,
    pub vars: BTreeMap<String, Variable>,
    /// What takes the place of a default where scripted agents play, who build nothing.
    pub rehearsal: BTreeMap<String, String>,
    /// The team whose agents take part, where the file names one.
    pub team: Option<String>,
    pub agents: Vec<Agent>,
    /// In the order of the file, those of the stages too.
    pub tasks: Vec<Task>,
    pub stages: Vec<Stage>,
    pub teams: Vec<SubTeam>,
    /// What only one task at a time may hold.
    pub locks: Vec<LockTerms>,
}

/// One who takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: AgentName,
    pub cli: String,
    pub role: Role,
    /// What it is told before its first task.
    pub prompt: Option<Prompt>,
    pub owns: Vec<String>,
    pub capabilities: Vec<String>,
    /// What it works with.
    pub kit: Kit,
    /// Where it works, and within which bounds.
    pub posting: Posting,
}

/// A unit of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    pub title: String,
    /// The details, below the title.
    pub prompt: String,
    pub template: String,
    pub vars: BTreeMap<String, String>,
    pub who: Who,
    /// The tasks that must be done before.
    pub needs: Vec<String>,
    /// The paths that it changes; where empty, those of its agent.
    pub owns: Vec<String>,
    /// Commands that must succeed before the task counts as done.
    pub gates: Vec<String>,
    /// How many others look at the result, and how many of them must agree.
    pub verifiers: u32,
    pub agree: u32,
    pub attempts: u32,
    pub time_limit: Option<Duration>,
    pub on_failure: OnFailure,
    /// What is left of the task where it is reduced.
    pub reduced: Option<String>,
    /// Files to read first.
    pub context: Vec<String>,
    /// Files that other tasks hand on.
    pub takes: Vec<String>,
    pub artifacts: Vec<Artifact>,
    pub locks: Vec<String>,
    /// Where the file describes it.
    pub place: Place,
}

/// Who may take a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    pub agent: Option<String>,
    pub role: Option<Role>,
    /// Capabilities, all of them.
    pub requires: Vec<String>,
}

/// What happens once every attempt has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// Goes on without the result; whoever needs it is told so.
    Skip,
    /// Tries once more with less; if that fails too, the run ends.
    Reduce,
    /// Ends the run.
    #[default]
    Stop,
}

/// A file that a task hands on, and what must be true of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Artifact {
    pub path: String,
    #[serde(default)]
    pub format: Format,
    #[serde(default)]
    pub what: String,
    /// A JSON schema, as text.
    pub schema: Option<String>,
    #[serde(default, deserialize_with = "optional_regular_expression")]
    pub regex: Option<String>,
    pub example: Option<String>,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    Text,
    Markdown,
    Json,
    Toml,
    Yaml,
    Csv,
    Html,
}

/// A part of a pipeline: its tasks run once the stage before has passed its gates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub name: String,
    /// Which of the playbook's tasks.
    pub tasks: Range<usize>,
    pub gates: Vec<String>,
    /// The artifacts that the next stage gets.
    pub hands_on: Vec<String>,
}

/// A part of a chain: a lead and those whom it leads.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SubTeam {
    pub name: String,
    pub lead: String,
    #[serde(default)]
    pub members: Vec<String>,
}

impl fmt::Display for OnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
