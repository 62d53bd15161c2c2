//! Bringing work back through the real hub: onto a branch, through gates, in order, and never through
//! anybody's checkout.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::support::clock::{wait_for, wait_within};
use super::support::plots;
use super::support::process;
use super::support::yard::Yard;

/// Does in its workspace what it is told.
const OBEDIENT: &str = "on prompt containing \"cannot be merged\"\n  \
     run git merge -q wheelhouse/integration; git checkout -q --ours . ; git add -A; \
     git commit -q -m fitted\n  status done \"made it fit, 3 tests pass\"\n\
     on prompt\n  run $PROMPT\n  status done \"ran it, 1 command passed\"\n";

const FILES: &[(&str, &str)] = &[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n")];

/// Sixteen agents, two pairs of which change the same line, and one pair of which breaks a gate that
/// each of them passes alone.
const CREW: usize = 16;

/// All of it on a busy machine.
const LONG: Duration = Duration::from_mins(6);

fn merge(yard: &Yard, arguments: &[&str]) -> Value {
    let said = yard.world.run(&[&["workspace", "merge"], arguments, &["--json"]].concat());
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

#[test]
fn sixteen_are_brought_back_in_order_with_two_conflicts_and_a_broken_gate_and_cleaned() {
    let name = |number: usize| format!("a{number:02}");
    let work = |number: usize| {
        let mut work = format!("echo {number} > f{number:02}.txt");
        match number {
            3 | 5 => write!(work, "; echo {number} > x.txt").unwrap(),
            7 | 9 => write!(work, "; echo {number} > y.txt").unwrap(),
            11 | 13 => write!(work, "; echo {number} > limit-{number}.txt").unwrap(),
            _ => {}
        }
        // Some commit, and some do not.
        if number.is_multiple_of(2) {
            work.push_str("; git add -A; git commit -q -m work");
        }
        work
    };
    let script = |number: usize| {
        format!(
            "on prompt containing \"cannot be merged\"\n  run \
             git merge -q wheelhouse/integration; git checkout -q --theirs x.txt; git checkout -q --theirs y.txt; \
             rm -f limit-{number}.txt; git add -A; git commit -q -m fitted\n  \
             status done \"made it fit, 3 tests pass\"\n\
             on prompt\n  run {}\n  status done \"wrote f{number:02}.txt, 3 tests pass\"\n",
            work(number)
        )
    };
    let names: Vec<String> = (1..=CREW).map(name).collect();
    let scripts: Vec<String> = (1..=CREW).map(script).collect();
    let agents: Vec<(&str, &str)> =
        names.iter().zip(&scripts).map(|(name, script)| (name.as_str(), script.as_str())).collect();
    let files = [("x.txt", "x\n"), ("y.txt", "y\n"), ("limit-0.txt", "0\n")];
    let gate = "test $(cat limit-*.txt | wc -l) -le 2";
    let yard =
        Yard::new(&files, &agents, &format!("merge = 'done'\ngates = ['{gate}']\nports = 5"));
    let head = yard.git(&["rev-parse", "HEAD"]);
    yard.up(&[]);
    assert_eq!(yard.list().len(), CREW);
    for name in &names {
        let task = ["task", "add", "--title", name, "--prompt", "do it", "--agent", name];
        yard.world.ok(&task);
    }
    wait_within(LONG, "all of the work on the branch", || {
        let listed = yard.list();
        let is_in = |one: &Value| one["merge"]["state"] == "done";
        listed.len() == CREW && listed.iter().all(is_in)
    });
    let branch = "wheelhouse/integration";
    let brought = yard.git(&["ls-tree", "--name-only", branch]);
    for number in 1..=CREW {
        assert!(brought.contains(&format!("f{number:02}.txt")), "{number}: {brought}");
    }
    let limits = brought.lines().filter(|file| file.starts_with("limit-")).count();
    assert_eq!(limits, 2, "one of the two gave way: {brought}");
    let story = yard.world.ok(&["events"]);
    let count = |kind: &str| story.matches(kind).count();
    assert_eq!((count("merge.conflict"), count("merge.broken")), (2, 1), "{story}");
    let repairs = yard.world.json(&["task", "list"]);
    let repairs = repairs.as_array().unwrap().iter();
    let repairs =
        repairs.filter(|task| task["title"].as_str().unwrap().starts_with("Resolve the conflict"));
    assert_eq!(repairs.count(), 3);
    assert_eq!(yard.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(yard.git(&["status", "--porcelain"]), "", "nobody's checkout was touched");
    yard.world.ok(&["down", "--force"]);
    wait_for("no workspace", || yard.list().is_empty());
    let session = yard.world.paths().session.to_string();
    let left = yard.git(&["for-each-ref", &format!("refs/heads/wheelhouse/{session}")]);
    assert_eq!(left, "");
    assert_eq!(yard.git(&["worktree", "list"]).lines().count(), 1);
    let kept = fs::read_dir(yard.root("x").parent().unwrap()).unwrap().count();
    assert_eq!(kept, 0);
}

#[test]
fn work_is_merged_squashed_and_rebased_again_and_again_and_a_trial_moves_nothing() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT), ("two", OBEDIENT)], "");
    yard.up(&["one", "two"]);
    let branch = "wheelhouse/integration";
    let log = || yard.git(&["log", "--format=%s", branch]);
    yard.say("one", "echo 1 >> b.txt");
    let trial = merge(&yard, &["one", "--dry-run"]);
    assert_eq!((&trial["state"], &trial["trial"]), (&"done".into(), &true.into()));
    assert_eq!(trial["files"][0]["path"], "b.txt");
    assert!(plots::try_git(&yard.project(), &["rev-parse", "--verify", branch]).is_err());
    assert_eq!(plots::git(&yard.root("one"), &["status", "--porcelain"]), "M b.txt");
    let done = merge(&yard, &["one", "--squash", "--message", "First"]);
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(log(), "First\none");
    assert_eq!(plots::git(&yard.root("one"), &["status", "--porcelain"]), "");
    let again = merge(&yard, &["one"]);
    assert_eq!(again["note"], "there was nothing new to merge", "{again}");
    // The same lines once more: what was squashed is not in the way.
    yard.say("one", "echo 2 >> b.txt; git add -A; git commit -q -m Second; echo 3 > c.txt");
    let done = merge(&yard, &["one", "--rebase", "--message", "Third"]);
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(log(), "Third\nSecond\nFirst\none");
    yard.say("two", "echo d > d.txt; git add -A; git commit -q -m D; echo e > e.txt");
    let done = merge(&yard, &["two", "--committed", "--message", "Fourth"]);
    assert_eq!(done["state"], "done", "{done}");
    assert!(log().starts_with("Fourth\n"), "{}", log());
    assert_eq!(plots::git(&yard.root("two"), &["status", "--porcelain"]), "?? e.txt");
    assert_eq!(yard.git(&["show", &format!("{branch}:b.txt")]), "b\n1\n2");
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
    let refused = yard.world.run(&["workspace", "merge", "two", "--into", "main"]);
    assert!(refused.err.contains("`main` is checked out in"), "{refused:?}");
    assert!(refused.err.contains("merge --ff-only"), "{refused:?}");
    let shown = yard.world.ok(&["workspace", "merge", "two", "--pr"]);
    assert!(shown.contains("gh pr create"), "{shown}");
}

#[test]
fn what_will_meet_is_shown_before_anyone_merges_and_what_conflicts_goes_back() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT), ("two", OBEDIENT)], "");
    yard.up(&["one", "two"]);
    yard.say("one", "echo ONE > a.txt");
    yard.say("two", "echo TWO > a.txt");
    wait_for("an overlap", || {
        let items = yard.world.json(&["attention"]);
        let mut items = items.as_array().unwrap().iter();
        items.any(|item| item["text"] == "a.txt changed in the workspaces of one and two")
    });
    assert!(yard.world.agent("two").conflict);
    assert!(yard.world.ok(&["workspace", "list"]).contains("one: also changed by two: a.txt"));
    assert_eq!(merge(&yard, &["one"])["state"], "done");
    let said = yard.world.run(&["workspace", "merge", "two"]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.out.contains("a.txt (also of one)"), "{said:?}");
    let before = yard.git(&["rev-parse", "wheelhouse/integration"]);
    let back = merge(&yard, &["two", "--send-back"]);
    assert_eq!(back["state"], "conflict", "{back}");
    assert_eq!(yard.git(&["rev-parse", "wheelhouse/integration"]), before);
    wait_for("an agent that has made it fit", || {
        merge(&yard, &["two", "--dry-run"])["state"] == "done"
    });
    yard.world.ok(&["wait", "--agent", "two", "--for", "idle,done", "--timeout", "35"]);
    assert_eq!(merge(&yard, &["two"])["state"], "done");
    assert_eq!(yard.git(&["show", "wheelhouse/integration:a.txt"]), "TWO");
}

#[test]
fn a_gate_is_asked_of_the_merged_tree_and_blames_nobody_for_what_was_broken_before() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT)], "");
    yard.up(&["one"]);
    yard.say("one", "echo bad > bad.txt");
    let said = yard.world.run(&["workspace", "merge", "one", "--gate", "! test -e bad.txt"]);
    assert_eq!(said.code, Some(4), "{said:?}");
    assert!(plots::try_git(&yard.project(), &["rev-parse", "wheelhouse/integration"]).is_err());
    let broken = merge(&yard, &["one", "--gate", "echo always; false"]);
    let note = broken["note"].as_str().unwrap();
    assert!(note.contains("not without its work either") && note.contains("always"), "{note}");
    assert_eq!(merge(&yard, &["one", "--gate", "test -e bad.txt"])["state"], "done");
    assert_eq!(yard.git(&["worktree", "list"]).lines().count(), 2, "the scratch tree is gone");
}

#[test]
fn a_merge_survives_a_hub_that_is_killed_while_its_gate_runs() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT)], "");
    yard.up(&["one"]);
    yard.say("one", "echo more > more.txt");
    let sign = yard.world.path("gate-runs");
    let gate = format!(
        "touch {}; while ! test -e {}.go; do sleep 0.1; done",
        sign.display(),
        sign.display()
    );
    let mut command = yard.world.command(&["workspace", "merge", "one", "--gate", &gate]);
    let mut asking = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_for("a gate that runs", || sign.exists());
    for pid in yard.world.players("hub") {
        process::kill(pid, rustix::process::Signal::KILL);
    }
    fs::write(sign.with_extension("go"), "").unwrap();
    fs::write(format!("{}.go", sign.display()), "").unwrap();
    assert!(asking.wait().unwrap().success(), "whoever asked is answered by the next hub");
    assert_eq!(yard.git(&["show", "wheelhouse/integration:more.txt"]), "more");
    let merges = yard.git(&["rev-list", "--count", "--merges", "wheelhouse/integration"]);
    assert_eq!(merges, "1");
}
