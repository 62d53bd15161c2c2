//! Agents on another machine work in clones of their own there; what they do is seen, checked and
//! brought back here, and none of it is lost.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::support::chance::Chance;
use super::support::clock::wait_for;
use super::support::plots;
use super::support::process;
use super::support::sshd::Sshd;
use super::support::world::World;
use super::support::yard::Yard;

const FILES: &[(&str, &str)] = &[("a.txt", "one\ntwo\nthree\n"), ("sub/b.txt", "b\n")];

/// Does in its workspace what it is told.
const OBEDIENT: &str = "on prompt containing \"the checked file\"\n  run echo checked > c.txt\n  \
     status done \"wrote c.txt, 1 command passed\"\non prompt\n  run $PROMPT\n  status done \"ran it, 1 command passed\"\n";

const BRANCH: &str = "wheelhouse/integration";

/// A yard whose agents all work elsewhere.
fn elsewhere(agents: &[&str], settings: &str) -> Option<(Yard, Sshd)> {
    let world = World::new();
    let server = Sshd::start(&world)?;
    // Someone who commits there has a name there.
    let config = "[user]\n\tname = Someone\n\temail = someone@example.org\n";
    fs::write(world.path("elsewhere/.gitconfig"), config).unwrap();
    let settings = format!("{settings}\n{}", server.runner("box"));
    let agents: Vec<(&str, &str)> = agents.iter().map(|name| (*name, OBEDIENT)).collect();
    let yard = Yard::in_world(world, FILES, &agents, (&settings, "runner = \"box\""));
    Some((yard, server))
}

/// Returns where an agent works there.
fn there(yard: &Yard, agent: &str) -> PathBuf {
    let listed = yard.workspace(agent).unwrap();
    PathBuf::from(listed["root_there"].as_str().unwrap_or_else(|| panic!("{listed}")))
}

fn files(yard: &Yard, agent: &str) -> Vec<String> {
    let listed = yard.workspace(agent).unwrap();
    let files = listed["files"].as_array().unwrap().iter();
    files.map(|file| file.as_str().unwrap().to_owned()).collect()
}

fn merge(yard: &Yard, arguments: &[&str]) -> Value {
    let said = yard.world.run(&[&["workspace", "merge"], arguments, &["--json"]].concat());
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

#[test]
fn work_elsewhere_is_listed_compared_checked_merged_and_removed_from_here() {
    let settings = "copy = ['.env']\nports = 7\nsetup = 'echo from $WHEELHOUSE_PORT_BASE > made.log'\n\
                    teardown = 'echo $WHEELHOUSE_PORT_COUNT >> ../torn'\ndisposable = ['*.log']";
    let Some((yard, _server)) = elsewhere(&["one", "two"], settings) else { return };
    fs::write(yard.project().join(".env"), "KEY=1\n").unwrap();
    yard.up(&["one", "two"]);
    let (one, two) = (there(&yard, "one"), there(&yard, "two"));
    assert!(one.starts_with(yard.world.path("elsewhere")), "{}", one.display());
    assert_eq!(fs::read_to_string(one.join(".env")).unwrap(), "KEY=1\n");
    assert!(fs::read_to_string(one.join("made.log")).unwrap().starts_with("from 42"));
    let listed = yard.workspace("one").unwrap();
    assert_eq!((&listed["runner"], &listed["state"]), (&"box".into(), &"ready".into()));
    let branch = listed["branch"].as_str().unwrap();
    assert_eq!(plots::git(&one, &["branch", "--show-current"]), branch);
    assert_eq!(plots::git(&one, &["rev-parse", "HEAD"]), yard.git(&["rev-parse", "HEAD"]));

    // Some of it is committed, and some is not; all of it is seen here.
    yard.say("one", "echo 1 >> a.txt; git commit -q -a -m mine; echo new > n.txt; rm sub/b.txt");
    assert_eq!(files(&yard, "one"), ["a.txt", "n.txt", "sub/b.txt"]);
    let diff = yard.world.ok(&["workspace", "diff", "one"]);
    assert!(diff.contains("+1") && diff.contains("+new") && diff.contains("-b"), "{diff}");
    assert_eq!(yard.git(&["log", "-1", "--format=%s", branch]), "mine");

    // A gate looks at what is there now.
    let claim = |gate: &str, prompt: &str| {
        let words = ["task", "add", "--title", "t", "--agent", "one", "--gate", gate, "--prompt"];
        let task = yard.world.json(&[&words[..], &[prompt]].concat());
        let id = task["id"].as_str().unwrap();
        yard.world.ok(&["wait", "--task", id, "--for", "done", "--timeout", "25"]);
    };
    claim("grep -q checked c.txt && test -f n.txt", "write the checked file");

    let head = yard.git(&["rev-parse", "HEAD"]);
    let trial = merge(&yard, &["one", "--dry-run"]);
    assert_eq!(trial["state"], "done", "{trial}");
    assert_eq!(plots::git(&one, &["log", "-1", "--format=%s"]), "mine", "nothing has moved");
    let done = merge(&yard, &["one", "--message", "First"]);
    assert_eq!(done["state"], "done", "{done}");
    assert_eq!(plots::git(&one, &["status", "--porcelain"]), "", "it is committed there");
    assert_eq!(yard.git(&["show", &format!("{BRANCH}:c.txt")]), "checked");
    // The same lines once more: what was brought back is not in the way.
    yard.say("one", "echo 2 >> a.txt");
    assert_eq!(merge(&yard, &["one"])["state"], "done");
    assert_eq!(yard.git(&["show", &format!("{BRANCH}:a.txt")]), "one\ntwo\nthree\n1\n2");
    assert_eq!(yard.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(yard.git(&["status", "--porcelain"]), "");

    // What does not fit is told, and what it does not fit onto can be seen there.
    yard.say("two", "echo other >> a.txt");
    let conflict = merge(&yard, &["two"]);
    assert_eq!(
        (&conflict["state"], &conflict["files"][0]["path"]),
        (&"conflict".into(), &"a.txt".into())
    );
    yard.say(
        "two",
        &format!("git merge -q {BRANCH}; git checkout -q --theirs a.txt; echo other >> a.txt; git commit -q -a -m fit"),
    );
    assert_eq!(plots::git(&two, &["log", "-1", "--format=%s"]), "fit");
    assert_eq!(merge(&yard, &["two"])["state"], "done");

    yard.world.ok(&["agent", "stop", "one", "two"]);
    wait_for("no workspace", || yard.list().is_empty());
    assert!(!one.exists() && !two.exists() && !yard.root("one").exists());
    assert_eq!(fs::read_to_string(one.with_file_name("torn")).unwrap(), "7\n7\n");
    let session = yard.world.paths().session.to_string();
    assert_eq!(yard.git(&["for-each-ref", &format!("refs/heads/wheelhouse/{session}")]), "");
    assert_eq!(yard.git(&["for-each-ref", "refs/wheelhouse"]), "", "nothing had to be rescued");
}

#[test]
fn a_workspace_elsewhere_is_never_removed_while_something_in_it_is_not_here() {
    let Some((yard, mut server)) = elsewhere(&["one"], "") else { return };
    yard.up(&["one"]);
    let root = there(&yard, "one");
    yard.say("one", "echo 1 > a.txt; git commit -q -a -m mine; echo KEY=2 > .env; echo n > n.txt");
    yard.world.ok(&["agent", "stop", "one"]);
    let kept = || {
        let listed = yard.workspace("one");
        listed.filter(|one| one["state"] == "ready" && one["note"].is_string())
    };
    wait_for("a workspace that is kept", || kept().is_some());
    assert!(kept().unwrap()["note"].as_str().unwrap().contains("n.txt"), "{:?}", kept());

    // Someone works there while nobody can look.
    server.cut_off(&yard.world);
    fs::write(root.join("late.txt"), "late\n").unwrap();
    for words in [&["workspace", "clean", "one"][..], &["workspace", "clean", "one", "--rescue"]] {
        let refused = yard.world.run(words);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.err.contains("`box`: "), "{refused:?}");
    }
    assert!(root.join("late.txt").exists() && yard.root("one").exists());
    server.bring_back();

    // What is ignored there never comes here by itself, and so it keeps the place.
    let brought = merge(&yard, &["one"]);
    assert_eq!(brought["state"], "done", "{brought}");
    let refused = yard.world.run(&["workspace", "clean", "one"]);
    assert!(refused.err.contains(".env"), "{refused:?}");
    fs::write(root.join("later.txt"), "later\n").unwrap();
    let rescued = yard.world.json(&["workspace", "rescue", "one"]);
    let name = rescued[0]["rescue"].as_str().unwrap();
    assert_eq!(yard.git(&["show", &format!("{name}:later.txt")]), "later");
    fs::write(root.join("last.txt"), "last\n").unwrap();
    let cleaned = yard.world.json(&["workspace", "clean", "one", "--rescue"]);
    let name = cleaned["rescues"][0]["rescue"].as_str().unwrap_or_else(|| panic!("{cleaned}"));
    for (file, text) in [(".env", "KEY=2"), ("late.txt", "late"), ("last.txt", "last")] {
        assert_eq!(yard.git(&["show", &format!("{name}:{file}")]), text);
    }
    assert!(!root.exists() && !yard.root("one").exists() && yard.list().is_empty());
}

#[test]
fn a_hub_or_a_line_that_dies_in_the_middle_loses_nothing_elsewhere() {
    let Some((yard, _server)) = elsewhere(&["one"], "") else { return };
    let mut chance = Chance::new(9);
    let kill = || {
        for pid in yard.world.players("hub") {
            process::kill(pid, Signal::KILL);
        }
    };
    for round in 0..6 {
        // While it is made.
        let mut up = yard.world.command(&["up", "crew"]).spawn().unwrap();
        wait_for("something that is being made", || {
            yard.root("one").exists() || up.try_wait().unwrap().is_some()
        });
        thread::park_timeout(Duration::from_millis(chance.below(300)));
        if round % 2 == 0 {
            kill();
        } else {
            Sshd::cut(&yard.world);
        }
        up.wait().unwrap();
        yard.world.start_hub();
        wait_for("an end of it", || {
            yard.workspace("one").is_none_or(|one| one["state"] == "ready")
        });
        if yard.world.running_status().is_none_or(|status| status.agents[0].pid.is_none()) {
            yard.world.run(&["workspace", "clean", "one"]);
        }
        yard.up(&["one"]);
        let root = there(&yard, "one");
        let text = format!("work of round {round}\n");
        let name = format!("n{round}.txt");
        fs::write(root.join(&name), &text).unwrap();
        // While it is brought back.
        let mut merging = yard.world.command(&["workspace", "merge", "one"]).spawn().unwrap();
        thread::park_timeout(Duration::from_millis(chance.below(400)));
        if round % 2 == 1 {
            kill();
        } else {
            Sshd::cut(&yard.world);
        }
        merging.wait().unwrap();
        let now = |place: &std::path::Path| fs::read_to_string(place.join(&name)).ok();
        assert_eq!(now(&root).as_ref(), Some(&text), "round {round}");
        wait_for("it on the branch", || {
            let done = merge(&yard, &["one"]);
            let shown = plots::try_git(&yard.project(), &["show", &format!("{BRANCH}:{name}")]);
            done["state"] == "done" && shown.is_ok_and(|shown| shown == text.trim())
        });
        // While it is removed.
        yard.world.ok(&["agent", "stop", "one"]);
        thread::park_timeout(Duration::from_millis(chance.below(300)));
        kill();
        yard.world.start_hub();
        wait_for("an end of it", || {
            yard.workspace("one").is_none_or(|one| one["state"] == "ready")
        });
        if yard.workspace("one").is_some() {
            yard.world.ok(&["workspace", "clean", "one"]);
        }
        assert!(!root.exists() && !yard.root("one").exists(), "round {round}");
    }
    let session = yard.world.paths().session.to_string();
    assert_eq!(yard.git(&["for-each-ref", &format!("refs/heads/wheelhouse/{session}")]), "");
    assert_eq!(yard.git(&["worktree", "list"]).lines().count(), 1);
}
