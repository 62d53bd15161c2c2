//! Deals with workspaces whose directory is missing: unmounted, moved, or gone for good.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::WorkspaceError;
use super::inspect::{Snapshot, TreeSnapshot};
use super::removal::is_absent;
use super::walk::Walked;
use crate::git::{Blob, Repository};
use crate::model::{Findings, Workspace, WorkspaceKind};

/// Says whether a workspace's directory is missing. An empty one is what a disk leaves behind that was
/// mounted there.
pub(super) fn is_missing(root: &Path) -> Result<bool, WorkspaceError> {
    Ok(is_absent(root)?
        || (!root.is_symlink()
            && fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_none())))
}

/// Returns what can be known of it: what git holds outside of the directory.
pub(super) fn look(workspace: &Workspace) -> Result<Snapshot, WorkspaceError> {
    let plot = &workspace.plot;
    let absent_from = Some(plot.root.display().to_string());
    let mut findings = Findings { absent_from, ..Findings::default() };
    let (walked, mut tree) = (Walked::default(), None);
    if plot.kind == WorkspaceKind::Worktree
        && let Some(known) = Repository::find(&plot.project)?.worktree(&plot.root)
    {
        let known = known.without_files();
        if known.has_modules() {
            findings.obstacles.push("submodules keep their commits in it".to_owned());
        }
        if let Some(reason) = known.locked() {
            findings.obstacles.push(format!("it is locked: {}", reason.escape_default()));
        }
        tree = look_at_tree(workspace, known, &mut findings)?;
    }
    Ok(Snapshot { findings, walked, tree })
}

/// Finds the commits that nothing else holds, and what was staged.
fn look_at_tree(
    workspace: &Workspace,
    repository: Repository,
    findings: &mut Findings,
) -> Result<Option<TreeSnapshot>, WorkspaceError> {
    let plot = &workspace.plot;
    let Some(head) = repository.head()? else { return Ok(None) };
    let committed = repository.tree(&head)?;
    let staged = repository.index()?;
    let is_open = staged.iter().any(|entry| entry.stage > 0);
    let staged: BTreeMap<PathBuf, Blob> =
        staged.into_iter().map(|entry| (entry.path, entry.blob)).collect();
    // An index that was never written says nothing, and one in conflict is no tree.
    let index = Some(staged).filter(|index| !is_open && !index.is_empty() && *index != committed);
    if let Some(index) = &index {
        let differs = |(path, blob): &(&PathBuf, &Blob)| committed.get(*path) != Some(*blob);
        let changed = index.iter().filter(differs).map(|(path, _)| path);
        let gone = committed.keys().filter(|path| !index.contains_key(*path));
        findings.changed = changed.chain(gone).map(|path| super::inspect::shown(path)).collect();
    }
    let own = plot.branch_ref();
    let tips: Vec<String> = std::iter::once(head.clone()).chain(repository.commit(&own)?).collect();
    let commits = repository.unheld(&tips, &own, &[&plot.base])?;
    let stranded = repository.unheld(&repository.visited(), "refs/none", &[&plot.base, &head])?;
    (findings.commits, findings.stranded) = (commits.len(), stranded.len());
    let files = index.clone().unwrap_or(committed);
    let (unkept, ignored) = (Vec::new(), BTreeSet::new());
    Ok(Some(TreeSnapshot { repository, head, files, unkept, ignored, index, commits, stranded }))
}
