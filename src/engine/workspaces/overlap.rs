//! Work that will meet: two workspaces change the same file, or one changes a file that another owns.

use std::collections::BTreeMap;

use globset::GlobSet;

use crate::engine::attention::queue::Cause;
use crate::engine::teamwork::ownership::domain;
use crate::engine::{Engine, Seat};
use crate::model::{AgentName, AttentionKind, Merge};

/// Two agents, and the files that both of them change, or that one changes and the other owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Who changes the files.
    pub agent: AgentName,
    /// Who changes them too, or owns them.
    pub other: AgentName,
    pub other_owns: bool,
    pub files: Vec<String>,
}

impl Overlap {
    /// Returns what a person is told.
    pub fn words(&self) -> String {
        let first = self.files.first().map(String::as_str).unwrap_or_default();
        let more = match self.files.len().saturating_sub(1) {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        let Self { agent, other, .. } = self;
        if self.other_owns {
            format!("{first}{more}, which {other} owns, changed in the workspace of {agent}")
        } else {
            format!("{first}{more} changed in the workspaces of {agent} and {other}")
        }
    }
}

impl Engine {
    /// Returns where the work of two agents will meet.
    pub fn overlaps(&self) -> Vec<Overlap> {
        if self.workspaces.is_empty() {
            return Vec::new();
        }
        let mut overlaps = Vec::new();
        let mut changers: BTreeMap<&str, Vec<&AgentName>> = BTreeMap::new();
        for workspace in self.workspaces.values() {
            for file in &workspace.files {
                changers.entry(file).or_default().push(&workspace.agent);
            }
        }
        let mut pairs: BTreeMap<(&AgentName, &AgentName), Vec<String>> = BTreeMap::new();
        for (file, agents) in &changers {
            for (at, one) in agents.iter().enumerate() {
                for other in &agents[at + 1..] {
                    pairs.entry((one, other)).or_default().push((*file).to_owned());
                }
            }
        }
        for ((agent, other), files) in pairs {
            let (agent, other) = (agent.clone(), other.clone());
            overlaps.push(Overlap { agent, other, other_owns: false, files });
        }
        let owners = self.all_owners();
        for workspace in self.workspaces.values() {
            for (owner, domain) in owners.iter().filter(|(owner, _)| *owner != workspace.agent) {
                let files = workspace.files.iter().filter(|file| domain.is_match(file));
                let files: Vec<String> = files.cloned().collect();
                if !files.is_empty() {
                    let (agent, other) = (workspace.agent.clone(), owner.clone());
                    overlaps.push(Overlap { agent, other, other_owns: true, files });
                }
            }
        }
        overlaps
    }

    /// Returns where the work of one agent will meet another's.
    pub fn overlaps_of(&self, agent: &AgentName) -> Vec<Overlap> {
        let is_its =
            |one: &Overlap| one.agent == *agent || (one.other == *agent && !one.other_owns);
        self.overlaps().into_iter().filter(is_its).collect()
    }

    /// Returns what a person should know about workspaces.
    pub(in crate::engine) fn causes_of_workspaces(&self) -> Vec<Cause> {
        let overlaps = self.overlaps().into_iter().map(|overlap| {
            let Overlap { agent, other, other_owns, .. } = &overlap;
            let hint = format!(
                "See `wheelhouse workspace diff {agent}`; `wheelhouse workspace merge {agent} \
                 --dry-run` says what would come of it"
            );
            let key = format!("overlap:{agent}:{other}:{other_owns}");
            self.cause(key, agent, overlap.words(), hint)
        });
        let merges = self.stranded_merges().into_iter().map(|merge: &Merge| {
            let agent = &merge.agent;
            let note = merge.note.as_deref().and_then(|note| note.lines().next());
            let files: Vec<&str> = merge.files.iter().map(|file| file.path.as_str()).collect();
            let files =
                if files.is_empty() { String::new() } else { format!(": {}", files.join(", ")) };
            let text =
                format!("its work was not brought back: {}{files}", note.unwrap_or_default());
            let hint = format!("Try again with `wheelhouse workspace merge {agent}`");
            let mut cause = self.cause(format!("merge:{}", merge.id), agent, text, hint);
            cause.task = merge.task;
            cause
        });
        let changed = self.workspaces.values().find(|one| !one.changed_settings.is_empty());
        let settings = changed.map(|workspace| {
            let names = workspace.changed_settings.join(", ");
            let text = format!("the repository's settings have changed: {names}");
            let hint = "Look at them with `git config --local --list`: git runs what they name, \
                        except when Wheelhouse calls it";
            self.cause(format!("settings:{names}"), &workspace.agent, text, hint.to_owned())
        });
        overlaps.chain(merges).chain(settings).collect()
    }

    fn cause(&self, key: String, agent: &AgentName, text: String, hint: String) -> Cause {
        let task = self.task_of(agent).map(|task| task.id);
        let (kind, agent, hint) = (AttentionKind::Conflict, Some(agent.clone()), Some(hint));
        Cause { key, kind, agent, task, text, hint, ruling: None }
    }

    pub(in crate::engine) fn owners_of(&self, path: &str) -> Vec<AgentName> {
        let owners = self.all_owners().into_iter();
        owners.filter(|(_, domain)| domain.is_match(path)).map(|(agent, _)| agent).collect()
    }

    fn all_owners(&self) -> Vec<(AgentName, GlobSet)> {
        let owns = |seat: &&Seat| !seat.member.owns.is_empty();
        let owner = |seat: &Seat| (seat.member.name.clone(), domain(&seat.member.owns));
        self.seats.values().filter(owns).map(owner).collect()
    }
}
