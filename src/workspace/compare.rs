//! Compares a workspace with its base while its agent works.

use std::collections::BTreeMap;

use super::WorkspaceError;
use super::make::settings;
use crate::git::Repository;
use crate::model::Workspace;

/// Returns the files that differ from what the workspace began with, or from what was merged
/// last; nothing, if git does not know it.
pub fn differing(workspace: &Workspace) -> Result<Option<Vec<String>>, WorkspaceError> {
    let plot = &workspace.plot;
    let Some(tree) = Repository::find(&plot.project)?.worktree(&plot.root) else { return Ok(None) };
    let files = tree.differing(workspace.compared_with())?;
    let project = files.iter().filter_map(|path| path.strip_prefix(&plot.place).ok());
    let shown = |text: &str| text.chars().flat_map(escaped).collect::<String>();
    Ok(Some(project.map(|path| shown(&path.to_string_lossy())).collect()))
}

/// Returns what is set for the repository of a workspace: names, and what stands for the values.
pub fn shared_settings(workspace: &Workspace) -> Result<BTreeMap<String, String>, WorkspaceError> {
    Ok(settings(&Repository::find(&workspace.plot.project)?)?)
}

/// An agent may name its files in what a terminal obeys.
fn escaped(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}
