//! What is asked about runs of playbooks and about locks, and how they are told.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Lock, Moment, Pattern, Play, PlayState, Task};

/// A run at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunStatus {
    pub id: String,
    pub playbook: String,
    /// The SHA-256 of the playbook's text.
    pub hash: String,
    pub pattern: Pattern,
    pub state: PlayState,
    pub note: Option<String>,
    pub vars: BTreeMap<String, String>,
    pub agents: Vec<String>,
    /// The agents that it started itself.
    pub own: Vec<String>,
    /// Its tasks, by what the playbook calls them or by their own id.
    pub tasks: BTreeMap<String, String>,
    /// In the form of RFC 3339.
    pub started: String,
    pub ended: Option<String>,
}

impl RunStatus {
    /// Returns what is told of a run and its tasks, oldest first.
    pub fn new<'a>(play: &Play, tasks: impl IntoIterator<Item = &'a Task>) -> Self {
        let ended = play.tasks.iter().map(|(label, id)| (label.clone(), id.to_string()));
        let known = tasks.into_iter().map(|task| (task.label(), task.id.to_string()));
        let cast = &play.cast;
        Self {
            id: play.id.to_string(),
            playbook: cast.playbook.clone(),
            hash: cast.hash.clone(),
            pattern: cast.pattern,
            state: play.state,
            note: play.note.clone(),
            vars: cast.vars.clone(),
            agents: cast.agents.iter().map(|player| player.name.to_string()).collect(),
            own: play.own.iter().map(ToString::to_string).collect(),
            tasks: ended.chain(known).collect(),
            started: play.started.to_rfc3339(),
            ended: play.ended.map(Moment::to_rfc3339),
        }
    }
}

/// A lock at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockStatus {
    pub name: String,
    /// Nobody: a person.
    pub holder: Option<String>,
    pub task: Option<String>,
    /// In the form of RFC 3339.
    pub since: String,
    pub until: String,
    /// Who waits for it, the next one first.
    pub waiting: Vec<Option<String>>,
}

impl From<&Lock> for LockStatus {
    fn from(lock: &Lock) -> Self {
        let holder = &lock.holder;
        let name =
            |agent: &Option<crate::model::AgentName>| agent.as_ref().map(ToString::to_string);
        Self {
            name: lock.name.clone(),
            holder: name(&holder.agent),
            task: holder.task.map(|task| task.to_string()),
            since: holder.since.to_rfc3339(),
            until: holder.until.to_rfc3339(),
            waiting: lock.waiting.iter().map(|waiter| name(&waiter.agent)).collect(),
        }
    }
}
