//! What looks like an empty workspace and is none: nothing of it is lost, and nothing that was half
//! removed is taken for work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use crate::support::plots::{Ground, git, try_git};
use wheelhouse::model::{
    Clearing, Merge, MergeForm, MergeId, MergeState, MergeTerms, Moment, Workspace, WorkspaceKind,
};
use wheelhouse::workspace::{self, Cleared, Prospect};

fn commit(root: &Path, name: &str, text: &str) -> String {
    fs::write(root.join(name), text).unwrap();
    git(root, &["add", "."]);
    git(root, &["commit", "-q", "-m", name]);
    git(root, &["rev-parse", "HEAD"])
}

fn kept(cleared: Cleared) -> String {
    let Cleared::Kept { reason } = cleared else { panic!("it was removed: {cleared:?}") };
    reason
}

/// Does something without the right of root to pass over permissions.
fn as_anybody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let over = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH | CapabilitySet::FOWNER;
    thread::scope(|scope| {
        let working = scope.spawn(|| {
            let had = capabilities(None).unwrap();
            let CapabilitySets { effective, permitted, inheritable } = had;
            let sets = CapabilitySets { effective: effective - over, permitted, inheritable };
            set_capabilities(None, sets).unwrap();
            work()
        });
        working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn merge(into: &str) -> Merge {
    Merge {
        id: MergeId(1),
        agent: "agent".parse().unwrap(),
        task: None,
        terms: MergeTerms {
            form: MergeForm::Merge,
            into: into.to_owned(),
            gates: Vec::new(),
            message: None,
            committed_only: false,
            is_trial: false,
            sends_back: false,
        },
        state: MergeState::Merging,
        since: Moment(0),
        commit: None,
        files: Vec::new(),
        note: None,
    }
}

#[test]
fn a_directory_that_is_away_is_kept_with_all_that_git_knows_of_it() {
    for kind in [WorkspaceKind::Worktree, WorkspaceKind::Copy] {
        let ground = Ground::new();
        let plot = wheelhouse::model::Plot { kind, ..ground.plot("agent") };
        let workspace = ground.make("agent", plot);
        let (root, away) = (ground.root("agent"), ground.home.path().join("away"));
        let is_tree = kind == WorkspaceKind::Worktree;
        if is_tree {
            git(&root, &["checkout", "-q", "--detach"]);
            commit(&root, "d.txt", "detached\n");
        }
        let branches = ground.git(&["for-each-ref"]);
        fs::rename(&root, &away).unwrap();
        for rescues in [false, true] {
            let clearing = Clearing { rescues, ..Clearing::default() };
            let cleared = workspace::clear(&ground.site, &workspace, clearing).unwrap();
            let reason = kept(cleared);
            assert!(reason.contains("its directory is not there"), "{reason}");
        }
        fs::rename(&away, &root).unwrap();
        if is_tree {
            assert_eq!(git(&root, &["log", "-1", "--format=%s"]), "d.txt");
            assert_eq!(ground.git(&["for-each-ref"]), branches);
        } else {
            assert!(root.join("a.txt").exists());
        }
    }
}

#[test]
fn a_directory_that_is_gone_for_good_is_given_up_once_its_commits_are_rescued() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let root = ground.root("agent");
    let reset = commit(&root, "r.txt", "reset\n");
    git(&root, &["reset", "-q", "--hard", "HEAD~1"]);
    git(&root, &["checkout", "-q", "--detach"]);
    let detached = commit(&root, "d.txt", "detached\n");
    fs::write(root.join("s.txt"), "staged\n").unwrap();
    git(&root, &["add", "."]);
    let staged = git(&root, &["rev-parse", ":s.txt"]);
    fs::remove_dir_all(root.parent().unwrap()).unwrap();
    let accepts = Clearing { accepts_missing: true, ..Clearing::default() };
    let cleared = workspace::clear(&ground.site, &workspace, accepts).unwrap();
    let Cleared::Removed { rescue: Some(name) } = cleared else { panic!("{cleared:?}") };
    assert!(name.starts_with("refs/wheelhouse/rescue/"), "{name}");
    let reachable = ground.reachable();
    for id in [&reset, &detached, &staged] {
        assert!(reachable.contains(id), "{id}");
    }
    let trees = ground.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(trees.matches("worktree ").count(), 1, "{trees}");
    assert_eq!(ground.git(&["branch", "--list", "wheelhouse/*"]), "");
    // A hub that dies before it has put that on record asks again.
    let again = workspace::clear(&ground.site, &workspace, Clearing::default()).unwrap();
    assert_eq!(again, Cleared::Removed { rescue: None });
}

#[test]
fn an_empty_directory_where_a_disk_was_mounted_is_no_work_and_not_empty_either() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let (root, away) = (ground.root("agent"), ground.home.path().join("away"));
    fs::rename(&root, &away).unwrap();
    fs::create_dir(&root).unwrap();
    let cleared = workspace::clear(&ground.site, &workspace, Clearing::default()).unwrap();
    assert!(kept(cleared).contains("or is empty"));
    let told = workspace::rescue(&ground.site, &workspace).unwrap_err().to_string();
    assert!(told.contains("or is empty"), "{told}");
    let told = refusal(&workspace, "wheelhouse/integration");
    assert!(told.contains("or is empty"), "{told}");
}

#[test]
fn a_tree_that_was_moved_aside_and_then_left_is_judged_as_it_was() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let root = ground.root("agent");
    fs::remove_file(root.join("c.txt")).unwrap();
    let before = ground.contents(&root);
    fs::rename(&root, root.with_file_name(".removing-agent")).unwrap();
    let repeated = Clearing { is_repeated: true, ..Clearing::default() };
    let cleared = workspace::clear(&ground.site, &workspace, repeated).unwrap();
    assert_eq!(kept(cleared), "1 deleted file: c.txt");
    assert_eq!(ground.contents(&root), before);
}

#[test]
fn what_cannot_be_deleted_is_set_apart_and_never_taken_for_a_workspace() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let root = ground.root("agent");
    let foreign = root.join("target/foreign");
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join("f"), "f\n").unwrap();
    if std::os::unix::fs::chown(&foreign, Some(65_534), None).is_err() {
        println!("SKIPPED: only root makes a directory that is somebody else's");
        return;
    }
    let cleared =
        as_anybody(|| workspace::clear(&ground.site, &workspace, Clearing::default()).unwrap());
    let Cleared::Removed { rescue: Some(place) } = cleared else { panic!("{cleared:?}") };
    assert_eq!(place, root.with_file_name("rescued").join("agent-1").display().to_string());
    assert!(Path::new(&place).join("target/foreign/f").exists());
    assert!(!root.exists());
    assert!(workspace::prepare(&merge("wheelhouse/integration"), &workspace).is_err());
    assert_eq!(ground.git(&["branch", "--list", "wheelhouse/*"]), "");
}

#[test]
fn a_directory_that_cannot_be_written_to_is_removed_nonetheless_where_it_is_ours() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let root = ground.root("agent");
    let cache = root.join("target/mod");
    fs::create_dir_all(&cache).unwrap();
    fs::write(cache.join("go.sum"), "1\n").unwrap();
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o555)).unwrap();
    let outside = ground.home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o555)).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("target/link")).unwrap();
    let cleared =
        as_anybody(|| workspace::clear(&ground.site, &workspace, Clearing::default()).unwrap());
    assert_eq!(cleared, Cleared::Removed { rescue: None });
    assert!(!root.exists());
    let left: Vec<_> = fs::read_dir(root.parent().unwrap()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o555);
}

#[test]
fn files_with_several_names_are_removed() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let target = ground.root("agent").join("target");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("one"), "built\n").unwrap();
    fs::hard_link(target.join("one"), target.join("two")).unwrap();
    let cleared = workspace::clear(&ground.site, &workspace, Clearing::default()).unwrap();
    assert_eq!(cleared, Cleared::Removed { rescue: None });
}

#[test]
fn a_tree_whose_git_was_replaced_is_left_whole() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    let root = ground.root("agent");
    fs::remove_file(root.join(".git")).unwrap();
    git(&root, &["init", "-q"]);
    commit(&root, "own.txt", "own\n");
    let before = ground.contents(&root);
    for rescues in [false, true] {
        let clearing = Clearing { rescues, ..Clearing::default() };
        let cleared = workspace::clear(&ground.site, &workspace, clearing);
        assert_eq!(ground.contents(&root), before, "{cleared:?}");
    }
    assert_eq!(git(&root, &["log", "-1", "--format=%s"]), "own.txt");
}

/// Begins to rebase a branch so that it stops in the middle.
fn stop_in_a_rebase(place: &Path, options: &[&str]) {
    git(place, &["checkout", "-q", "-b", "feature"]);
    commit(place, "a.txt", "ours\n");
    git(place, &["checkout", "-q", "-b", "other", "HEAD~1"]);
    commit(place, "a.txt", "theirs\n");
    git(place, &["checkout", "-q", "feature"]);
    let words = [&["rebase", "-q"], options, &["other"]].concat();
    assert!(try_git(place, &words).is_err());
}

fn refusal(workspace: &Workspace, into: &str) -> String {
    match workspace::prepare(&merge(into), workspace) {
        Err(error) => error.to_string(),
        Ok(prospect) => panic!("it would be moved: {prospect:?}"),
    }
}

#[test]
fn a_branch_that_is_being_rebased_or_bisected_anywhere_is_not_moved() {
    for (is_linked, options) in [(false, &[][..]), (true, &[]), (false, &["--apply"])] {
        let ground = Ground::new();
        let workspace = ground.make("agent", ground.plot("agent"));
        commit(&ground.root("agent"), "w.txt", "work\n");
        let place = if is_linked {
            let place = ground.home.path().join("linked");
            ground.git(&["worktree", "add", "-q", "-b", "tmp", place.to_str().unwrap()]);
            place
        } else {
            ground.project()
        };
        stop_in_a_rebase(&place, options);
        let told = refusal(&workspace, "feature");
        assert!(told.contains("is being rebased"), "{told}");
        git(&place, &["rebase", "--abort"]);
        git(&place, &["checkout", "-q", "-B", "tmp"]);
        assert!(matches!(
            workspace::prepare(&merge("feature"), &workspace).unwrap(),
            Prospect::Ready(_) | Prospect::Conflict { .. }
        ));
    }
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    commit(&ground.root("agent"), "w.txt", "work\n");
    ground.git(&["bisect", "start", "HEAD", "HEAD~1"]);
    ground.git(&["checkout", "-q", "--detach"]);
    let told = refusal(&workspace, "main");
    assert!(told.contains("is being bisected"), "{told}");
}

#[test]
fn a_branch_that_a_rebase_will_move_at_its_end_is_not_moved() {
    let ground = Ground::new();
    let workspace = ground.make("agent", ground.plot("agent"));
    commit(&ground.root("agent"), "w.txt", "work\n");
    let project = ground.project();
    ground.git(&["checkout", "-q", "-b", "lower"]);
    commit(&project, "l.txt", "lower\n");
    ground.git(&["checkout", "-q", "-b", "upper"]);
    commit(&project, "a.txt", "upper\n");
    ground.git(&["checkout", "-q", "-b", "other", "main"]);
    commit(&project, "a.txt", "theirs\n");
    ground.git(&["checkout", "-q", "upper"]);
    assert!(try_git(&project, &["rebase", "-q", "--update-refs", "other"]).is_err());
    let told = refusal(&workspace, "lower");
    assert!(told.contains("is being rebased"), "{told}");
}

#[test]
fn a_submodule_whose_commit_is_only_in_the_workspace_does_not_come_back() {
    let ground = Ground::new();
    let library = ground.home.path().canonicalize().unwrap().join("library");
    fs::create_dir(&library).unwrap();
    git(&library, &["init", "-q", "-b", "main"]);
    commit(&library, "l.txt", "1\n");
    ground.git(&["submodule", "add", "-q", library.to_str().unwrap(), "sub"]);
    ground.git(&["commit", "-q", "-m", "sub"]);
    let workspace = ground.make("agent", ground.plot("agent"));
    let root = ground.root("agent");
    git(&root, &["submodule", "update", "-q", "--init"]);
    let inside = commit(&root.join("sub"), "inside.txt", "inside\n");
    git(&root, &["add", "sub"]);
    git(&root, &["commit", "-q", "-m", "bump"]);
    let told = refusal(&workspace, "wheelhouse/integration");
    assert!(told.contains("`sub`") && told.contains(&inside[..12]), "{told}");
    // What the remote has, or the project itself, may come.
    git(&root.join("sub"), &["push", "-q", "origin", "HEAD:refs/heads/pushed"]);
    let prospect = workspace::prepare(&merge("wheelhouse/integration"), &workspace).unwrap();
    assert!(matches!(prospect, Prospect::Ready(_)), "{prospect:?}");
}
