//! Workspaces through the real hub: made, worked in, kept, removed, whatever dies meanwhile.

use std::fs;

use super::support::clock::wait_for;
use super::support::plots;
use super::support::world::World;
use super::support::yard::Yard;

const FILES: &[(&str, &str)] = &[("a.txt", "one\n"), ("sub/b.txt", "b\n")];

/// Does in its workspace what it is told, line by line.
const OBEDIENT: &str = "on prompt\n  run $PROMPT\n  status done \"ran it, 1 command passed\"\n";

#[test]
fn an_agent_works_in_a_tree_of_its_own_and_a_clean_one_goes_by_itself() {
    let yard = Yard::new(
        FILES,
        &[("one", OBEDIENT)],
        "copy = ['.env']\nports = 7\nsetup = 'echo ports from $WHEELHOUSE_PORT_BASE > made.log'\n\
         teardown = 'echo $WHEELHOUSE_PORT_COUNT >> ../torn'\ndisposable = ['*.log']",
    );
    fs::write(yard.project().join(".env"), "KEY=1\n").unwrap();
    yard.up(&["one"]);
    let root = yard.root("one");
    assert_eq!(fs::read_to_string(root.join("made.log")).unwrap(), "ports from 42000\n");
    assert_eq!(fs::read_to_string(root.join(".env")).unwrap(), "KEY=1\n");
    let seen = yard.world.ok(&["agent", "read", "one", "--scrollback"]);
    assert!(seen.contains("setting up this workspace"), "{seen}");
    let listed = yard.workspace("one").unwrap();
    assert_eq!((&listed["kind"], &listed["port_base"]), (&"worktree".into(), &42_000.into()));
    let branch = listed["branch"].as_str().unwrap().to_owned();
    assert_eq!(plots::git(&root, &["branch", "--show-current"]), branch);
    assert_eq!(listed["base"].as_str().unwrap(), yard.git(&["rev-parse", "HEAD"]));
    let status = yard.world.agent("one");
    assert_eq!(status.branch.as_deref(), Some(branch.as_str()));
    // A restart finds the same tree, and sets nothing up again.
    fs::remove_file(root.join("made.log")).unwrap();
    yard.world.ok(&["agent", "restart", "one"]);
    yard.world.ok(&["wait", "--agent", "one", "--for", "idle", "--timeout", "35"]);
    assert!(root.join("a.txt").exists() && !root.join("made.log").exists());
    fs::write(root.join("made.log"), "built\n").unwrap();
    yard.world.ok(&["agent", "stop", "one"]);
    wait_for("no workspace", || yard.list().is_empty());
    assert!(!root.exists());
    assert_eq!(fs::read_to_string(root.with_file_name("torn")).unwrap(), "7\n");
    assert_eq!(yard.git(&["branch", "--list", "wheelhouse/*"]), "");
    // What nobody relies on may come to the record a moment later.
    wait_for("it on record", || yard.world.ok(&["events"]).contains("workspace.removed"));
    let story = yard.world.ok(&["events"]);
    let at = |kind: &str| story.find(kind).unwrap_or_else(|| panic!("{kind}: {story}"));
    assert!(at("workspace.making") < at("workspace.made"), "{story}");
    assert!(at("agent.left") < at("workspace.removed"), "its tree was proven empty before");
}

#[test]
fn work_is_kept_and_said_and_rescued_only_when_that_is_asked_for() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT), ("two", OBEDIENT)], "");
    yard.up(&["one", "two"]);
    yard.say("one", "echo changed > a.txt; echo new > n.txt; echo KEY=2 > .env");
    yard.world.ok(&["agent", "stop", "one", "two"]);
    wait_for("only the workspace with work in it", || {
        let listed = yard.list();
        listed.len() == 1 && listed[0]["note"].is_string() && listed[0]["state"] == "ready"
    });
    assert!(!yard.root("two").exists());
    let refused = yard.world.run(&["workspace", "clean", "one"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("1 changed file: a.txt; 1 new file: n.txt"), "{refused:?}");
    assert!(refused.err.contains("hint: Merge its work"), "{refused:?}");
    // It goes on where it was.
    yard.world.ok(&["agent", "start", "one"]);
    assert_eq!(fs::read_to_string(yard.root("one").join("n.txt")).unwrap(), "new\n");
    let runs = yard.world.run(&["workspace", "clean", "one", "--rescue"]);
    assert!(runs.err.contains("its agent runs"), "{runs:?}");
    yard.world.ok(&["agent", "stop", "one"]);
    wait_for("a workspace that rests", || {
        yard.workspace("one").is_some_and(|one| one["state"] == "ready")
    });
    let cleaned = yard.world.json(&["workspace", "clean", "one", "--rescue"]);
    let name = cleaned["rescues"][0]["rescue"].as_str().unwrap();
    assert_eq!(yard.git(&["show", &format!("{name}:.env")]), "KEY=2");
    assert_eq!(yard.git(&["show", &format!("{name}:n.txt")]), "new");
    assert!(!yard.root("one").exists() && yard.list().is_empty());
    let listed = yard.world.json(&["workspace", "rescue"]);
    assert_eq!(listed[0]["name"].as_str(), Some(name));
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
    let unknown = yard.world.run(&["workspace", "clean", "one"]);
    assert!(unknown.err.contains("hint: Give agents one with"), "{unknown:?}");
}

#[test]
fn an_agent_whose_workspace_cannot_be_made_or_set_up_does_not_start_and_says_why() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT)], "setup = 'echo no network; exit 3'");
    let _ = yard.world.run(&["up", "crew"]);
    yard.world.wait_for_status("an agent that was not started", |status| {
        let note = status.agents[0].note.clone().unwrap_or_default();
        note.contains("the set-up command of its workspace failed")
    });
    let seen = yard.world.ok(&["agent", "read", "one", "--scrollback"]);
    assert!(seen.contains("no network") && seen.contains("exit code 3"), "{seen}");
    wait_for("no workspace", || yard.list().is_empty());
    fs::create_dir_all(yard.root("one")).unwrap();
    fs::write(yard.root("one").join("mine"), "mine\n").unwrap();
    let refused = yard.world.run(&["up", "crew"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("is there already"), "{refused:?}");
    assert_eq!(fs::read_to_string(yard.root("one").join("mine")).unwrap(), "mine\n");
    assert_eq!(yard.git(&["branch", "--list", "wheelhouse/*"]), "");
    assert_eq!(
        yard.world.ok(&["workspace", "list"]),
        "No workspaces: all agents work in the project\n"
    );
}

#[test]
fn a_hub_that_is_killed_while_workspaces_are_made_leaves_none_half_made() {
    let names: Vec<String> = (0..6).map(|number| format!("a{number}")).collect();
    let agents: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), OBEDIENT)).collect();
    let yard = Yard::new(FILES, &agents, "");
    for round in 0..4 {
        let mut up = yard.world.command(&["up", "crew"]).spawn().unwrap();
        wait_for("something that is being made", || {
            fs::read_dir(yard.project().join(".git/worktrees")).is_ok_and(|one| one.count() > round)
        });
        for pid in yard.world.players("hub") {
            super::support::process::kill(pid, rustix::process::Signal::KILL);
        }
        up.wait().unwrap();
        yard.world.ok(&["down", "--force"]);
        wait_for("nothing", || {
            yard.list().is_empty()
                && yard.git(&["branch", "--list", "wheelhouse/*"]).is_empty()
                && yard.git(&["worktree", "list"]).lines().count() == 1
        });
    }
    yard.up(&["a0", "a5"]);
    assert_eq!(yard.list().len(), 6);
}

#[test]
fn a_hub_that_is_killed_while_it_rescues_and_removes_loses_nothing() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT)], "");
    let mut cuts = 0;
    for round in 0..8 {
        yard.up(&["one"]);
        let root = yard.root("one");
        let texts: Vec<String> = (0..40).map(|n| format!("work {n} of round {round}\n")).collect();
        for (n, text) in texts.iter().enumerate() {
            fs::create_dir_all(root.join(format!("d{}", n % 4))).unwrap();
            fs::write(root.join(format!("d{}/f{n}.txt", n % 4)), text).unwrap();
        }
        yard.world.ok(&["agent", "stop", "one"]);
        wait_for("a workspace that is kept", || {
            yard.workspace("one").is_some_and(|one| one["note"].is_string())
        });
        let mut clean = yard.world.command(&["workspace", "clean", "one", "--rescue"]);
        let mut clean = clean.stdout(std::process::Stdio::null()).spawn().unwrap();
        let (wants_ref, wants_files) = (round % 2 == 0, round % 4 == 1);
        wait_for("a moment to kill it at", || {
            let refs = yard.git(&["for-each-ref", "refs/wheelhouse/rescue"]).lines().count();
            let is_going = !root.join("d3/f3.txt").exists();
            clean.try_wait().unwrap().is_some()
                || (wants_ref && refs > round)
                || (wants_files && is_going)
                || (!wants_ref && !wants_files)
        });
        for pid in yard.world.players("hub") {
            super::support::process::kill(pid, rustix::process::Signal::KILL);
        }
        cuts += usize::from(!clean.wait().unwrap().success());
        let listed = yard.git(&["rev-list", "--objects", "--glob=refs/*"]);
        for (n, text) in texts.iter().enumerate() {
            let id = plots::hash(&yard.project(), text);
            let file = root.join(format!("d{}/f{n}.txt", n % 4));
            let is_there = fs::read_to_string(&file).is_ok_and(|now| now == *text);
            assert!(is_there || listed.contains(&id), "{} is lost", file.display());
        }
        wait_for("an end of it", || {
            let listed = yard.workspace("one");
            listed.is_none_or(|one| one["state"] == "ready")
        });
        if yard.workspace("one").is_some() {
            yard.world.ok(&["workspace", "clean", "one", "--rescue"]);
        }
        assert!(!root.exists());
    }
    println!("{cuts} of 8 were cut off");
    assert_eq!(yard.git(&["branch", "--list", "wheelhouse/*"]), "");
}

#[test]
fn what_was_rescued_is_brought_back_as_it_was() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT)], "copy = ['.env']");
    fs::write(yard.project().join(".env"), "KEY=1\n").unwrap();
    yard.up(&["one"]);
    let root = yard.root("one");
    yard.say(
        "one",
        "echo mine >> a.txt; git commit -q -a -m mine; echo staged > s.txt; git add s.txt; \
         echo more >> s.txt; echo new > n.txt; rm sub/b.txt; echo KEY=2 > .env",
    );
    let state = || plots::git(&root, &["status", "--porcelain", "--ignored"]);
    let before = state();
    let base = yard.workspace("one").unwrap()["base"].clone();
    yard.world.ok(&["agent", "stop", "one"]);
    wait_for("a workspace that is kept", || {
        yard.workspace("one").is_some_and(|one| one["note"].is_string())
    });
    let refused = yard.world.run(&["workspace", "rescue", "--restore", "one"]);
    assert!(refused.err.contains("Nothing was rescued as `one`"), "{refused:?}");
    assert!(refused.err.contains("hint: List the rescues"), "{refused:?}");
    let cleaned = yard.world.json(&["workspace", "clean", "one", "--rescue"]);
    let name = cleaned["rescues"][0]["rescue"].as_str().unwrap().to_owned();
    assert!(!root.exists());

    let said = yard.world.ok(&["workspace", "rescue", "--restore", &name]);
    assert!(said.contains(&root.display().to_string()), "{said}");
    assert_eq!(state(), before);
    assert_eq!(fs::read_to_string(root.join(".env")).unwrap(), "KEY=2\n");
    assert_eq!(plots::git(&root, &["show", ":s.txt"]), "staged");
    assert_eq!(plots::git(&root, &["log", "-1", "--format=%s"]), "mine");
    wait_for("a workspace that is kept again", || {
        yard.workspace("one").is_some_and(|one| one["state"] == "ready")
    });
    let listed = yard.workspace("one").unwrap();
    assert_eq!(listed["base"], base);
    let diff = yard.world.ok(&["workspace", "diff", "one"]);
    assert!(diff.contains("+mine") && diff.contains("+new"), "{diff}");
    let twice = yard.world.run(&["workspace", "rescue", "--restore", "one"]);
    assert!(twice.err.contains("already has a workspace"), "{twice:?}");
    // Its agent goes on in it, and all of it comes back.
    yard.world.ok(&["agent", "start", "one"]);
    yard.world.ok(&["wait", "--agent", "one", "--for", "idle", "--timeout", "35"]);
    yard.world.ok(&["workspace", "merge", "one"]);
    let shown = yard.git(&["show", "wheelhouse/integration:s.txt"]);
    assert_eq!(shown, "staged\nmore");
    let bad = yard.world.run(&["workspace", "rescue", "--restore", "../../main"]);
    assert!(bad.err.contains("Nothing was rescued"), "{bad:?}");
}

#[test]
fn a_diff_shows_what_is_changed_in_a_workspace_against_its_base_and_the_branch() {
    let yard = Yard::new(FILES, &[("one", OBEDIENT)], "");
    yard.up(&["one"]);
    assert_eq!(yard.world.ok(&["workspace", "diff", "one"]), "");
    yard.say("one", "echo two >> a.txt; git commit -q -a -m mine; echo new > n.txt");
    let all = yard.world.ok(&["workspace", "diff", "one"]);
    assert!(all.contains("+two") && all.contains("+new"), "{all}");
    let some = yard.world.ok(&["workspace", "diff", "one", "a.txt"]);
    assert!(some.contains("+two") && !some.contains("+new"), "{some}");
    let head = yard.world.ok(&["workspace", "diff", "one", "--against", "head"]);
    assert!(!head.contains("+two") && head.contains("+new"), "{head}");
    yard.world.ok(&["workspace", "merge", "one", "--committed"]);
    let branch = yard.world.ok(&["workspace", "diff", "one", "--against", "integration"]);
    assert!(!branch.contains("+two") && branch.contains("+new"), "{branch}");
    let json = yard.world.json(&["workspace", "diff", "one"]);
    assert_eq!(json["files"][0]["path"], "a.txt", "{json}");
    let unknown = yard.world.run(&["workspace", "diff", "nobody"]);
    assert!(unknown.code == Some(1) && unknown.err.contains("nobody"), "{unknown:?}");
}

#[test]
fn an_agent_has_a_set_up_and_a_tear_down_of_its_own_and_one_that_is_added_has_its_own_place() {
    let yard = Yard::in_world(
        World::new(),
        FILES,
        &[("one", OBEDIENT), ("two", OBEDIENT)],
        ("setup = 'echo all > up.log'\ndisposable = ['*.log']", ""),
    );
    let text = fs::read_to_string(yard.project().join("wheelhouse.toml")).unwrap();
    let own = "setup = 'echo own > up.log'\nteardown = 'echo gone > ../torn'\nname = \"one\"";
    yard.world.write_config(&text.replacen("name = \"one\"", own, 1));
    let shown = yard.world.run(&["config", "trust"]);
    assert!(shown.out.contains("sets up its workspace with `echo own > up.log`"), "{shown:?}");
    yard.world.trust();
    yard.up(&["one", "two"]);
    let made = |agent: &str| fs::read_to_string(yard.root(agent).join("up.log")).unwrap();
    assert_eq!((made("one").as_str(), made("two").as_str()), ("own\n", "all\n"));

    let limit = yard.world.run(&["agent", "add", "x", "--cli", "one", "--limit", "memory=4"]);
    assert!(limit.err.contains("`memory=4` is no limit"), "{limit:?}");
    assert!(limit.err.contains("hint: Write it as `512M`"), "{limit:?}");
    let runner = yard.world.run(&["agent", "add", "x", "--cli", "one", "--runner", "bx"]);
    assert!(runner.err.contains("Unknown runner `bx`"), "{runner:?}");
    let add = ["agent", "add", "three", "--cli", "two", "--workspace", "worktree"];
    yard.world.ok(&[&add[..], &["--limit", "processes=400", "--limit", "cpu=1.5"]].concat());
    yard.world.ok(&["wait", "--agent", "three", "--for", "idle", "--timeout", "25"]);
    assert_eq!(made("three"), "all\n");
    yard.say("three", "echo 3 > n.txt");
    // It is the same when it is started again, whatever hub does that.
    for pid in yard.world.players("hub") {
        super::support::process::kill(pid, rustix::process::Signal::KILL);
    }
    yard.world.status();
    yard.world.ok(&["agent", "restart", "three"]);
    yard.world.ok(&["wait", "--agent", "three", "--for", "idle", "--timeout", "25"]);
    yard.say("three", "cp n.txt m.txt");
    assert_eq!(fs::read_to_string(yard.root("three").join("m.txt")).unwrap(), "3\n");
    yard.world.ok(&["agent", "stop", "one"]);
    wait_for("its workspace gone", || yard.workspace("one").is_none());
    assert_eq!(fs::read_to_string(yard.root("one").with_file_name("torn")).unwrap(), "gone\n");
}
