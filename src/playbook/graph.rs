//! Which task waits for which.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::shape::Playbook;

/// The tasks by their place in the playbook, and what each needs.
#[derive(Debug)]
pub(super) struct Graph {
    needs: Vec<BTreeSet<usize>>,
    /// What each needs, directly or through others.
    before: Vec<BTreeSet<usize>>,
}

impl Graph {
    /// Names that no task has are left out; a task of a stage needs the whole stage before.
    pub(super) fn of(playbook: &Playbook) -> Self {
        let places: BTreeMap<&str, usize> =
            playbook.tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect();
        let named = |task: &super::Task| {
            task.needs.iter().filter_map(|id| places.get(id.as_str()).copied()).collect()
        };
        let mut needs: Vec<BTreeSet<usize>> = playbook.tasks.iter().map(named).collect();
        for pair in playbook.stages.windows(2) {
            for task in pair[1].tasks.clone() {
                needs[task].extend(pair[0].tasks.clone());
            }
        }
        let before = (0..needs.len()).map(|task| all_before(&needs, task)).collect();
        Self { needs, before }
    }

    /// Says whether one of the tasks can only begin after the other.
    pub(super) fn are_ordered(&self, one: usize, other: usize) -> bool {
        self.comes_before(one, other) || self.comes_before(other, one)
    }

    /// Says whether the first task is done before the second begins.
    pub(super) fn comes_before(&self, first: usize, second: usize) -> bool {
        self.before[second].contains(&first)
    }

    pub(super) fn needs(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        self.needs[task].iter().copied()
    }

    /// Returns tasks that wait for each other, each for the next, and the first again at the end.
    pub(super) fn cycle(&self) -> Option<Vec<usize>> {
        let start = (0..self.needs.len()).find(|task| self.before[*task].contains(task))?;
        // The shortest way back to the start: each task is met first on a shortest way to it.
        let mut from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(task) = open.pop_front() {
            for next in self.needs(task) {
                if let Entry::Vacant(unmet) = from.entry(next) {
                    unmet.insert(task);
                    open.push_back(next);
                }
            }
        }
        let mut path = vec![start];
        loop {
            path.push(*from.get(&path[path.len() - 1])?);
            if path[path.len() - 1] == start {
                path.reverse();
                return Some(path);
            }
        }
    }

    /// Returns the tasks in waves: what could run at once, each wave after those before it.
    pub(super) fn waves(&self) -> Vec<Vec<usize>> {
        let mut done = BTreeSet::new();
        let mut waves = Vec::new();
        loop {
            let is_ready =
                |task: &usize| !done.contains(task) && self.needs[*task].is_subset(&done);
            let wave: Vec<usize> = (0..self.needs.len()).filter(is_ready).collect();
            if wave.is_empty() {
                return waves;
            }
            done.extend(wave.iter().copied());
            waves.push(wave);
        }
    }
}

fn all_before(needs: &[BTreeSet<usize>], task: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = needs[task].iter().copied().collect();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&needs[next]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(needs: &[&[usize]]) -> Graph {
        let needs: Vec<BTreeSet<usize>> =
            needs.iter().map(|n| n.iter().copied().collect()).collect();
        let before = (0..needs.len()).map(|task| all_before(&needs, task)).collect();
        Graph { needs, before }
    }

    #[test]
    fn waves_are_what_could_run_at_once() {
        let graph = graph(&[&[], &[0], &[0], &[1, 2], &[]]);
        assert_eq!(graph.waves(), [vec![0, 4], vec![1, 2], vec![3]]);
        assert!(graph.are_ordered(0, 3) && !graph.are_ordered(1, 2) && graph.cycle().is_none());
    }

    #[test]
    fn a_cycle_is_told_with_its_path() {
        assert_eq!(graph(&[&[1], &[2], &[0], &[0]]).cycle().unwrap(), [0, 1, 2, 0]);
        assert_eq!(graph(&[&[], &[1]]).cycle().unwrap(), [1, 1]);
    }

    proptest! {
        #[test]
        fn a_graph_has_a_cycle_exactly_if_its_waves_leave_a_task_out(
            needs in prop::collection::vec(prop::collection::btree_set(0usize..8, 0..3), 8)
        ) {
            let before = (0..8).map(|task| all_before(&needs, task)).collect();
            let graph = Graph { needs: needs.clone(), before };
            let placed: usize = graph.waves().iter().map(Vec::len).sum();
            prop_assert_eq!(graph.cycle().is_some(), placed < 8);
            if let Some(path) = graph.cycle() {
                prop_assert!(path.windows(2).all(|pair| needs[pair[0]].contains(&pair[1])));
                prop_assert!(path.len() >= 2 && path.first() == path.last());
            }
        }
    }
}
