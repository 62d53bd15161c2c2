//! Saves all that is in a workspace to a commit that a rescue ref holds.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::WorkspaceError;
use super::inspect::{Snapshot, TreeSnapshot, inspect};
use super::places::Site;
use crate::git::{GitError, Repository};
use crate::model::{AgentName, Clearing, Workspace, WorkspaceKind};

/// What one rescue may add to a repository; builds and data are larger, and are kept where they are.
const RESCUED_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Commits that a rescue holds beside the one that is checked out.
const PARENTS_MAX: usize = 256;

/// How often another may take the next name before us.
const NAMES_MAX: u64 = 1_000;

/// What the commit says that holds what was staged.
const STAGED: &str = "What was staged";
/// Stands before the commit at which the workspace began.
const BASE: &str = "Base: ";

const PREFIX: &str = "refs/wheelhouse/rescue";

/// Puts what is in a workspace into a rescue ref, and leaves the workspace as it is. Returns the
/// reference, or nothing if there is no work in it.
pub fn rescue(site: &Site, workspace: &Workspace) -> Result<Option<String>, WorkspaceError> {
    if workspace.plot.kind != WorkspaceKind::Worktree {
        let words = "only what git knows can be put into a rescue ref: copy the directory";
        return Err(WorkspaceError::Refused(words.to_owned()));
    }
    let snapshot = inspect(site, workspace)?;
    // Processes that live in it, or a lock, keep nobody from reading it.
    let clearing = Clearing { rescues: true, ..Clearing::default() };
    let rescued = rescue_seen(workspace, &snapshot, clearing)?;
    // Nothing was found, and that is not to say that there is nothing.
    match snapshot.findings.reason_to_keep(clearing) {
        Some(reason) if rescued.is_none() && snapshot.findings.absent_from.is_some() => {
            Err(WorkspaceError::Refused(reason))
        }
        Some(_) | None => Ok(rescued),
    }
}

/// Returns the rescue refs of a project's repository, with the commits that they stand for.
pub fn rescues(project: &std::path::Path) -> Result<Vec<(String, String)>, GitError> {
    Repository::find(project)?.refs_below(PREFIX)
}

/// Rescues what a snapshot found.
pub(super) fn rescue_seen(
    workspace: &Workspace,
    snapshot: &Snapshot,
    clearing: Clearing,
) -> Result<Option<String>, WorkspaceError> {
    let Some(tree) = &snapshot.tree else { return Ok(None) };
    if snapshot.findings.work(clearing).is_empty() {
        return Ok(None);
    }
    let left_out = |path: &PathBuf| clearing.drops_ignored && tree.ignored.contains(path);
    let unkept: Vec<PathBuf> = tree.unkept.iter().filter(|path| !left_out(path)).cloned().collect();
    refuse_too_large(snapshot, &unkept)?;
    keep(tree, &unkept)?;
    let mut files = tree.files.clone();
    files.retain(|path, _| !left_out(path));
    let repository = &tree.repository;
    let whole = repository.write_tree(&files)?;
    let mut parents = vec![tree.head.clone()];
    if let Some(index) = &tree.index {
        let staged = repository.write_tree(index)?;
        let parent = std::slice::from_ref(&tree.head);
        parents.push(repository.commit_tree(&staged, parent, STAGED, None)?);
    }
    parents.extend(tree.commits.first().filter(|tip| **tip != tree.head).cloned());
    parents.extend(repository.commit(&workspace.plot.branch_ref())?);
    parents.extend(tree.stranded.iter().cloned());
    let mut seen = BTreeSet::new();
    parents.retain(|parent| seen.insert(parent.clone()));
    if parents.len() > PARENTS_MAX {
        let words = format!("more than {PARENTS_MAX} commits are held by nothing but its log");
        return Err(WorkspaceError::Refused(words));
    }
    let message = message(workspace, snapshot, clearing);
    let commit = repository.commit_tree(&whole, &parents, &message, None)?;
    name(repository, workspace, &commit).map(Some)
}

/// Has git keep the content of these files, as it was found.
fn keep(tree: &TreeSnapshot, unkept: &[PathBuf]) -> Result<(), WorkspaceError> {
    let repository = &tree.repository;
    let is_link = |path: &&PathBuf| tree.files.get(*path).is_some_and(|blob| blob.mode == "120000");
    let (links, plain): (Vec<&PathBuf>, Vec<&PathBuf>) = unkept.iter().partition(is_link);
    let plain: Vec<PathBuf> = plain.into_iter().cloned().collect();
    let mut kept: Vec<(PathBuf, String)> = Vec::new();
    for path in links {
        let place = repository.top().join(path);
        let target = fs::read_link(&place).map_err(WorkspaceError::at(&place))?;
        let id = repository.hash_text(target.as_os_str().as_encoded_bytes(), true)?;
        kept.push((path.clone(), id));
    }
    let ids = repository.hash_files(&plain, true)?;
    kept.extend(plain.into_iter().zip(ids));
    for (path, id) in kept {
        if tree.files.get(&path).is_none_or(|blob| blob.id != id) {
            let words = format!("{} changed while it was rescued", path.display());
            return Err(WorkspaceError::Refused(words));
        }
    }
    Ok(())
}

fn refuse_too_large(snapshot: &Snapshot, unkept: &[PathBuf]) -> Result<(), WorkspaceError> {
    let unkept: BTreeSet<&PathBuf> = unkept.iter().collect();
    let seen = snapshot.walked.files.iter().filter(|seen| unkept.contains(&seen.path));
    let bytes: u64 = seen.map(|seen| seen.bytes).sum();
    if bytes <= RESCUED_BYTES_MAX {
        return Ok(());
    }
    let mebibytes = bytes / (1024 * 1024);
    Err(WorkspaceError::Refused(format!(
        "{mebibytes} MiB are too much for a rescue: name what is made by builds in \
         `workspace.disposable`, or drop what git ignores with `--drop-ignored`"
    )))
}

fn message(workspace: &Workspace, snapshot: &Snapshot, clearing: Clearing) -> String {
    let work = snapshot.findings.work(clearing).join("\n");
    let (agent, branch) = (&workspace.agent, &workspace.plot.branch);
    let tree = match snapshot.findings.absent_from {
        None => "The tree is all that lay in the workspace, files that git ignores included.",
        Some(_) => "Its directory was missing: the tree is what was staged, or else committed.",
    };
    let parents = "The first parent is what was checked out; the others are what was staged and \
                   commits that nothing else holds.";
    let base = &workspace.plot.base;
    let what = format!("Rescued from the workspace of {agent} ({branch})\n\n{work}");
    format!("{what}\n\n{tree}\n{parents}\n\n{BASE}{base}\n")
}

/// The commits from which a workspace is made again.
pub(super) struct Rescued {
    pub(super) head: String,
    pub(super) staged: String,
}

/// Returns what stood behind a rescue: what was checked out, and what was staged.
pub(super) fn rescued(repository: &Repository, rescue: &str) -> Result<Rescued, WorkspaceError> {
    let gone = || WorkspaceError::Refused(format!("{rescue} is no rescue"));
    let head = repository.commit(&format!("{rescue}^1"))?.ok_or_else(gone)?;
    let second = repository.commit(&format!("{rescue}^2"))?;
    let staged = match second {
        Some(second) if repository.commit_words(&second)?.1.trim() == STAGED => second,
        Some(_) | None => head.clone(),
    };
    Ok(Rescued { head, staged })
}

/// A rescue, by the name that someone gave for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rescue {
    pub name: String,
    pub commit: String,
    pub agent: AgentName,
    pub branch: String,
    /// The commit at which the workspace began.
    pub base: String,
}

/// Finds a rescue by its name, by the last parts of it, or the newest of an agent.
pub fn find_rescue(
    project: &std::path::Path,
    session: &str,
    wanted: &str,
) -> Result<Option<Rescue>, WorkspaceError> {
    let repository = Repository::find(project)?;
    let known = repository.refs_below(PREFIX)?;
    let number = |name: &str| name.rsplit('/').next().and_then(|last| last.parse::<u64>().ok());
    let of_agent = format!("{PREFIX}/{session}/{wanted}/");
    let newest = known.iter().filter(|(name, _)| name.starts_with(&of_agent));
    let newest = newest.max_by_key(|(name, _)| number(name));
    let end = format!("/{wanted}");
    let mut named = known.iter().filter(|(name, _)| name == wanted || name.ends_with(&end));
    let Some((name, commit)) = newest.or_else(|| named.next()) else { return Ok(None) };
    let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.trim_matches('/').rsplit_once('/'));
    let Some((place, _)) = parts else { return Ok(None) };
    let Some(agent) = place.split('/').nth(1).and_then(|agent| agent.parse().ok()) else {
        return Ok(None);
    };
    let words = repository.commit_words(commit)?.1;
    let base = words.lines().rev().find_map(|line| line.strip_prefix(BASE)).map(str::to_owned);
    let base = match base {
        Some(base) => repository.commit(&base)?,
        None => None,
    };
    let base = base.map_or_else(|| rescued(&repository, commit).map(|found| found.head), Ok)?;
    let branch = format!("wheelhouse/{place}");
    Ok(Some(Rescue { name: name.clone(), commit: commit.clone(), agent, branch, base }))
}

/// Returns below which name the rescues of an agent are.
pub(super) fn place(workspace: &Workspace) -> String {
    format!("{PREFIX}/{}", workspace.plot.branch.trim_start_matches("wheelhouse/"))
}

/// Gives the commit a name that nobody had before.
pub(super) fn name(
    repository: &Repository,
    workspace: &Workspace,
    commit: &str,
) -> Result<String, WorkspaceError> {
    let place = place(workspace);
    let number = |name: &str| name.rsplit('/').next()?.parse::<u64>().ok();
    let known = repository.refs_below(&place)?;
    let last = known.iter().filter_map(|(name, _)| number(name)).max().unwrap_or_default();
    for next in 1..=NAMES_MAX {
        let name = format!("{place}/{}", last + next);
        match repository.move_ref(&name, commit, None) {
            Ok(()) => return Ok(name),
            Err(GitError::Moved { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(WorkspaceError::Refused("no name is left for a rescue ref".to_owned()))
}
