//! Which tasks come first, and when a task may start.

use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::model::{Moment, OnFailure, Refusal, Task, TaskId, TaskSpec, TaskState};

/// Returns the tasks that each of the specs needs; the specs get the numbers after `count`.
pub(in crate::engine) fn resolve(
    specs: &[TaskSpec],
    count: u64,
    known: &BTreeMap<TaskId, Task>,
) -> Result<Vec<Vec<TaskId>>, Refusal> {
    let first = TaskId(count + 1);
    let ids: BTreeMap<&str, TaskId> = specs
        .iter()
        .zip(first.0..)
        .filter_map(|(spec, number)| Some((spec.key.as_deref()?, TaskId(number))))
        .collect();
    if ids.len() < specs.iter().filter(|spec| spec.key.is_some()).count() {
        return Err(Refusal::BadTask { reason: "Two tasks have the same key".to_owned() });
    }
    let find = |need: &String| {
        let by_id = || need.parse().ok().filter(|id| known.contains_key(id));
        let found = ids.get(need.as_str()).copied().or_else(by_id);
        let shown = need.chars().filter(|c| !c.is_control()).take(64).collect();
        found.ok_or(Refusal::UnknownTask { task: shown })
    };
    let needs: Vec<Vec<TaskId>> = specs
        .iter()
        .map(|spec| spec.needs.iter().map(find).collect())
        .collect::<Result<_, Refusal>>()?;
    match find_cycle(first, &needs) {
        Some(path) => {
            let index = |id: &TaskId| usize::try_from(id.0 - first.0).unwrap_or_default();
            let name = |id| specs[index(id)].key.clone().unwrap_or_else(|| id.to_string());
            Err(Refusal::TaskCycle { path: path.iter().map(name).collect() })
        }
        None => Ok(needs),
    }
}

/// Returns a way from a task back to itself. Tasks that are older need none of these.
fn find_cycle(first: TaskId, needs: &[Vec<TaskId>]) -> Option<Vec<TaskId>> {
    let mut is_clear = vec![false; needs.len()];
    for start in 0..needs.len() {
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            let need = needs[at].get(*next).copied();
            *next += 1;
            let Some(need) = need else {
                is_clear[at] = true;
                path.pop();
                continue;
            };
            let index = need.0.checked_sub(first.0).and_then(|index| usize::try_from(index).ok());
            let Some(index) = index.filter(|index| !is_clear[*index]) else { continue };
            if let Some(begin) = path.iter().position(|(on, _)| *on == index) {
                let ids = path[begin..].iter().map(|(on, _)| TaskId(first.0 + *on as u64));
                return Some(ids.chain([need]).collect());
            }
            path.push((index, 0));
        }
    }
    None
}

/// What a task's needs amount to.
enum Standing {
    Met { skipped: Vec<TaskId> },
    Waits { note: Option<String> },
    Lost { need: TaskId },
}

impl Engine {
    /// Puts every task that is not under way where its needs put it.
    pub(in crate::engine) fn refresh_readiness(&mut self, now: Moment) {
        // A task that fails may fail those that need it, however they are numbered.
        while self.refresh_once(now) {}
    }

    fn refresh_once(&mut self, now: Moment) -> bool {
        let waiting: Vec<TaskId> = self
            .tasks
            .values()
            .filter(|task| matches!(task.state, TaskState::Pending | TaskState::Ready))
            .map(|task| task.id)
            .collect();
        let mut has_failed = false;
        for id in waiting {
            let (state, note) = match self.standing(id) {
                Standing::Met { .. } if self.awaited_stage(&self.tasks[&id]).is_some() => {
                    let stage = self.awaited_stage(&self.tasks[&id]);
                    let name = stage.map(|stage| stage.name.clone()).unwrap_or_default();
                    (TaskState::Pending, Some(format!("stage {name} has not passed yet")))
                }
                Standing::Met { skipped } if skipped.is_empty() => {
                    (TaskState::Ready, self.tasks[&id].reduction())
                }
                Standing::Met { skipped } => {
                    let note = format!("goes on without {}, which failed", list(&skipped));
                    (TaskState::Ready, Some(note))
                }
                Standing::Waits { note } => (TaskState::Pending, note),
                Standing::Lost { need } => {
                    has_failed = true;
                    (TaskState::Failed, Some(format!("needs {need}, which failed")))
                }
            };
            self.set_task(id, state, note, now);
        }
        has_failed
    }

    fn standing(&self, id: TaskId) -> Standing {
        let mut skipped = Vec::new();
        let mut waits = None;
        for need in &self.tasks[&id].needs {
            let task = &self.tasks[need];
            match (task.state, task.terms.on_failure) {
                (TaskState::Done, _) => {}
                (TaskState::Failed, OnFailure::Skip) => skipped.push(*need),
                (TaskState::Failed, OnFailure::Stop) => return Standing::Lost { need: *need },
                (TaskState::Failed | TaskState::Cancelled, _) => {
                    waits = Some(Some(format!("needs {need}, which is {}", task.state)));
                }
                (
                    TaskState::Pending
                    | TaskState::Ready
                    | TaskState::Running
                    | TaskState::Claimed
                    | TaskState::Blocked
                    | TaskState::Interrupted,
                    _,
                ) => waits = waits.or(Some(None)),
            }
        }
        match waits {
            Some(note) => Standing::Waits { note },
            None => Standing::Met { skipped },
        }
    }
}

fn list(tasks: &[TaskId]) -> String {
    tasks.iter().map(TaskId::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(needs: &[&[u64]]) -> Option<Vec<u64>> {
        let needs: Vec<Vec<TaskId>> =
            needs.iter().map(|needs| needs.iter().copied().map(TaskId).collect()).collect();
        let path = find_cycle(TaskId(11), &needs)?;
        Some(path.into_iter().map(|id| id.0).collect())
    }

    #[test]
    fn a_way_back_is_found_and_a_diamond_is_none() {
        assert_eq!(cycle(&[&[12], &[11]]), Some(vec![11, 12, 11]));
        assert_eq!(cycle(&[&[11]]), Some(vec![11, 11]));
        assert_eq!(cycle(&[&[3, 12], &[13], &[14], &[12]]), Some(vec![12, 13, 14, 12]));
        assert_eq!(cycle(&[&[12, 13], &[14], &[14], &[1]]), None);
    }
}
