//! The hub itself loses no workspace: not while a disk is away, not when it is killed, not with its
//! record, and not when the power goes.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::Signal;

use super::support::clock::wait_for;
use super::support::plots::git;
use super::support::process;
use super::support::strace::Traced;
use super::support::yard::Yard;

const FILES: &[(&str, &str)] = &[("a.txt", "one\n"), ("c.txt", "c\n")];
const IDLE: &str = "on prompt\n  status done \"ran it, 1 command passed\"\n";

fn yard() -> Yard {
    let yard = Yard::new(FILES, &[("one", IDLE)], "disposable = [\"junk.log\"]");
    yard.up(&["one"]);
    yard
}

/// Returns why the workspace is kept, once that is known.
fn note(yard: &Yard) -> String {
    let listed = yard.workspace("one").unwrap();
    let note = listed["note"].as_str().filter(|_| listed["state"] == "ready");
    note.unwrap_or_default().to_owned()
}

#[test]
fn a_workspace_on_a_disk_that_is_away_stays_until_a_person_gives_it_up() {
    let yard = yard();
    let (root, away) = (yard.root("one"), yard.world.path("away"));
    git(&root, &["checkout", "-q", "--detach"]);
    fs::write(root.join("d.txt"), "detached\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "d"]);
    let commit = git(&root, &["rev-parse", "HEAD"]);
    fs::rename(&root, &away).unwrap();
    yard.world.ok(&["agent", "stop", "one", "--grace", "0"]);
    wait_for("a reason to keep it", || note(&yard).contains("its directory is not there"));
    for words in [&["workspace", "clean", "one"][..], &["workspace", "clean", "one", "--rescue"]] {
        let said = yard.world.run(words);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains("wheelhouse workspace clean one --gone"), "{said:?}");
    }
    // What is back is as it was.
    fs::rename(&away, &root).unwrap();
    let said = yard.world.run(&["workspace", "clean", "one", "--gone"]);
    assert!(said.err.contains("1 commit that are not merged"), "{said:?}");
    fs::remove_dir_all(&root).unwrap();
    let said = yard.world.ok(&["workspace", "clean", "one", "--gone"]);
    assert!(said.contains("refs/wheelhouse/rescue/"), "{said}");
    assert!(yard.workspace("one").is_none());
    let held = yard.git(&["for-each-ref", "--contains", &commit, "--format=%(refname)"]);
    assert!(held.starts_with("refs/wheelhouse/rescue/"), "{held}");
}

#[test]
fn a_hub_that_is_killed_in_the_middle_of_a_removal_leaves_all_of_it_or_goes_on() {
    let yard = yard();
    let root = yard.root("one");
    yard.world.ok(&["agent", "stop", "one", "--grace", "0"]);
    for round in 0..4 {
        yard.world.ok(&["agent", "start", "one"]);
        yard.world.ok(&["wait", "--agent", "one", "--for", "idle", "--timeout", "25"]);
        fs::write(root.join("x.txt"), "work\n").unwrap();
        for number in 0..2000 {
            let folder = root.join(format!("junk.log/{}", number % 20));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(number.to_string()), "x").unwrap();
        }
        yard.world.ok(&["agent", "stop", "one", "--grace", "0"]);
        let whole = ["a.txt", "c.txt", "x.txt", ".git"];
        let mut clean = yard.world.command(&["workspace", "clean", "one", "--rescue"]);
        let clean = clean.stdout(Stdio::null()).stderr(Stdio::null());
        let mut asking: Child = clean.spawn().unwrap();
        wait_for("a removal that has begun", || !root.exists());
        for pid in yard.world.players("hub") {
            process::kill(pid, Signal::KILL);
        }
        // Where the workspace was there is all of it, or nothing.
        if root.exists() {
            assert!(whole.iter().all(|name| root.join(name).exists()), "round {round}");
        }
        asking.wait().unwrap();
        wait_for("the end of the removal", || yard.workspace("one").is_none());
        let left: Vec<_> = fs::read_dir(root.parent().unwrap()).unwrap().flatten().collect();
        assert!(left.is_empty(), "round {round}: {left:?}");
        assert_eq!(yard.git(&["branch", "--list", "wheelhouse/*"]), "");
        let rescued = format!("refs/wheelhouse/rescue/*/one/{}", round + 1);
        let rescued = yard.git(&["for-each-ref", "--format=%(refname)", &rescued]);
        assert_eq!(yard.git(&["show", &format!("{rescued}:x.txt")]), "work", "round {round}");
    }
}

#[test]
fn a_workspace_whose_record_is_lost_is_found_again_and_worked_in() {
    let yard = yard();
    let root = yard.root("one");
    fs::write(root.join("x.txt"), "work\n").unwrap();
    let branch = git(&root, &["branch", "--show-current"]);
    yard.world.ok(&["down", "--force"]);
    wait_for("an end of the hub", || yard.world.players("hub").is_empty());
    let record = yard.world.paths().record();
    for end in ["", "-wal", "-shm"] {
        let file = format!("{}{end}", record.display());
        if Path::new(&file).exists() {
            fs::rename(&file, format!("{file}.old")).unwrap();
        }
    }
    let listed = yard.workspace("one").expect("it is on the disk");
    assert_eq!(listed["branch"], branch);
    assert_eq!(listed["files"], serde_json::json!(["x.txt"]));
    assert!(note(&yard).contains("found on the disk"), "{listed}");
    yard.up(&["one"]);
    assert_eq!(fs::read_to_string(root.join("x.txt")).unwrap(), "work\n");
    yard.world.ok(&["workspace", "merge", "one"]);
    assert_eq!(yard.git(&["show", "wheelhouse/integration:x.txt"]), "work");
    yard.world.ok(&["agent", "stop", "one", "--grace", "0"]);
    wait_for("an empty one gone", || yard.workspace("one").is_none());
    assert_eq!(yard.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
}

#[test]
fn a_workspace_whose_record_and_directory_are_lost_can_be_given_up() {
    let yard = yard();
    let root = yard.root("one");
    fs::write(root.join("x.txt"), "work\n").unwrap();
    yard.world.ok(&["down", "--force"]);
    wait_for("an end of the hub", || yard.world.players("hub").is_empty());
    let record = yard.world.paths().record();
    fs::rename(&record, record.with_extension("old")).unwrap();
    fs::remove_dir_all(&root).unwrap();
    assert!(yard.workspace("one").is_some());
    yard.world.ok(&["workspace", "clean", "one", "--gone"]);
    yard.up(&["one"]);
}

#[test]
fn what_is_rescued_is_on_the_disk_before_the_only_copy_goes() {
    let yard = yard();
    let root = yard.root("one");
    fs::write(root.join("x.txt"), "work\n").unwrap();
    yard.world.ok(&["agent", "stop", "one", "--grace", "0"]);
    wait_for("a reason to keep it", || note(&yard).contains("x.txt"));
    let (trace, hubs) = (yard.world.path("trace"), yard.world.players("hub"));
    let calls = "trace=fsync,syncfs,unlinkat,rename,renameat,renameat2,rmdir";
    let arguments = ["-y", "-e", calls, "-o", trace.to_str().unwrap()];
    let Some(traced) = Traced::attach(hubs[0], &arguments) else { return };
    yard.world.ok(&["workspace", "clean", "one", "--rescue"]);
    drop(traced);
    let text = fs::read_to_string(&trace).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let at = |what: &str, parts: &[&str]| {
        let is_it = |line: &&str| parts.iter().all(|part| line.contains(part));
        let found = lines.iter().position(is_it);
        found.unwrap_or_else(|| panic!("{what}: {text}"))
    };
    let objects = lines.iter().filter(|line| line.contains("fsync(") && line.contains("tmp_obj"));
    assert!(objects.count() >= 3, "a file, a tree and a commit: {text}");
    let object = at("an object", &["fsync(", "tmp_obj"]);
    let name = at("its name", &["fsync(", "refs/wheelhouse/rescue/", ".lock"]);
    let all = at("all of it", &["syncfs(", ".git"]);
    let aside = at("the tree moved aside", &["rename", "workspaces/one\"", ".removing-one"]);
    let list = at("the list of what goes", &["fsync(", "one.draft"]);
    let gone = at("the file", &["unlinkat(", "x.txt"]);
    let order = [object, name, all, aside, list, gone];
    assert!(order.is_sorted(), "{order:?}: {text}");
}
