//! The hub is killed while it makes, merges and removes workspaces in which work was left in every
//! form: nothing is lost, and the next hub goes on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::support::chance::Chance;
use super::support::clock::wait_for;
use super::support::plots::{git, hash, try_git};
use super::support::process;
use super::support::yard::Yard;

const FILES: &[(&str, &str)] = &[("a.txt", "one\n"), ("c.txt", "c\n"), ("sub/b.txt", "b\n")];

const IDLE: &str = "on prompt\n  status done \"ran it, 1 command passed\"\n";

/// How work is left behind, as a person would leave it.
const STATES: &[(&str, &str)] = &[
    ("modified", "echo x > a.txt"),
    ("staged", "echo s > a.txt; git add a.txt; echo d > a.txt"),
    ("unstaged", "echo o > a.txt; git add a.txt; echo one > a.txt"),
    ("untracked", "mkdir -p d; echo n > d/n.txt; ln -s /nowhere d/link; rm sub/b.txt"),
    ("ignored", "echo KEY=2 > .env"),
    ("unpushed", "echo u > u.txt; git add .; git commit -q -m u; echo v > v.txt"),
    ("detached", "git checkout -q --detach; echo e > e.txt; git add .; git commit -q -m e"),
    (
        "reset",
        "echo r > r.txt; git add .; git commit -q -m r; git reset -q --hard HEAD~1; echo k > k.txt",
    ),
    ("stashed", "echo t > a.txt; git stash -q; echo w > w.txt"),
    ("unseen", "git update-index --skip-worktree a.txt; echo h > a.txt"),
    (
        "merging",
        "B=$(git branch --show-current); echo m > a.txt; git commit -q -a -m m; \
         git checkout -q -b other HEAD~1; echo q > a.txt; git commit -q -a -m q; ! git merge -q $B",
    ),
    ("locked", "git worktree lock --reason stick .; echo l > l.txt"),
    (
        "rebasing",
        "B=$(git branch --show-current); echo m > a.txt; git commit -q -a -m m; \
         git checkout -q -b third HEAD~1; echo q > a.txt; git commit -q -a -m q; ! git rebase -q $B",
    ),
    (
        "moduled",
        "git -c protocol.file.allow=always submodule add -q \"$PROJECT\" mod; git commit -q -m mod; \
         cd mod; echo i > i.txt; git add .; git -c user.name=n -c user.email=e@x commit -q -m i",
    ),
    (
        "nested",
        "mkdir inner; cd inner; git init -q; echo i > j.txt; git add .; \
         git -c user.name=n -c user.email=e@x commit -q -m j; echo k > k.txt",
    ),
    ("inhabited", "echo p > p.txt"),
    ("deleted", "rm c.txt; chmod +x a.txt"),
    ("broken", "echo x > x.txt; echo gitdir: /nowhere > .git"),
];

/// Those that are kept even where a rescue is asked for.
const STUCK: &[&str] = &["merging", "locked", "rebasing", "moduled", "nested", "inhabited"];

/// A process that is at home in a workspace.
struct Guest(Child);

impl Guest {
    fn of(root: &Path) -> Self {
        let mut sleep = Command::new("sleep");
        Self(sleep.arg("600").current_dir(root).stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Returns the names of all that is in a workspace: files, what is staged, commits.
fn treasures(project: &Path, root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if !root.is_dir() {
        return found;
    }
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        if folder != root && folder.join(".git").exists() {
            let commits = try_git(&folder, &["rev-list", "--all", "HEAD"]).unwrap_or_default();
            found.extend(commits.lines().map(str::to_owned));
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if entry.file_name() == ".git" {
                continue;
            }
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                found.insert(hash(project, &fs::read_to_string(path).unwrap()));
            }
        }
    }
    for words in [&["rev-list", "--all", "--reflog", "HEAD"][..], &["ls-files", "-s"]] {
        let at = usize::from(words[0] == "ls-files");
        let listed = try_git(root, words).unwrap_or_default();
        found.extend(listed.lines().filter_map(|line| line.split(' ').nth(at).map(str::to_owned)));
    }
    found
}

/// Kills the hub, and says whether there was one.
fn kill_hub(yard: &Yard) -> bool {
    let hubs = yard.world.players("hub");
    for pid in &hubs {
        process::kill(*pid, Signal::KILL);
    }
    !hubs.is_empty()
}

/// Begins a command, and kills the hub in the middle of it. Says whether it was under way; it may be
/// answered by the next hub.
fn cut(yard: &Yard, words: &[&str], chance: &mut Chance, most_ms: u64) -> bool {
    let mut command: Command = yard.world.command(words);
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::park_timeout(Duration::from_millis(chance.below(most_ms)));
    let was_under_way = child.try_wait().unwrap().is_none();
    let was_there = kill_hub(yard);
    child.wait().unwrap();
    was_under_way && was_there
}

fn rests(yard: &Yard, agent: &str) {
    wait_for("an end of it", || {
        let listed = yard.workspace(agent);
        listed.is_none_or(|one| one["state"] == "ready" && one["merge"]["state"] != "merging")
    });
}

/// Waits until a workspace without work is gone.
fn goes(yard: &Yard, agent: &str) {
    wait_for("an empty one gone", || {
        let listed = yard.workspace(agent);
        let kept = listed.as_ref().filter(|one| one["state"] == "ready" && one["note"].is_string());
        assert!(kept.is_none(), "it is kept: {kept:?}");
        listed.is_none()
    });
}

#[test]
fn a_hub_that_is_killed_at_any_moment_loses_nothing_in_any_state() {
    // Each half has a repository and a hub of its own, and takes half the time.
    let (first, second) = STATES.split_at(STATES.len() / 2);
    thread::scope(|scope| {
        let halves = [(first, 30), (second, 31)];
        let runs = halves.map(|(states, seed)| scope.spawn(move || outlives(states, seed)));
        for run in runs {
            run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

fn outlives(states: &[(&str, &str)], seed: u64) {
    let agents: Vec<(&str, &str)> = states.iter().map(|(name, _)| (*name, IDLE)).collect();
    let yard = Yard::new(FILES, &agents, "");
    let project = yard.project();
    yard.world.ok(&["up", "crew"]);
    yard.world.ok(&["down", "--force"]);
    for (agent, _) in states {
        goes(&yard, agent);
    }
    let mut chance = Chance::new(seed);
    let mut cuts = 0;
    for (agent, script) in states {
        let root = yard.root(agent);
        cuts += usize::from(cut(&yard, &["agent", "start", agent], &mut chance, 250));
        rests(&yard, agent);
        yard.world.ok(&["agent", "start", agent]);
        yard.world.ok(&["wait", "--agent", agent, "--for", "idle", "--timeout", "25"]);
        assert_eq!(git(&root, &["status", "--porcelain"]), "", "{agent}: it is whole");
        yard.world.ok(&["agent", "stop", agent, "--grace", "0"]);
        // Without work it goes by itself; so it is made again, and left with some.
        goes(&yard, agent);
        yard.world.ok(&["agent", "start", agent]);
        yard.world.ok(&["wait", "--agent", agent, "--for", "idle", "--timeout", "25"]);
        let mut leave = Command::new("sh");
        leave.args(["-e", "-c", script]).current_dir(&root).env("PROJECT", &project);
        let left = leave.output().unwrap();
        assert!(left.status.success(), "{agent}: {left:?}");
        let guest = (*agent == "inhabited").then(|| Guest::of(&root));
        let before = treasures(&project, &root);
        let is_safe = |when: &str| {
            let mut now = treasures(&project, &root);
            let held = git(&project, &["rev-list", "--objects", "--glob=refs/*"]);
            now.extend(held.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)));
            let lost: Vec<_> = before.difference(&now).collect();
            assert!(lost.is_empty(), "{agent}, {when}: {lost:?}");
        };
        // A merge commits files as they are: what was staged before gives way to them, as it does to
        // `git commit -a`.
        let is_twofold = script.contains("git add a.txt");
        let terms: &[&str] = if is_twofold { &["--committed"] } else { &[] };
        let merge = [&["workspace", "merge", agent], terms].concat();
        cuts += usize::from(cut(&yard, &merge, &mut chance, 200));
        is_safe("merged");
        rests(&yard, agent);
        yard.world.ok(&["agent", "stop", agent, "--grace", "0"]);
        rests(&yard, agent);
        if yard.workspace(agent).is_some() {
            let clean = ["workspace", "clean", agent, "--rescue"];
            cuts += usize::from(cut(&yard, &clean, &mut chance, 200));
            is_safe("removed");
            rests(&yard, agent);
        }
        is_safe("in the end");
        // What is left is known to git as what it was.
        if yard.workspace(agent).is_some() {
            let said = yard.world.run(&["workspace", "clean", agent, "--rescue"]);
            assert_eq!(said.code == Some(0), !STUCK.contains(agent), "{agent}: {said:?}");
            is_safe("cleaned");
        }
        if guest.is_some() {
            drop(guest);
            yard.world.ok(&["workspace", "clean", agent, "--rescue"]);
            is_safe("left alone");
        }
    }
    println!("{cuts} of {} were under way when the hub was killed", states.len() * 3);
    assert!(cuts > 0, "nothing was in the middle of anything");
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
}
