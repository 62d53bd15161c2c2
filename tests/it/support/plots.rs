//! A repository with a commit, and workspaces made beside it by the room itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use wheelhouse::model::{Moment, Plot, Workspace, WorkspaceKind, WorkspaceState};
use wheelhouse::workspace::{self, Site};

/// The repository `project` in a directory of its own, with two commits on `main`.
pub(crate) struct Ground {
    pub(crate) home: TempDir,
    pub(crate) site: Site,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let site = Site::new(&state, &state.join("session"));
        let ground = Self { home, site };
        let project = ground.project();
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(project.join(".gitignore"), ".env\ntarget/\nlocal/\n").unwrap();
        fs::write(project.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(project.join("src/b.txt"), "b\n").unwrap();
        ground.git(&["init", "-q", "-b", "main"]);
        ground.git(&["add", "."]);
        ground.git(&["commit", "-q", "-m", "first"]);
        fs::write(project.join("c.txt"), "c\n").unwrap();
        ground.git(&["add", "."]);
        ground.git(&["commit", "-q", "-m", "second"]);
        ground
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("project")
    }

    pub(crate) fn root(&self, agent: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join("workspaces").join(agent)
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.project(), arguments)
    }

    pub(crate) fn plot(&self, agent: &str) -> Plot {
        Plot {
            kind: WorkspaceKind::Worktree,
            project: self.project(),
            root: self.root(agent),
            place: PathBuf::new(),
            cwd: PathBuf::new(),
            branch: format!("wheelhouse/ground/{agent}"),
            base: self.git(&["rev-parse", "HEAD"]),
            copy: Vec::new(),
            setup: None,
            teardown: None,
            disposable: vec!["target".to_owned()],
            port_base: 42_000,
            port_count: 10,
            runner: None,
            restores: None,
        }
    }

    /// Makes the workspace that a plot describes.
    pub(crate) fn make(&self, agent: &str, plot: Plot) -> Workspace {
        let mut workspace = Workspace::new(agent.parse().unwrap(), plot, Moment(0));
        let made = workspace::make(&self.site, &workspace).unwrap();
        workspace.state = WorkspaceState::Ready;
        (workspace.port, workspace.copied) = (made.port, made.copied);
        workspace.settings = made.settings;
        workspace
    }

    /// Returns everything that some reference of the repository leads to.
    pub(crate) fn reachable(&self) -> BTreeSet<String> {
        let listed = self.git(&["rev-list", "--objects", "--glob=refs/*"]);
        listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    }

    /// Returns the name of the content of every file below a directory, but for git's own.
    pub(crate) fn contents(&self, root: &Path) -> Vec<(PathBuf, String)> {
        let mut contents = Vec::new();
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if entry.file_name() == ".git" {
                    continue;
                }
                if entry.file_type().unwrap().is_dir() {
                    open.push(path);
                } else if entry.file_type().unwrap().is_file() {
                    let name = path.to_str().unwrap();
                    let id = self.git(&["hash-object", "--no-filters", name]);
                    contents.push((path, id));
                }
            }
        }
        contents.sort();
        contents
    }
}

/// Calls git as a person would, under a name of its own and without anybody's settings.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = try_git(directory, arguments);
    output.unwrap_or_else(|words| panic!("git {arguments:?}: {words}"))
}

pub(crate) fn try_git(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .args(["-c", "user.name=Someone", "-c", "user.email=someone@example.org"])
        .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Returns the name that git gives to a content.
pub(crate) fn hash(directory: &Path, text: &str) -> String {
    use std::io::Write as _;
    let mut child = Command::new("git")
        .args(["hash-object", "--stdin"])
        .current_dir(directory)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
