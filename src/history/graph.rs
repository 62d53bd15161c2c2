//! Lays out the graph of tasks: each below all that it needs.

use std::collections::BTreeMap;

use super::details::TaskHistory;
use crate::model::TaskId;

/// Returns how deep each task lies: one that needs nothing of this story lies at zero.
pub(super) fn depths(tasks: &[TaskHistory]) -> BTreeMap<TaskId, usize> {
    let mut depths: BTreeMap<TaskId, usize> = tasks.iter().map(|task| (task.id, 0)).collect();
    // No way through the graph is longer than there are tasks, and it has no circles.
    for _ in 0..tasks.len() {
        let mut has_settled = true;
        for task in tasks {
            let parents = task.needs.iter().chain(&task.verifies);
            let below = parents.filter_map(|need| depths.get(need)).map(|above| above + 1).max();
            let below = below.unwrap_or(0);
            has_settled &= depths.insert(task.id, below) == Some(below);
        }
        if has_settled {
            break;
        }
    }
    depths
}

/// Returns the tasks in the order in which they can be done, each with its depth.
pub(super) fn ordered(tasks: &[TaskHistory]) -> Vec<(usize, &TaskHistory)> {
    let depths = depths(tasks);
    let mut ordered: Vec<_> = tasks.iter().map(|task| (depths[&task.id], task)).collect();
    ordered.sort_by_key(|(depth, task)| (*depth, task.id));
    ordered
}
