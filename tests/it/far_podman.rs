//! Agents in real containers: the engine is podman, and nothing in between is played.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use super::crash::{assert_contiguous, latest, numbers};
use super::support::clock::wait_for;
use super::support::podman::{IMAGE, Podman};
use super::support::process;
use super::support::world::{PROGRAM, World};
use super::support::yard::Yard;

/// Prints whole numbers without end, each in two writes.
const COUNTER: &str = "for ((i = 0; ; i++)); do printf $((i / 10)); printf '%d\\n' $((i % 10)); \
                       sleep 0.01; done";

const LIMITS: &str = "limits = { memory = \"256M\", cpu = 1.5, processes = 99 }";

/// Where limits are read, for both versions of control groups.
const READ_LIMITS: &str = "cd /sys/fs/cgroup; if [ -e cgroup.controllers ]; then cat memory.max \
     cpu.max pids.max; else cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us \
     cpu/cpu.cfs_period_us pids/pids.max; fi";

/// Returns a world with one agent in a container of its own.
fn in_image(argv: &[&str]) -> Option<(World, Podman)> {
    let mut world = World::new();
    let podman = Podman::start(&mut world)?;
    let posting = format!("\nrunner = \"box\"\n{LIMITS}\ncli = ");
    let crew = world.crew(&[("one", argv)]).replace("\ncli = ", &posting);
    let runner = Podman::runner("box", IMAGE, &Podman::arguments());
    world.write_config(&format!("{runner}{crew}"));
    world.trust();
    Some((world, podman))
}

fn only(podman: &Podman) -> String {
    let containers = podman.containers();
    assert_eq!(containers.len(), 1, "{containers:?}");
    containers[0].clone()
}

/// Kills what carries the stream and the hub in turn; nothing is lost, and it is the same agent.
fn assert_count_goes_on(world: &World, podman: &Podman) {
    let (container, pid) = (only(podman), world.agent("one").pid);
    for round in 0..6 {
        let mut connection = world.connect().unwrap();
        wait_for("output", || latest(&mut connection, "one") > 20);
        let before = latest(&mut connection, "one");
        if round % 2 == 0 {
            Podman::cut(world);
        }
        if round % 3 != 0 {
            process::kill(world.running_status().unwrap().hub.pid, Signal::KILL);
        }
        drop(connection);
        wait_for("new output", || {
            world.connect().is_some_and(|mut line| latest(&mut line, "one") > before + 20)
        });
        let mut connection = world.connect().unwrap();
        let all = numbers(&mut connection, "one", true);
        assert_eq!(all.first(), Some(&0), "round {round}: its beginning is lost");
        assert_contiguous(&all, "one");
        assert_eq!((only(podman), world.agent("one").pid), (container.clone(), pid));
    }
}

fn assert_lost(world: &World, podman: &Podman) {
    let status = world.wait_for_status("its loss", |status| status.agents[0].ending.is_some());
    assert_eq!(status.agents[0].ending.as_deref(), Some("lost"));
    wait_for("no container", || podman.containers().is_empty());
}

#[test]
fn an_agent_in_a_container_outlives_its_line_and_its_hub_and_takes_its_container_along() {
    let Some((world, podman)) = in_image(&["bash", "-c", COUNTER]) else { return };
    world.ok(&["up", "crew"]);
    assert_count_goes_on(&world, &podman);
    let container = only(&podman);
    let limits = podman.ok(&["exec", &container, "bash", "-c", READ_LIMITS]);
    let limits: Vec<&str> = limits.split_whitespace().collect();
    assert_eq!(limits, ["268435456", "150000", "100000", "99"]);

    // What nobody waits for is taken in by whoever stands in the container.
    podman.ok(&["exec", &container, "bash", "-c", "sleep 0.01 & sleep 0.01 & exit"]);
    let states = "cat /proc/[0-9]*/stat 2>/dev/null; true";
    wait_for("no dead processes", || {
        let states = podman.ok(&["exec", &container, "bash", "-c", states]);
        states.lines().all(|line| !line.contains(") Z "))
    });

    // It stands still, and so nobody answers; that is no proof of anything.
    let pid = world.agent("one").pid;
    podman.ok(&["pause", &container]);
    Podman::cut(&world);
    world.wait_for_status("that it is out of reach", |s| s.agents[0].unreachable.is_some());
    podman.ok(&["unpause", &container]);
    world.wait_for_status("that it is back", |status| status.agents[0].unreachable.is_none());
    assert_eq!((only(&podman), world.agent("one").pid), (container, pid));
    let all = numbers(&mut world.connect().unwrap(), "one", true);
    assert_contiguous(&all, "one");

    world.ok(&["agent", "stop", "one"]);
    assert!(podman.containers().is_empty(), "stopped, and its container is there");
    world.ok(&["agent", "start", "one"]);
    podman.ok(&["kill", &only(&podman)]);
    assert_lost(&world, &podman);
    world.ok(&["agent", "start", "one"]);
    podman.ok(&["rm", "--force", "--time", "0", &only(&podman)]);
    assert_lost(&world, &podman);
    world.ok(&["agent", "start", "one"]);
    assert_eq!(world.agent("one").run, 4);
    world.ok(&["down", "--force"]);
    assert!(podman.containers().is_empty(), "all is down, and a container is there");
}

#[test]
fn an_agent_in_a_container_speaks_to_its_hub_and_reaches_nothing_but_its_mounts() {
    let Some((world, podman)) = in_image(&["bash", "--norc"]) else { return };
    let checked = world.ok(&["runner", "check", "box"]);
    assert!(checked.contains(&format!("box (podman {IMAGE}) answers")), "{checked}");
    let project = world.project.display();
    assert!(checked.contains(&format!("{project} is writable")), "{checked}");
    fs::write(world.path("home/secret"), "sentinel-51c0").unwrap();
    world.ok(&["up", "crew"]);
    let enter = |text: &str| world.ok(&["agent", "keys", "one", "--text", text, "enter"]);
    enter("clear; \"$WHEELHOUSE_BIN\" report progress 3/7 told");
    world.wait_for_text("one", "accepted: PROGRESS: [3/7]");
    assert_eq!(world.agent("one").progress.as_deref(), Some("3/7"));
    enter("clear; WHEELHOUSE_TOKEN= \"$WHEELHOUSE_BIN\" report progress 4/7 x; echo code $?");
    world.wait_for_text("one", "code 1");
    assert_eq!(world.agent("one").progress.as_deref(), Some("3/7"));

    let home = world.path("home");
    let home = home.display();
    enter(&format!(
        "clear; pwd > here; for f in /usr/bin/x /usr/local/bin/wheelhouse; do echo x > $f; done; \
         cat {home}/secret; mkdir -p {home}; echo x > {home}/planted; echo tried"
    ));
    world.wait_for_text("one", "\ntried");
    assert_eq!(fs::read_to_string(world.project.join("here")).unwrap().trim(), project.to_string());
    let screen = world.read("one");
    assert_eq!(screen.matches("Read-only file system").count(), 2, "{screen}");
    assert!(!screen.contains("sentinel-51c0"), "{screen}");
    assert!(!world.path("home/planted").exists() && !Path::new("/usr/bin/x").exists());
    world.ok(&["down", "--force"]);
    assert!(podman.containers().is_empty());
}

#[test]
fn a_container_that_cannot_come_up_says_why_and_leaves_nothing() {
    let Some((world, podman)) = in_image(&["bash", "--norc"]) else { return };
    let told = |runner: &str| {
        let text = fs::read_to_string(world.project.join("wheelhouse.toml")).unwrap();
        let crew = text.split_once("[stop]").unwrap().1;
        world.write_config(&format!("{runner}[stop]{crew}"));
        world.trust();
        let checked = world.run(&["runner", "check", "box"]);
        assert_eq!(checked.code, Some(1), "{checked:?}");
        let failed = world.run(&["up", "crew"]);
        assert_eq!(failed.code, Some(1), "{failed:?}");
        assert!(failed.err.contains("hint: Look closer with `wheelhouse runner check box`"));
        assert_eq!(world.agent("one").ending.as_deref(), Some("failed to start"));
        assert!(podman.containers().is_empty(), "a container is left");
        (checked.out, failed.err)
    };
    let (checked, failed) = told(&Podman::runner("box", "localhost/no-such-image", &[]));
    assert!(checked.contains("`podman pull localhost/no-such-image`"), "{checked}");
    assert!(failed.contains("no-such-image"), "{failed}");
    // Without its C library our binary cannot even say that it cannot run.
    let bare = ["--network=none".to_owned()];
    let (checked, failed) = told(&Podman::runner("box", IMAGE, &bare));
    assert!(checked.contains("This binary does not run there"), "{checked}");
    assert!(failed.contains("/usr/local/bin/wheelhouse: no such file"), "{failed}");
    let other = format!("{}program = \"/no/such\"\n", Podman::runner("box", IMAGE, &bare));
    let (checked, failed) = told(&other);
    assert!(checked.contains("`program = \"…\"` in `[runner.box]`"), "{checked}");
    assert!(failed.contains("/no/such"), "{failed}");
}

#[test]
fn an_agent_works_in_a_container_that_is_there_already_and_its_work_comes_back() {
    let mut world = World::new();
    let Some(podman) = Podman::start(&mut world) else { return };
    let script = "on prompt\n  run $PROMPT\n  status done \"ran it, 1 command passed\"\n";
    let settings = "[runner.pet]\nkind = \"podman\"\ncontainer = \"pet\"";
    let agents = [("one", script)];
    let files = [("a.txt", "one\n")];
    let yard = Yard::in_world(world, &files, &agents, (settings, "runner = \"pet\""));
    let world = &yard.world;
    let missing = world.run(&["runner", "check", "pet"]);
    assert!(missing.out.contains("`podman ps`"), "{missing:?}");
    podman.keep_pet("pet", &[Path::new(PROGRAM), &world.path("one.sim")]);
    let pet = only(&podman);
    assert!(world.ok(&["runner", "check", "pet"]).contains("pet (podman pet) answers"));

    yard.up(&["one"]);
    let listed = yard.workspace("one").unwrap();
    let (root, branch) =
        (listed["root_there"].as_str().unwrap(), listed["branch"].as_str().unwrap());
    let git = |words: &[&str]| podman.ok(&[&["exec", "pet", "git", "-C", root], words].concat());
    assert_eq!(git(&["rev-parse", "HEAD"]), yard.git(&["rev-parse", "HEAD"]));
    yard.say("one", "echo two >> a.txt; git commit -q -a -m mine; echo new > n.txt");
    assert_eq!(git(&["log", "-1", "--format=%s"]), "mine");
    // Whoever lists what is there has it fetched first.
    assert_eq!(yard.workspace("one").unwrap()["files"], serde_json::json!(["a.txt", "n.txt"]));
    assert_eq!(yard.git(&["log", "-1", "--format=%s", branch]), "mine");
    let diff = world.ok(&["workspace", "diff", "one"]);
    assert!(diff.contains("+two") && diff.contains("+new"), "{diff}");

    // One that stands still has ended everything in it, but not the files.
    podman.ok(&["stop", "--time", "0", "pet"]);
    let status = world.wait_for_status("its loss", |status| status.agents[0].ending.is_some());
    assert_eq!(status.agents[0].ending.as_deref(), Some("lost"));
    let failed = world.run(&["agent", "start", "one"]);
    assert!(failed.err.contains("wheelhouse runner check pet"), "{failed:?}");
    podman.ok(&["start", "pet"]);
    wait_for("a workspace that is kept", || {
        yard.workspace("one").is_some_and(|one| one["state"] == "ready")
    });
    yard.up(&["one"]);
    assert_eq!(git(&["status", "--porcelain"]), "?? n.txt");
    let merged = world.json(&["workspace", "merge", "one"]);
    assert_eq!(merged["state"], "done", "{merged}");
    assert_eq!(yard.git(&["show", "wheelhouse/integration:n.txt"]), "new");
    world.ok(&["down", "--force"]);
    assert_eq!(only(&podman), pet, "it is not ours to remove");
    let left = podman.ok(&["exec", "pet", "bash", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]);
    assert!(!left.contains("keeper") && !left.contains("far link"), "{left}");
}

#[test]
fn an_agent_in_a_container_of_its_own_works_in_a_tree_of_its_own() {
    let mut world = World::new();
    let Some(podman) = Podman::start(&mut world) else { return };
    let script = "on prompt\n  run $PROMPT\n  status done \"ran it, 1 command passed\"\n";
    let mut arguments = Podman::arguments();
    for seen in [PROGRAM.into(), world.path("one.sim"), world.path("two.sim")] {
        arguments.push(format!("--volume={0}:{0}:ro", seen.display()));
    }
    let settings = Podman::runner("box", IMAGE, &arguments);
    let files = [("a.txt", "one\n")];
    let agents = [("one", script), ("two", script)];
    let yard = Yard::in_world(world, &files, &agents, (&settings, "runner = \"box\""));
    let world = &yard.world;
    let said = world.ok(&["up", "crew"]);
    assert!(said.contains("on box, in its own worktree: one, two"), "{said}");
    yard.up(&["one", "two"]);
    yard.say("one", "echo two >> a.txt; git commit -q -a -m mine; echo new > n.txt");
    yard.say("two", "echo other >> a.txt");
    assert_eq!(fs::read_to_string(world.project.join("a.txt")).unwrap(), "one\n");
    let listed = yard.workspace("one").unwrap();
    assert_eq!(listed["files"], serde_json::json!(["a.txt", "n.txt"]));
    assert_eq!(yard.git(&["log", "-1", "--format=%s", listed["branch"].as_str().unwrap()]), "mine");
    // Of what the repository's trees share it can change nothing that another would run or rely on.
    let git = world.project.join(".git");
    let git = git.display();
    yard.say("one", &format!(
        "for f in {git}/hooks/pre-commit {git}/config {git}/refs/heads/planted; do echo x >> $f; done; true"
    ));
    for name in ["hooks/pre-commit", "refs/heads/planted"] {
        assert!(!world.project.join(".git").join(name).exists(), "{name}");
    }
    assert!(!fs::read_to_string(world.project.join(".git/config")).unwrap().contains("\nx\n"));

    let merged = world.json(&["workspace", "merge", "one"]);
    assert_eq!(merged["state"], "done", "{merged}");
    assert_eq!(yard.git(&["show", "wheelhouse/integration:n.txt"]), "new");
    world.ok(&["agent", "stop", "one"]);
    wait_for("that its tree goes", || yard.workspace("one").is_none());
    world.ok(&["down", "--force"]);
    assert!(yard.workspace("two").is_some(), "there is work in it");
    assert!(podman.containers().is_empty());
}
