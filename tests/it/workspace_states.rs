//! Clean-up loses no work: every state that a workspace can be in, with real git.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::support::clock::wait_for;
use crate::support::plots::{Ground, git, try_git};
use wheelhouse::model::{Clearing, Workspace, WorkspaceKind};
use wheelhouse::workspace::{self, Cleared};

const PLAIN: Clearing = Clearing {
    rescues: false,
    drops_ignored: false,
    is_unfinished: false,
    is_repeated: false,
    accepts_missing: false,
};
const RESCUES: Clearing = Clearing { rescues: true, ..PLAIN };

/// One way to leave a workspace.
struct State {
    name: &'static str,
    /// Makes it so; a process that is to live meanwhile is returned.
    leave: fn(&Ground, &Path) -> Option<Child>,
    /// A part of the reason for which it is kept.
    reason: &'static str,
    /// It is kept even where a rescue is asked for.
    is_stuck: bool,
}

fn state(
    name: &'static str,
    reason: &'static str,
    is_stuck: bool,
    leave: fn(&Ground, &Path) -> Option<Child>,
) -> State {
    State { name, leave, reason, is_stuck }
}

fn write(root: &Path, name: &str, text: &str) {
    fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
    fs::write(root.join(name), text).unwrap();
}

fn commit(root: &Path, name: &str, text: &str) {
    write(root, name, text);
    git(root, &["add", "."]);
    git(root, &["commit", "-q", "-m", name]);
}

#[expect(clippy::too_many_lines, reason = "it is one table")]
fn states() -> Vec<State> {
    vec![
        state("modified", "1 changed file: a.txt", false, |_, root| {
            write(root, "a.txt", "other\n");
            None
        }),
        state("staged, and then changed again", "changed", false, |_, root| {
            write(root, "a.txt", "staged\n");
            git(root, &["add", "a.txt"]);
            write(root, "a.txt", "on disk\n");
            None
        }),
        state("staged, and then put back", "changed", false, |_, root| {
            write(root, "a.txt", "only staged\n");
            git(root, &["add", "a.txt"]);
            write(root, "a.txt", "one\ntwo\nthree\n");
            None
        }),
        state("untracked, with a name that hurts", "2 new files", false, |_, root| {
            write(root, "deep/new \"é\n.txt", "new\n");
            symlink("/nowhere", root.join("link")).unwrap();
            None
        }),
        state("ignored", "1 ignored file: .env", false, |_, root| {
            write(root, ".env", "KEY=secret\n");
            None
        }),
        state("unpushed", "1 commit that are not merged", false, |_, root| {
            commit(root, "n.txt", "committed\n");
            None
        }),
        state("detached", "1 commit that are not merged", false, |_, root| {
            git(root, &["checkout", "-q", "--detach"]);
            commit(root, "d.txt", "detached\n");
            None
        }),
        state("reset away", "1 commit that are on no branch", false, |_, root| {
            commit(root, "r.txt", "reset\n");
            git(root, &["reset", "-q", "--hard", "HEAD~1"]);
            None
        }),
        state("stashed, with something new beside it", "new file", false, |_, root| {
            write(root, "a.txt", "stashed\n");
            git(root, &["stash", "-q"]);
            write(root, "x.txt", "x\n");
            None
        }),
        state("in the middle of a merge", "merge", true, |_, root| {
            commit(root, "a.txt", "ours\n");
            git(root, &["checkout", "-q", "-b", "other", "HEAD~1"]);
            commit(root, "a.txt", "theirs\n");
            assert!(try_git(root, &["merge", "wheelhouse/ground/agent"]).is_err());
            None
        }),
        state("in the middle of a rebase", "rebase", true, |_, root| {
            commit(root, "a.txt", "ours\n");
            git(root, &["checkout", "-q", "-b", "other", "HEAD~1"]);
            commit(root, "a.txt", "theirs\n");
            assert!(try_git(root, &["rebase", "wheelhouse/ground/agent"]).is_err());
            None
        }),
        state("with a submodule", "submodule", true, |ground, root| {
            let project = ground.project();
            git(root, &["submodule", "add", "-q", project.to_str().unwrap(), "sub"]);
            git(root, &["commit", "-q", "-m", "sub"]);
            commit(&root.join("sub"), "inside.txt", "inside\n");
            None
        }),
        state("with a repository inside", "repository of its own", true, |_, root| {
            fs::create_dir(root.join("inner")).unwrap();
            git(&root.join("inner"), &["init", "-q"]);
            commit(&root.join("inner"), "i.txt", "inner\n");
            None
        }),
        state("locked", "locked: on a stick", true, |ground, root| {
            let root = root.to_str().unwrap();
            ground.git(&["worktree", "lock", "--reason", "on a stick", root]);
            None
        }),
        state("with a process inside", "processes run in it", true, |_, root| {
            let mut sleep = Command::new("sleep");
            Some(sleep.arg("600").current_dir(root).stdin(Stdio::null()).spawn().unwrap())
        }),
        state("changed where git was told not to look", "a.txt", false, |_, root| {
            git(root, &["update-index", "--skip-worktree", "a.txt"]);
            git(root, &["update-index", "--assume-unchanged", "c.txt"]);
            write(root, "a.txt", "unseen\n");
            write(root, "c.txt", "unseen too\n");
            assert_eq!(git(root, &["status", "--porcelain"]), "");
            None
        }),
        state("deleted and made a program", "deleted file: c.txt", false, |_, root| {
            fs::remove_file(root.join("c.txt")).unwrap();
            let program = fs::Permissions::from_mode(0o755);
            fs::set_permissions(root.join("a.txt"), program).unwrap();
            None
        }),
        state("without its word for the repository", "new file", false, |_, root| {
            write(root, "x.txt", "x\n");
            fs::write(root.join(".git"), "gitdir: /nowhere\n").unwrap();
            None
        }),
    ]
}

/// Returns what must not be lost: what is in every file, what is staged, every commit.
fn treasures(ground: &Ground, root: &Path) -> Vec<String> {
    let contents = ground.contents(root).into_iter().map(|(_, id)| id);
    let all = ["rev-list", "--all", "--reflog"];
    let commits = try_git(root, &all).unwrap_or_default();
    let staged = try_git(root, &["ls-files", "-s"]).unwrap_or_default();
    let staged = staged.lines().filter_map(|line| line.split(' ').nth(1).map(str::to_owned));
    let commits = commits.lines().map(str::to_owned).collect::<Vec<_>>();
    contents.chain(staged.collect::<Vec<_>>()).chain(commits).collect()
}

#[test]
fn every_state_is_kept_or_every_bit_of_it_can_be_reached() {
    for State { name, leave, reason, is_stuck } in states() {
        let ground = Ground::new();
        let workspace = ground.make("agent", ground.plot("agent"));
        let root = ground.root("agent");
        let process = leave(&ground, &root);
        let treasures = treasures(&ground, &root);
        let before = ground.contents(&root);
        let kept = workspace::clear(&ground.site, &workspace, PLAIN).unwrap();
        let Cleared::Kept { reason: told } = kept else { panic!("{name}: {kept:?}") };
        assert!(told.contains(reason), "{name}: {told}");
        assert_eq!(ground.contents(&root), before, "{name}");
        let rescued = workspace::clear(&ground.site, &workspace, RESCUES).unwrap();
        match rescued {
            Cleared::Kept { reason: told } => {
                assert!(is_stuck && told.contains(reason), "{name}: {told}");
                assert_eq!(ground.contents(&root), before, "{name}");
            }
            Cleared::Removed { rescue } => {
                assert!(!is_stuck && rescue.is_some(), "{name}");
                assert!(!root.exists(), "{name}");
                let reachable = ground.reachable();
                let lost: Vec<_> = treasures.iter().filter(|id| !reachable.contains(*id)).collect();
                assert!(lost.is_empty(), "{name}: {lost:?}");
                let trees = ground.git(&["worktree", "list", "--porcelain"]);
                assert_eq!(trees.matches("worktree ").count(), 1, "{name}: {trees}");
                let branches = ground.git(&["branch", "--list", "wheelhouse/*"]);
                assert_eq!(branches, "", "{name}");
            }
        }
        if let Some(mut process) = process {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        assert_eq!(ground.git(&["status", "--porcelain"]), "", "{name}: the project is untouched");
    }
}

#[test]
fn a_clean_workspace_goes_without_a_trace() {
    let ground = Ground::new();
    fs::write(ground.project().join(".env"), "KEY=1\n").unwrap();
    let mut plot = ground.plot("agent");
    plot.copy = vec![".env".to_owned()];
    let refs = ground.git(&["for-each-ref"]);
    let config = fs::read_to_string(ground.project().join(".git/config")).unwrap();
    let workspace = ground.make("agent", plot);
    let root = ground.root("agent");
    assert_eq!(workspace.port, Some(42_000));
    assert_eq!(fs::read_to_string(root.join(".env")).unwrap(), "KEY=1\n");
    assert_eq!(fs::read_to_string(root.join("src/b.txt")).unwrap(), "b\n");
    assert_eq!(git(&root, &["status", "--porcelain"]), "");
    assert_eq!(git(&root, &["branch", "--show-current"]), "wheelhouse/ground/agent");
    // What builds make, and an empty directory, is nobody's work.
    write(&root, "target/debug/big", "built\n");
    fs::create_dir(root.join("empty")).unwrap();
    assert_eq!(
        workspace::clear(&ground.site, &workspace, PLAIN).unwrap(),
        Cleared::Removed { rescue: None }
    );
    assert!(!root.exists());
    assert_eq!(ground.git(&["for-each-ref"]), refs);
    assert_eq!(fs::read_to_string(ground.project().join(".git/config")).unwrap(), config);
    assert!(!ground.project().join(".git/worktrees").exists());
    let again = workspace::clear(&ground.site, &workspace, PLAIN).unwrap();
    assert_eq!(again, Cleared::Removed { rescue: None }, "what is gone stays gone");
}

#[test]
fn our_own_git_that_looks_into_it_keeps_no_workspace() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let mut command = Command::new("git");
    command.args(["hash-object", "--stdin"]).current_dir(ground.root("agent"));
    let mut looks = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let gone = workspace::clear(&ground.site, &workspace, PLAIN).unwrap();
    looks.kill().unwrap();
    looks.wait().unwrap();
    assert_eq!(gone, Cleared::Removed { rescue: None });
}

#[test]
fn what_git_was_doing_when_its_hub_died_is_waited_for() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let root = ground.root("agent");
    let mark = Path::new(&git(&root, &["rev-parse", "--absolute-git-dir"])).join("locked");
    fs::write(&mark, "initializing\n").unwrap();
    // A git that is not our child works in it until its input ends.
    let ready = root.with_extension("ready");
    let mut command = Command::new("sh");
    command.args(["-c", "(cd \"$0\" && : > \"$1\" && exec git hash-object --stdin); true"]);
    command.args([&root, &ready]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut left = command.spawn().unwrap();
    wait_for("somebody in it", || ready.exists());
    wait_for("a git that works in it", || {
        let kept = workspace::clear(&ground.site, &workspace, PLAIN).unwrap();
        matches!(&kept, Cleared::Kept { reason } if reason.contains("(git)"))
    });
    assert!(!mark.exists(), "nobody makes it any more");
    let unfinished = Clearing { is_unfinished: true, ..PLAIN };
    let input = left.stdin.take();
    let gone = thread::scope(|scope| {
        scope.spawn(|| drop(input));
        workspace::clear(&ground.site, &workspace, unfinished).unwrap()
    });
    assert_eq!(gone, Cleared::Removed { rescue: None });
    left.wait().unwrap();
}

#[test]
fn a_copied_file_that_was_changed_is_work_and_one_that_git_ignores_can_be_dropped() {
    let ground = Ground::new();
    fs::write(ground.project().join(".env"), "KEY=1\n").unwrap();
    let plot = wheelhouse::model::Plot { copy: vec![".env".to_owned()], ..ground.plot("agent") };
    let workspace = ground.make("agent", plot);
    write(&ground.root("agent"), ".env", "KEY=2\n");
    let kept = workspace::clear(&ground.site, &workspace, PLAIN).unwrap();
    assert!(matches!(kept, Cleared::Kept { .. }), "{kept:?}");
    let dropped = Clearing { drops_ignored: true, ..PLAIN };
    let gone = workspace::clear(&ground.site, &workspace, dropped).unwrap();
    assert_eq!(gone, Cleared::Removed { rescue: None });
}

#[test]
fn a_rescue_leaves_the_workspace_as_it_is_and_can_be_read_back() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let root = ground.root("agent");
    assert_eq!(workspace::rescue(&ground.site, &workspace).unwrap(), None);
    write(&root, ".env", "KEY=2\n");
    write(&root, "a.txt", "changed\n");
    let name = workspace::rescue(&ground.site, &workspace).unwrap().unwrap();
    assert!(name.starts_with("refs/wheelhouse/rescue/ground/agent/"), "{name}");
    assert_eq!(ground.git(&["show", &format!("{name}:.env")]), "KEY=2");
    assert_eq!(ground.git(&["show", &format!("{name}:a.txt")]), "changed");
    assert!(root.join(".env").exists());
    let listed = workspace::rescues(&ground.project()).unwrap();
    assert_eq!(listed.iter().map(|(name, _)| name).collect::<Vec<_>>(), [&name]);
}

#[test]
fn a_copy_is_removed_only_as_it_was_made_and_else_put_aside() {
    let ground = Ground::new();
    let copy = |agent: &str| {
        let plot = wheelhouse::model::Plot { kind: WorkspaceKind::Copy, ..ground.plot(agent) };
        ground.make(agent, plot)
    };
    let (clean, changed) = (copy("clean"), copy("changed"));
    assert_eq!(
        fs::read_to_string(ground.root("clean").join("a.txt")).unwrap(),
        "one\ntwo\nthree\n"
    );
    write(&ground.root("changed"), "a.txt", "work\n");
    let remove = |workspace: &Workspace, clearing| {
        workspace::clear(&ground.site, workspace, clearing).unwrap()
    };
    assert_eq!(remove(&clean, PLAIN), Cleared::Removed { rescue: None });
    assert!(!ground.root("clean").exists());
    assert!(matches!(remove(&changed, PLAIN), Cleared::Kept { .. }));
    let Cleared::Removed { rescue: Some(place) } = remove(&changed, RESCUES) else { panic!() };
    assert_eq!(fs::read_to_string(Path::new(&place).join("a.txt")).unwrap(), "work\n");
}

#[test]
fn thirty_two_start_on_one_repository_at_once_and_none_fails_or_leaves_a_branch() {
    let ground = Ground::new();
    let workspaces: Vec<Workspace> = thread::scope(|scope| {
        let start = |number: usize| {
            let ground = &ground;
            scope.spawn(move || {
                let name = format!("agent{number}");
                ground.make(&name, ground.plot(&name))
            })
        };
        let started: Vec<_> = (0..32).map(start).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut ports: Vec<_> = workspaces.iter().map(|one| one.port.unwrap()).collect();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 32, "everyone has ports of their own");
    for workspace in &workspaces {
        assert_eq!(git(&workspace.plot.root, &["status", "--porcelain"]), "");
    }
    thread::scope(|scope| {
        for workspace in &workspaces {
            let site = &ground.site;
            scope.spawn(move || {
                let cleared = workspace::clear(site, workspace, PLAIN).unwrap();
                assert_eq!(cleared, Cleared::Removed { rescue: None });
            });
        }
    });
    assert_eq!(ground.git(&["branch", "--list", "wheelhouse/*"]), "");
    assert_eq!(ground.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
}
