//! Agents that wait for each other: one is asked for a stand-in, so that all go on.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Engine;
use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::model::{AgentName, Entry, Letter, Moment, Need, NeedId, NeedState, Task, TaskState};

impl Engine {
    /// Unties every ring of agents that wait for each other, each once.
    pub(in crate::engine) fn break_deadlocks(&mut self, now: Moment) {
        while let Some(ring) = find_ring(&self.waits_for()) {
            if !self.untie(&ring, now) {
                return;
            }
        }
    }

    /// Asks the first of the ring, by name, for a stand-in of what another needs of it.
    fn untie(&mut self, ring: &[AgentName], now: Moment) -> bool {
        let is_in = |need: &&Need| {
            let is_inside = |agent: &AgentName| ring.contains(agent);
            is_open(need) && is_inside(&need.from) && need.to.as_ref().is_some_and(is_inside)
        };
        let tied: Vec<NeedId> = self.needs.values().filter(is_in).map(|need| need.id).collect();
        let to_of = |id: &NeedId| self.needs[id].to.clone();
        let Some(asked) = ring
            .iter()
            .filter(|agent| tied.iter().any(|id| to_of(id).as_ref() == Some(*agent)))
            .min()
            .cloned()
        else {
            return self.untie_locks(ring, now);
        };
        let names = ring.iter().map(AgentName::as_str).collect::<Vec<_>>().join(" → ");
        self.tell(Entry::new("deadlock", format!("{names}: {asked} is asked for a stand-in")));
        for id in tied {
            let need = self.needs.get_mut(&id).expect("it was just found");
            need.is_stubbed = true;
            let need = need.clone();
            self.touch(Place::Need(id));
            if need.to.as_ref() == Some(&asked) {
                let text = prompt_texts::stub_wanted(&need);
                self.post(Letter { agent: asked.clone(), text, tag: None }, now);
                let text = prompt_texts::stub_coming(&asked);
                self.post(Letter { agent: need.from, text, tag: None }, now);
            }
        }
        true
    }

    /// Returns who waits for whom: through what they need, through
    /// tasks that come first, and through locks.
    fn waits_for(&self) -> BTreeMap<AgentName, BTreeSet<AgentName>> {
        let mut edges: BTreeMap<AgentName, BTreeSet<AgentName>> = BTreeMap::new();
        for need in self.needs.values().filter(|need| is_open(need)) {
            let Some(to) = &need.to else { continue };
            edges.entry(need.from.clone()).or_default().insert(to.clone());
        }
        let pending = self.tasks.values().filter(|task| task.state == TaskState::Pending);
        for task in pending {
            let Some(agent) = &task.terms.agent else { continue };
            let before = task.needs.iter().filter_map(|id| self.tasks[id].open());
            let others = before.map(|open| open.agent.clone()).filter(|other| other != agent);
            edges.entry(agent.clone()).or_default().extend(others);
        }
        for (agent, holder) in self.lock_waits() {
            edges.entry(agent).or_default().insert(holder);
        }
        // Who has neither a task nor will get one does not wait.
        let is_busy = |agent: &AgentName| {
            let waits = |task: &Task| task.terms.agent.as_ref() == Some(agent);
            self.task_of(agent).is_some() || self.tasks.values().any(waits)
        };
        edges.retain(|agent, _| is_busy(agent));
        edges
    }
}

fn is_open(need: &Need) -> bool {
    need.state == NeedState::Sent && !need.is_stubbed
}

/// Returns agents each of which waits for the next, and the last for the first.
fn find_ring(edges: &BTreeMap<AgentName, BTreeSet<AgentName>>) -> Option<Vec<AgentName>> {
    let mut is_clear = BTreeSet::new();
    for start in edges.keys() {
        let mut path: Vec<(&AgentName, Vec<&AgentName>)> = vec![(start, next(edges, start))];
        while let Some((agent, rest)) = path.last_mut() {
            let Some(other) = rest.pop() else {
                is_clear.insert(*agent);
                path.pop();
                continue;
            };
            if let Some(begin) = path.iter().position(|(on, _)| *on == other) {
                return Some(path[begin..].iter().map(|(on, _)| (*on).clone()).collect());
            }
            if !is_clear.contains(other) {
                path.push((other, next(edges, other)));
            }
        }
    }
    None
}

fn next<'a>(
    edges: &'a BTreeMap<AgentName, BTreeSet<AgentName>>,
    agent: &AgentName,
) -> Vec<&'a AgentName> {
    edges.get(agent).map(|others| others.iter().rev().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::name;

    fn ring(edges: &[(&str, &[&str])]) -> Option<Vec<String>> {
        let edges = edges
            .iter()
            .map(|(from, to)| (name(from), to.iter().map(|to| name(to)).collect::<BTreeSet<_>>()));
        let found = find_ring(&edges.collect())?;
        Some(found.iter().map(AgentName::to_string).collect())
    }

    #[test]
    fn a_ring_is_found_and_a_chain_is_none() {
        assert_eq!(ring(&[("a", &["b"]), ("b", &["c"])]), None);
        assert_eq!(ring(&[("a", &["c", "b"]), ("b", &["c"])]), None);
        let found = ring(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]);
        assert_eq!(found.unwrap(), ["b", "c"]);
    }
}
