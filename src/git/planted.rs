//! Tests that nothing planted in a repository runs, whatever we ask of git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::{Repository, run};

/// Hooks that some git command runs.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "pre-commit",
    "pre-push",
    "prepare-commit-msg",
    "reference-transaction",
    "sendemail-validate",
];

/// Settings whose value is a command.
const COMMANDS: &[&str] = &[
    "alias.config",
    "alias.ls-files",
    "alias.status",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "filter.a=b.clean",
    "filter.a=b.smudge",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.proc.process",
    "gpg.program",
    "interactive.diffFilter",
    "merge.evil.driver",
    "pager.config",
    "pager.ls-files",
    "pager.status",
    "remote.evil.uploadpack",
    "sequence.editor",
    "uploadpack.packObjectsHook",
];

const PLAIN: &[(&str, &str)] = &[
    ("commit.gpgSign", "true"),
    ("extensions.partialClone", "evil"),
    ("filter.a=b.required", "true"),
    ("filter.evil.required", "true"),
    ("log.showSignature", "true"),
    ("protocol.allow", "always"),
    ("protocol.ext.allow", "always"),
    ("remote.evil.promisor", "true"),
    ("safe.directory", "*"),
    ("submodule.recurse", "true"),
];

/// The repository, and beside it the folder in which the marks appear.
struct Planted {
    home: TempDir,
}

impl Planted {
    fn new() -> Self {
        let planted = Self { home: tempfile::tempdir().unwrap() };
        let root = planted.root();
        fs::create_dir_all(&root).unwrap();
        fs::create_dir(planted.home.path().join("marks")).unwrap();
        git(&root, &["init", "-q"]);
        fs::create_dir(root.join("module")).unwrap();
        git(&root.join("module"), &["init", "-q"]);
        planted.write("module/inner", "1\n");
        Self::commit(&root.join("module"));
        for name in ["plain", "evil.txt", "equal.txt", "proc.txt", "dir/deep"] {
            planted.write(name, "1\n");
        }
        let attributes = "* diff=evil merge=evil\nevil.txt filter=evil\nproc.txt filter=proc\n";
        planted.write(".gitattributes", attributes);
        Self::commit(&root);
        planted.plant(&root);
        planted.plant(&root.join("module"));
        planted.write(".git/info/attributes", "equal.txt filter=a=b\n");
        for name in ["plain", "evil.txt", "equal.txt", "proc.txt", "module/inner"] {
            planted.write(name, "2\n");
        }
        planted.write("new.txt", "1\n");
        planted
    }

    fn root(&self) -> PathBuf {
        self.home.path().join("work")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(directory: &Path) {
        assert!(git(directory, &["add", "--all"]));
        assert!(git(directory, &["commit", "-q", "-m", "one"]));
    }

    fn plant(&self, root: &Path) {
        let marks = self.home.path().join("marks").display().to_string();
        for hook in HOOKS {
            let path = root.join(".git/hooks").join(hook);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("#!/bin/sh\ntouch '{marks}/hook-{hook}'\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in COMMANDS {
            let mark = name.replace(['.', '='], "-");
            let bang = if name.starts_with("alias") { "!" } else { "" };
            let value = format!("{bang}touch '{marks}/{mark}' && cat");
            assert!(git(root, &["config", name, &value]), "{name}");
        }
        let url = format!("ext::touch {marks}/transport");
        for (name, value) in PLAIN.iter().copied().chain([("remote.evil.url", url.as_str())]) {
            assert!(git(root, &["config", name, value]), "{name}");
        }
    }

    fn marks(&self) -> Vec<String> {
        let entries = fs::read_dir(self.home.path().join("marks")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// Calls git as anybody would.
pub(super) fn git(directory: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e@x"]).args(arguments);
    command.current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().success()
}

fn names(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn what_is_planted_would_run_if_git_were_called_without_care() {
    let planted = Planted::new();
    git(&planted.root(), &["status"]);
    let marks = planted.marks();
    for mark in ["core-fsmonitor", "filter-evil-clean", "filter-a-b-clean"] {
        assert!(marks.iter().any(|one| one == mark), "{mark}: {marks:?}");
    }
}

#[test]
fn nothing_of_what_is_planted_runs_whatever_we_ask() {
    let planted = Planted::new();
    let root = planted.root();
    let repository = Repository::find(&root.join("dir")).unwrap();
    let unmarked = |after: &str| assert_eq!(planted.marks(), [""; 0], "after {after}");

    let changed = repository.changed().unwrap();
    unmarked("changed");
    assert_eq!(names(&changed), ["equal.txt", "evil.txt", "plain", "proc.txt", "new.txt"]);
    assert_eq!(names(&repository.files().unwrap()), ["deep"]);
    unmarked("files");
    let all = Repository::find(&root).unwrap().files().unwrap();
    assert!(names(&all).contains(&"new.txt") && names(&all).contains(&"dir/deep"), "{all:?}");
    assert_eq!(repository.head().unwrap().unwrap().len(), 40);
    unmarked("head");
    assert_eq!(repository.commits_since(0).unwrap(), 1);
    assert_eq!(repository.commits_beyond("HEAD").unwrap(), 0);
    unmarked("counts");
    assert!(repository.commits_beyond("0123456789012345678901234567890123456789").is_err());
    unmarked("a commit that only a remote has");
    assert!(repository.commits_beyond("--output=x").is_err());
    assert!(run(&root, &["fetch", "evil"]).is_err());
    unmarked("a fetch");

    let head = repository.head().unwrap();
    let difference = repository.difference(head.as_deref()).unwrap();
    let paths: Vec<_> = difference.files.into_iter().map(|file| file.path).collect();
    assert_eq!(paths, ["equal.txt", "evil.txt", "new.txt", "plain", "proc.txt"]);
    unmarked("a list of differences");
    let hunks = repository.hunks(head.as_deref(), &paths).unwrap().files;
    assert!(hunks.iter().all(|file| file.hunks.len() == 1), "{hunks:?}");
    unmarked("hunks");
    assert!(repository.commit("HEAD@{0}").unwrap().is_some());
    assert!(repository.head_at(0).unwrap().is_some());
    assert!(repository.parting("HEAD").unwrap().is_some());
    assert!(repository.branch().unwrap().is_some());
    unmarked("commits");
}

#[test]
fn nothing_of_what_is_planted_runs_when_trees_are_made_filled_merged_and_given_up() {
    let planted = Planted::new();
    let repository = Repository::find(&planted.root()).unwrap();
    let unmarked = |after: &str| assert_eq!(planted.marks(), [""; 0], "after {after}");
    let base = repository.head().unwrap().unwrap();
    let place = planted.home.path().canonicalize().unwrap().join("tree");
    repository.add_worktree(&place, Some("w/one"), &base).unwrap();
    unmarked("a new tree");
    let tree = repository.worktree(&place).unwrap();
    tree.check_out(&base).unwrap();
    unmarked("a checkout");
    assert_eq!(fs::read_to_string(place.join("evil.txt")).unwrap(), "1\n");
    fs::write(place.join("plain"), "3\n").unwrap();
    fs::write(place.join("dir/new"), "3\n").unwrap();
    assert_eq!(names(&tree.differing(&base).unwrap()), ["dir/new", "plain"]);
    assert!(tree.ignored().unwrap().is_empty());
    unmarked("a comparison");
    let tip = tree.commit_all("work", true).unwrap().unwrap();
    unmarked("a commit");
    assert_eq!(tree.head().unwrap().as_deref(), Some(tip.as_str()));
    assert!(tree.changed().unwrap().is_empty());
    fs::write(place.join("evil.txt"), "3\n").unwrap();
    let refused = tree.commit_all("work", true).unwrap_err().to_string();
    assert!(refused.contains("behind the filter `evil`"), "{refused}");
    unmarked("a commit that is refused");
    let other = repository.tree_of(&base).unwrap();
    let other = repository.commit_tree(&other, std::slice::from_ref(&base), "other", None).unwrap();
    let merged = repository.merge(&other, &tip, None).unwrap();
    assert!(matches!(merged, super::Merged::Clean { .. }), "{merged:?}");
    unmarked("a merge");
    fs::write(place.join("evil.txt"), "1\n").unwrap();
    fs::write(place.join("plain"), "4\n").unwrap();
    let second = tree.commit_all("more", false).unwrap().unwrap();
    assert_eq!(tree.head().unwrap().as_deref(), Some(tip.as_str()), "nothing has moved");
    let against = repository.merge(&second, &tip, Some(&base)).unwrap();
    let super::Merged::Conflicts { files } = against else { panic!("{against:?}") };
    assert_eq!(names(&files), ["plain"]);
    unmarked("a conflict");
    repository.move_ref("refs/heads/into", &tip, None).unwrap();
    assert!(repository.move_ref("refs/heads/into", &base, Some(&base)).is_err());
    repository.delete_ref("refs/heads/into", &tip).unwrap();
    assert_eq!(repository.unheld(&[tip], "refs/heads/w/one", &[&base]).unwrap().len(), 1);
    assert_eq!(repository.checked_out().unwrap().len(), 2);
    unmarked("references");
    let hashes = tree.hash_files(&["plain".into()], true).unwrap();
    assert_ne!(hashes, tree.hash_converted(&["dir/deep".into()]).unwrap());
    tree.index().unwrap();
    unmarked("contents");
    fs::remove_dir_all(&place).unwrap();
    repository.forget_worktree(&place).unwrap();
    assert!(repository.worktree(&place).is_none());
    unmarked("all of it");
}

#[test]
fn a_repository_cannot_say_that_its_files_are_elsewhere() {
    let planted = Planted::new();
    let root = planted.root();
    let elsewhere = planted.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    assert!(git(&root, &["config", "core.worktree", elsewhere.to_str().unwrap()]));
    let changed = Repository::find(&root).unwrap().changed().unwrap();
    assert!(names(&changed).contains(&"new.txt"), "{changed:?}");
}

#[test]
fn a_tree_without_commits_and_a_second_tree_are_read_as_well() {
    let home = tempfile::tempdir().unwrap();
    let planted = Planted { home };
    let root = planted.root();
    fs::create_dir(&root).unwrap();
    assert!(Repository::find(&root).is_err());
    git(&root, &["init", "-q"]);
    planted.write("a", "1");
    let repository = Repository::find(&root).unwrap();
    assert_eq!(names(&repository.changed().unwrap()), ["a"]);
    assert_eq!((repository.head().unwrap(), repository.commits_since(0).unwrap()), (None, 0));
    Planted::commit(&root);
    assert!(repository.changed().unwrap().is_empty());
    let second = planted.home.path().join("second");
    assert!(git(&root, &["worktree", "add", "-q", second.to_str().unwrap()]));
    fs::write(second.join("b"), "1").unwrap();
    assert_eq!(names(&Repository::find(&second).unwrap().changed().unwrap()), ["b"]);
    assert!(repository.changed().unwrap().is_empty());
}

#[test]
fn what_a_person_ignores_everywhere_is_ignored_here() {
    let planted = Planted { home: tempfile::tempdir().unwrap() };
    let root = planted.root();
    fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q"]);
    let list = planted.home.path().join("list");
    fs::write(&list, "*.swp\n").unwrap();
    assert!(git(&root, &["config", "core.excludesFile", list.to_str().unwrap()]));
    fs::write(root.join(".git/info/exclude"), "local\n").unwrap();
    for name in ["a.swp", "local", "kept"] {
        planted.write(name, "1");
    }
    let repository = Repository::find(&root).unwrap();
    assert_eq!(names(&repository.changed().unwrap()), ["kept"]);
    assert_eq!(names(&repository.files().unwrap()), ["kept"]);
}
