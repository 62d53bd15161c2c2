//! Inspects a workspace: finds work that exists nowhere else.
//!
//! Every file is read, whatever the index says of it: git can be told to overlook a change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::WorkspaceError;
use super::inside::Root;
use super::local::{self, Inventory};
use super::missing;
use super::places::Site;
use super::processes::inhabitants;
use super::walk::{Shape, Walked, walk};
use crate::config::Hash;
use crate::git::{Blob, Repository};
use crate::model::{Findings, Workspace, WorkspaceKind};

/// A workspace as it was at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) findings: Findings,
    pub(super) walked: Walked,
    /// Nothing for a copy, and where the directory is gone.
    pub(super) tree: Option<TreeSnapshot>,
}

/// What is known of a working tree of git.
#[derive(Debug)]
pub(super) struct TreeSnapshot {
    pub(super) repository: Repository,
    pub(super) head: String,
    /// What is on disk and worth keeping; unchanged files by the name that git knows them under.
    pub(super) files: BTreeMap<PathBuf, Blob>,
    /// Those of them whose content may be nowhere else.
    pub(super) unkept: Vec<PathBuf>,
    /// What git ignores and nobody called disposable.
    pub(super) ignored: BTreeSet<PathBuf>,
    /// The index, if it differs from the last commit.
    pub(super) index: Option<BTreeMap<PathBuf, Blob>>,
    /// Commits that would be lost.
    pub(super) commits: Vec<String>,
    pub(super) stranded: Vec<String>,
}

/// Looks into a workspace.
pub(super) fn inspect(site: &Site, workspace: &Workspace) -> Result<Snapshot, WorkspaceError> {
    let root = &workspace.plot.root;
    if missing::is_missing(root)? {
        return missing::look(workspace);
    }
    Root::hold(root).map_err(WorkspaceError::Refused)?;
    let mut snapshot = match workspace.plot.kind {
        WorkspaceKind::Worktree => inspect_worktree(workspace)?,
        WorkspaceKind::Copy | WorkspaceKind::Shared => inspect_copy(site, workspace)?,
    };
    let obstacles = &mut snapshot.findings.obstacles;
    obstacles.extend(snapshot.walked.unread.clone());
    let inside = inhabitants(root);
    if !inside.is_empty() {
        obstacles.push(format!("processes run in it: {}", inside.join(", ")));
    }
    Ok(snapshot)
}

fn inspect_copy(site: &Site, workspace: &Workspace) -> Result<Snapshot, WorkspaceError> {
    let root = &workspace.plot.root;
    let walked = walk(root, false);
    let file = site.inventory(&workspace.agent);
    let known: Option<Inventory> =
        fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let mut findings = Findings::default();
    let Some(mut known) = known else {
        findings.obstacles.push("the list of files that it was made with is missing".to_owned());
        return Ok(Snapshot { findings, walked, tree: None });
    };
    for seen in walked.files.iter().filter(|seen| seen.shape != Shape::Other) {
        let path = root.join(&seen.path);
        let content = match seen.shape {
            Shape::Link => fs::read_link(&path).map(|to| to.into_os_string().into_encoded_bytes()),
            Shape::File { .. } | Shape::Other => fs::read(&path),
        };
        let content = content.map_err(WorkspaceError::at(&path))?;
        let key = local::key(&seen.path);
        match known.remove(&key) {
            None => findings.untracked.push(key),
            Some(number) if number == local::number(seen.shape, &content) => {}
            Some(_) => findings.changed.push(key),
        }
    }
    findings.missing = known.into_keys().collect();
    Ok(Snapshot { findings, walked, tree: None })
}

fn inspect_worktree(workspace: &Workspace) -> Result<Snapshot, WorkspaceError> {
    let plot = &workspace.plot;
    let walked = walk(&plot.root, true);
    let mut findings = Findings::default();
    let tree = Repository::find(&plot.project)?.worktree(&plot.root);
    let Some(repository) = tree else {
        findings.obstacles.push("git does not know it as a working tree".to_owned());
        return Ok(Snapshot { findings, walked, tree: None });
    };
    let Some(head) = repository.head()? else {
        findings.obstacles.push("no commit is checked out in it".to_owned());
        return Ok(Snapshot { findings, walked, tree: None });
    };
    let committed = repository.tree(&head)?;
    let index = look_at_index(&repository, &committed, &mut findings)?;
    let rules = Ignores::read(&repository, &plot.disposable)?;
    let (files, unkept, ignored) = look_at_files(
        workspace,
        &repository,
        &walked,
        &committed,
        index.as_ref(),
        &rules,
        &mut findings,
    )?;
    note_repositories(&walked, &committed, &plot.root, &rules, &mut findings);
    let own = plot.root.join(".git");
    if own.symlink_metadata().is_ok_and(|told| !told.is_file()) {
        findings
            .obstacles
            .push("its `.git` was replaced: it is a repository of its own".to_owned());
    }
    if repository.has_modules() {
        findings.obstacles.push("submodules keep their commits in it".to_owned());
    }
    if let Some(what) = repository.operation() {
        findings.obstacles.push(format!("{what} is not finished"));
    }
    if let Some(reason) = repository.locked() {
        findings.obstacles.push(format!("it is locked: {}", reason.escape_default()));
    }
    let own = plot.branch_ref();
    let tips: Vec<String> = std::iter::once(head.clone()).chain(repository.commit(&own)?).collect();
    let commits = repository.unheld(&tips, &own, &[&plot.base])?;
    let stranded = repository.unheld(&repository.visited(), "refs/none", &[&plot.base, &head])?;
    (findings.commits, findings.stranded) = (commits.len(), stranded.len());
    let index = index.filter(|index| *index != committed);
    let tree = TreeSnapshot { repository, head, files, unkept, ignored, index, commits, stranded };
    Ok(Snapshot { findings, walked, tree: Some(tree) })
}

/// Returns the index, and notes what in it differs from the last commit.
fn look_at_index(
    repository: &Repository,
    committed: &BTreeMap<PathBuf, Blob>,
    findings: &mut Findings,
) -> Result<Option<BTreeMap<PathBuf, Blob>>, WorkspaceError> {
    let staged = repository.index()?;
    if let Some(open) = staged.iter().find(|entry| entry.stage > 0) {
        findings.obstacles.push(format!("{} is in conflict", shown(&open.path)));
        return Ok(None);
    }
    let index: BTreeMap<PathBuf, Blob> =
        staged.into_iter().map(|entry| (entry.path, entry.blob)).collect();
    // An index that was never written says nothing.
    if index.is_empty() && !committed.is_empty() {
        return Ok(None);
    }
    for (path, blob) in &index {
        if committed.get(path) != Some(blob) {
            findings.changed.push(shown(path));
        }
    }
    let gone = committed.keys().filter(|path| !index.contains_key(*path));
    findings.missing.extend(gone.map(|path| shown(path)));
    Ok(Some(index))
}

type Files = (BTreeMap<PathBuf, Blob>, Vec<PathBuf>, BTreeSet<PathBuf>);

/// Compares every file on disk with what is committed.
fn look_at_files(
    workspace: &Workspace,
    repository: &Repository,
    walked: &Walked,
    committed: &BTreeMap<PathBuf, Blob>,
    index: Option<&BTreeMap<PathBuf, Blob>>,
    rules: &Ignores,
    findings: &mut Findings,
) -> Result<Files, WorkspaceError> {
    let is_tracked = |path: &Path| {
        committed.contains_key(path) || index.is_some_and(|index| index.contains_key(path))
    };
    let wanted = |path: &Path| is_tracked(path) || !rules.is_disposable(path);
    let mut files = hash(repository, walked, wanted)?;
    let differs =
        |path: &Path, blob: &Blob| committed.get(path).is_none_or(|known| known.id != blob.id);
    let converted: Vec<PathBuf> = files
        .iter()
        .filter(|(path, blob)| {
            committed.contains_key(*path) && blob.mode != LINK_MODE && differs(path, blob)
        })
        .map(|(path, _)| path.clone())
        .collect();
    for (path, id) in converted.iter().zip(repository.hash_converted(&converted)?) {
        if committed.get(path).is_some_and(|known| known.id == id)
            && let Some(blob) = files.get_mut(path)
        {
            blob.id = id;
        }
    }
    let (mut unkept, mut ignored) = (Vec::new(), BTreeSet::new());
    for (path, blob) in &files {
        if committed.get(path) == Some(blob) {
            continue;
        }
        unkept.push(path.clone());
        if is_tracked(path) {
            findings.changed.push(shown(path));
        } else if is_as_given(workspace, path) {
            ignored.insert(path.clone());
        } else if rules.is_ignored(path) {
            ignored.insert(path.clone());
            findings.ignored.push(shown(path));
        } else {
            findings.untracked.push(shown(path));
        }
    }
    let is_gone = |path: &&PathBuf| !files.contains_key(*path);
    let gone = committed.iter().filter(|(_, blob)| blob.mode != Blob::LINK).map(|(path, _)| path);
    findings.missing.extend(gone.filter(is_gone).map(|path| shown(path)));
    for names in [&mut findings.changed, &mut findings.missing] {
        names.sort();
        names.dedup();
    }
    Ok((files, unkept, ignored))
}

const LINK_MODE: &str = "120000";

/// Returns the names of what is in the files on disk.
fn hash(
    repository: &Repository,
    walked: &Walked,
    wanted: impl Fn(&Path) -> bool,
) -> Result<BTreeMap<PathBuf, Blob>, WorkspaceError> {
    let (mut plain, mut modes, mut files) = (Vec::new(), Vec::new(), BTreeMap::new());
    for seen in walked.files.iter().filter(|seen| wanted(&seen.path)) {
        match seen.shape {
            Shape::File { is_executable } => {
                plain.push(seen.path.clone());
                modes.push(if is_executable { "100755" } else { "100644" });
            }
            Shape::Link => {
                let path = repository.top().join(&seen.path);
                let target = fs::read_link(&path).map_err(WorkspaceError::at(&path))?;
                let id = repository.hash_text(target.as_os_str().as_encoded_bytes(), false)?;
                files.insert(seen.path.clone(), Blob { mode: LINK_MODE.to_owned(), id });
            }
            Shape::Other => {}
        }
    }
    let ids = repository.hash_files(&plain, false)?;
    for ((path, mode), id) in plain.into_iter().zip(modes).zip(ids) {
        files.insert(path, Blob { mode: mode.to_owned(), id });
    }
    Ok(files)
}

/// Says whether a file is one that the workspace was given, and as it was given.
fn is_as_given(workspace: &Workspace, path: &Path) -> bool {
    let plot = &workspace.plot;
    let Ok(name) = path.strip_prefix(&plot.place) else { return false };
    let given = name.to_str().and_then(|name| workspace.copied.get(name));
    given.is_some_and(|hash| {
        fs::read(plot.root.join(path)).is_ok_and(|content| Hash::of(&content).to_string() == *hash)
    })
}

/// Notes repositories that lie in this one: no tree can hold their commits.
fn note_repositories(
    walked: &Walked,
    committed: &BTreeMap<PathBuf, Blob>,
    root: &Path,
    rules: &Ignores,
    findings: &mut Findings,
) {
    let links = committed.iter().filter(|(_, blob)| blob.mode == Blob::LINK).map(|(path, _)| path);
    let filled = links.filter(|path| {
        fs::read_dir(root.join(path)).is_ok_and(|mut entries| entries.next().is_some())
    });
    let inner = walked.repositories.iter().filter(|path| !rules.is_disposable(path));
    let found: BTreeSet<&PathBuf> = filled.chain(inner).collect();
    for path in found {
        findings.obstacles.push(format!("{} is a repository of its own", shown(path)));
    }
}

/// What git was told to ignore, and what of it nobody will miss.
struct Ignores {
    files: BTreeSet<PathBuf>,
    disposable: GlobSet,
}

impl Ignores {
    fn read(repository: &Repository, disposable: &[String]) -> Result<Self, WorkspaceError> {
        let files = repository.ignored()?.into_iter().collect();
        let mut globs = GlobSetBuilder::new();
        for pattern in disposable {
            let name = pattern.trim_end_matches('/').trim_end_matches("/**");
            // A bare name means a file or directory of this name wherever it lies.
            let anywhere = if name.contains('/') { name.to_owned() } else { format!("**/{name}") };
            for pattern in [anywhere.clone(), format!("{anywhere}/**")] {
                let bad = |error| WorkspaceError::Refused(format!("`disposable`: {error}"));
                globs.add(Glob::new(&pattern).map_err(bad)?);
            }
        }
        let disposable = globs.build().unwrap_or_default();
        Ok(Self { files, disposable })
    }

    fn is_ignored(&self, path: &Path) -> bool {
        // A repository inside is listed as a whole.
        path.ancestors().any(|path| self.files.contains(path))
    }

    fn is_disposable(&self, path: &Path) -> bool {
        self.disposable.is_match(path) && self.is_ignored(path)
    }
}

pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
