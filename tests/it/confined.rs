//! Agents within bounds: limits that hold for the whole tree, and a sandbox that lets nothing else be
//! changed.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use wheelhouse::api::{PROTOCOL, Request, Response};
use wheelhouse::keeper::{Means, Method};

use super::support::clock::wait_for;
use super::support::plots;
use super::support::process::numbers;
use super::support::visitor::Visitor;
use super::support::world::World;

/// Returns a world with one shell as its agent, which has these settings too.
fn with_shell(settings: &str) -> World {
    let world = World::new();
    let crew = world.crew(&[("one", &["bash", "--norc"])]);
    world.write_config(&crew.replace("\ncli = ", &format!("\n{settings}\ncli = ")));
    world.trust();
    world.ok(&["up", "crew"]);
    world
}

fn enter(world: &World, text: &str) {
    world.ok(&["agent", "keys", "one", "--text", text, "enter"]);
}

/// Returns what the kernel counts for a user's limit of processes.
fn threads_of_this_user() -> usize {
    let own = rustix::process::geteuid().as_raw();
    let is_own = |path: &Path| fs::metadata(path).is_ok_and(|data| data.uid() == own);
    let processes = numbers().map(|pid| Path::new("/proc").join(pid.to_string()));
    let processes = processes.filter(|path| is_own(path));
    processes.map(|path| fs::read_dir(path.join("task")).map_or(0, Iterator::count)).sum()
}

#[test]
fn an_agent_cannot_start_more_processes_than_it_may() {
    let means = Means::here();
    let is_root = rustix::process::geteuid().is_root();
    if means.processes == Method::EachProcess && is_root {
        println!("SKIPPED: nothing here limits the processes of root; {}", means.in_words());
        return;
    }
    // Where each process is held by itself, all that its user runs counts.
    let others =
        if means.processes == Method::EachProcess { threads_of_this_user() + 150 } else { 0 };
    let world = with_shell(&format!("limits = {{ processes = {} }}", others + 12));
    let script = "import subprocess\ntry:\n while True: subprocess.Popen(['sleep', '600'])\n\
                  except OSError as error: print('refused', error.errno)\n";
    fs::write(world.path("fork.py"), script).unwrap();
    enter(&world, &format!("python3 {}; echo", world.path("fork.py").display()));
    world.wait_for_text("one", "refused 11");
    world.ok(&["down", "--force"]);
    assert_no_group_is_left(&world);
}

#[test]
fn an_agent_cannot_take_more_memory_than_it_may() {
    let world = with_shell("limits = { memory = \"64M\" }");
    // One hog is ended or refused, whatever the means; its shell goes on.
    enter(&world, "python3 -c 'a = bytearray(300 << 20); print(len(a))'; echo over $?");
    wait_for("the end of the hog", || {
        let screen = world.read("one");
        screen.contains("over 1") && !screen.contains(&(300_u32 << 20).to_string())
    });
    enter(&world, "python3 -c 'print(len(bytearray(5 << 20)))'");
    world.wait_for_text("one", &(5_u32 << 20).to_string());
    world.ok(&["down", "--force"]);
    assert_no_group_is_left(&world);
}

#[test]
fn an_agent_gets_no_more_of_the_processors_than_it_may() {
    let means = Means::here();
    if means.cpu == Method::EachProcess {
        println!("SKIPPED: nothing here limits parts of a processor; {}", means.in_words());
        return;
    }
    let world = with_shell("limits = { cpu = 0.2 }");
    // Two at once: the limit is that of the whole tree. However busy the machine is, it gets no more.
    let script = "import os,time\nchild = os.fork()\nwall, used = time.monotonic(), time.process_time()\n\
                  while time.monotonic() - wall < 4: pass\n\
                  share = (time.process_time() - used) / (time.monotonic() - wall)\n\
                  print('share %03d of a hundred' % (100 * share), flush=True)\n\
                  if child: os.wait()\n";
    fs::write(world.path("burn.py"), script).unwrap();
    enter(&world, &format!("python3 {}", world.path("burn.py").display()));
    let shares = || -> Vec<u32> {
        let screen = world.read("one");
        let words = screen.lines().filter_map(|line| line.strip_prefix("share "));
        words.filter_map(|rest| rest.split(' ').next()?.parse().ok()).collect()
    };
    wait_for("what both used", || shares().len() == 2);
    assert!(shares().iter().sum::<u32>() <= 30, "{:?}", shares());
    world.ok(&["down", "--force"]);
    assert_no_group_is_left(&world);
}

/// Looks where groups are made for what an agent's keeper should have removed.
fn assert_no_group_is_left(world: &World) {
    let session = world.paths().session.to_string();
    let mut open = vec![Path::new("/sys/fs/cgroup").to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let name = entry.file_name().to_string_lossy().into_owned();
                assert!(!name.contains(&session), "{} is left", entry.path().display());
                open.push(entry.path());
            }
        }
    }
}

/// Says whether bubblewrap works here at all; many containers forbid it.
pub(crate) fn has_sandbox() -> bool {
    let mut command = Command::new("bwrap");
    command.args(["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]);
    let works = command.status().is_ok_and(|status| status.success());
    if !works {
        println!("SKIPPED: bubblewrap does not run here");
    }
    works
}

#[test]
fn a_sandboxed_agent_changes_its_workspace_and_nothing_else() {
    if !has_sandbox() {
        return;
    }
    let world = World::new();
    for name in ["own", "secret"] {
        fs::create_dir(world.path(name)).unwrap();
        fs::write(world.path(name).join("file"), name).unwrap();
    }
    let crew = world.crew(&[("one", &["bash", "--norc"])]);
    let (own, secret) = (world.path("own"), world.path("secret"));
    let settings = format!(
        "sandbox = \"bubblewrap\"\nwritable = [\"{}\"]\nhidden = [\"{}\"]",
        own.display(),
        secret.display()
    );
    world.write_config(&crew.replace("\ncli = ", &format!("\n{settings}\ncli = ")));
    world.trust();
    world.ok(&["up", "crew"]);
    let root = world.root.display();
    let hub = world.paths().hub_socket();
    let script = format!(
        "try() {{ if (eval \"$2\") >/dev/null 2>&1; then echo \"$1 can\"; else echo \"$1 cannot\"; fi; }}\n\
         try write-project 'echo x > {root}/project/new'\n\
         try write-own 'echo x > {root}/own/new'\n\
         try write-home 'echo x > {root}/home/new'\n\
         try write-etc 'echo x > /etc/wheelhouse-test'\n\
         try read-secret 'cat {root}/secret/file'\n\
         try read-record 'ls {root}/state/wheelhouse/*/record.db'\n\
         try see-hub 'test -e {hub}'\n\
         try see-tmp 'test -e {mark}'\n\
         try see-outside 'kill -0 {pid}'\n\
         try report '\"$WHEELHOUSE_BIN\" report progress 1/2 inside'\n\
         echo end of trials\n",
        hub = hub.display(),
        mark = world.path("config").display(),
        pid = std::process::id(),
    );
    fs::write(world.project.join("trials"), script).unwrap();
    enter(&world, "bash trials");
    world.wait_for_text("one", "end of trials");
    let screen = world.read("one");
    for can in ["write-project", "write-own", "report"] {
        assert!(screen.contains(&format!("{can} can\n")), "{screen}");
    }
    for cannot in [
        "write-home",
        "write-etc",
        "read-secret",
        "read-record",
        "see-hub",
        "see-tmp",
        "see-outside",
    ] {
        assert!(screen.contains(&format!("{cannot} cannot")), "{screen}");
    }
    assert_eq!(world.agent("one").progress.as_deref(), Some("1/2"));
    assert_eq!(fs::read_to_string(world.path("own/new")).unwrap(), "x\n");
    assert!(!world.path("home/new").exists());

    // Whoever comes through the door is that agent, with a token or without.
    let mut guest = Visitor::connect_to(&world.paths().agent_door(&"one".parse().unwrap()));
    let (version, token) = ("test".to_owned(), None);
    guest.answer(Request::Hello { protocol: PROTOCOL, version, token }).unwrap();
    let Ok(Response::Me(who)) = guest.answer(Request::Me) else { panic!() };
    assert_eq!(who.agent.as_deref(), Some("one"));
    assert!(guest.answer(Request::Down { force: true }).is_err());

    // The door is there again for the next hub, and the whole tree goes with a stop.
    let hub = world.running_status().unwrap().hub.pid;
    super::support::process::kill(hub, rustix::process::Signal::KILL);
    world.wait_for_status("the next hub", |status| status.hub.pid != hub);
    enter(&world, "\"$WHEELHOUSE_BIN\" report progress 2/2 again");
    world.wait_for_text("one", "PROGRESS: [2/2]");
    world.ok(&["down", "--force"]);
    assert!(world.alive().is_empty(), "{:?}", world.alive());
}

/// The world is below a directory that the sandbox hides, and so is the program in it.
#[test]
fn a_sandboxed_agent_reports_wherever_our_program_lies() {
    if !has_sandbox() {
        return;
    }
    let mut world = World::new();
    world.install("kept here/bücher");
    let crew = world.crew(&[("one", &["bash", "--norc"])]);
    let hidden = world.path("kept here");
    let settings = format!("sandbox = \"bubblewrap\"\nhidden = [\"{}\"]", hidden.display());
    world.write_config(&crew.replace("\ncli = ", &format!("\n{settings}\ncli = ")));
    fs::write(hidden.join("bücher/other"), "").unwrap();
    world.trust();
    world.ok(&["up", "crew"]);
    enter(
        &world,
        "\"$WHEELHOUSE_BIN\" report progress 1/2 inside; ls \"$(dirname \"$WHEELHOUSE_BIN\")\"; echo > \"$WHEELHOUSE_BIN\"; echo over",
    );
    world.wait_for_text("one", "\nover\n");
    let screen = world.read("one");
    assert_eq!(world.agent("one").progress.as_deref(), Some("1/2"), "{screen}");
    // That one file is there, and it cannot be changed.
    assert!(screen.contains("\nwheelhouse\n"), "{screen}");
    assert!(screen.contains("Read-only file system"), "{screen}");
}

/// What a sandboxed agent tries in its workspace: each line says whether it can.
fn trials(world: &World, trials: &[(&str, String)]) -> String {
    let mut script = "try() { if (eval \"$2\") >/dev/null 2>&1; then echo \"$1 can\"; else echo \"$1 cannot\"; fi; }\n".to_owned();
    for (name, command) in trials {
        writeln!(script, "try {name} '{command}'").unwrap();
    }
    let end = format!("end of {}", trials[0].0);
    writeln!(script, "echo {end}").unwrap();
    let root = world.paths().state_dir.join("workspaces/one");
    fs::write(root.join("trials"), script).unwrap();
    enter(world, "clear; bash trials");
    world.wait_for_text("one", &end);
    world.read("one")
}

#[test]
fn a_sandboxed_agent_commits_in_its_own_tree_and_plants_nothing_in_the_repository() {
    if !has_sandbox() {
        return;
    }
    let world = World::new();
    let git = |words: &[&str]| plots::git(&world.project, words);
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "Someone"]);
    git(&["config", "user.email", "someone@example.org"]);
    fs::write(world.project.join("a"), "1\n").unwrap();
    git(&["add", "a"]);
    git(&["commit", "-q", "-m", "first"]);
    git(&["branch", "precious"]);
    let crew = world.crew(&[("one", &["bash", "--norc"])]);
    let settings = "sandbox = \"bubblewrap\"\nworkspace = \"worktree\"";
    let crew = crew.replace("\ncli = ", &format!("\n{settings}\ncli = "));
    world.write_config(&format!("[workspace]\nsetup = 'echo set up > set-up'\n{crew}"));
    world.trust();
    world.ok(&["up", "crew"]);
    let (project, git_dir) = (world.project.display(), world.project.join(".git"));
    let main = git(&["rev-parse", "main"]);
    let dir = git_dir.display();
    let hook = |path: &str| format!("mkdir -p {dir}/hooks; echo touch /tmp/x > {dir}/{path}");
    let tried = [
        ("set-up", "test -f set-up".to_owned()),
        ("commit", "echo 2 > a && git add a && git commit -q -m second".to_owned()),
        (
            "amend",
            "git commit -q --amend -m third && git log -1 --format=%s | grep third".to_owned(),
        ),
        ("plant-hook", hook("hooks/post-checkout")),
        ("plant-config", "git config core.fsmonitor evil".to_owned()),
        ("write-config", format!("echo x >> {dir}/config")),
        ("move-config", format!("mv {dir}/config {dir}/old")),
        ("plant-attributes", format!("echo x > {dir}/info/attributes")),
        ("plant-common", format!("echo x > {dir}/commondir")),
        ("replace-git", format!("mv {dir} {dir}.old")),
        ("move-main", format!("echo {main} > {dir}/refs/heads/main")),
        ("delete-branch", "git branch -D precious".to_owned()),
        ("make-branch", "git branch other".to_owned()),
        ("write-project", format!("echo x > {project}/new")),
        ("write-index", format!("echo x > {dir}/index")),
    ];
    let screen = trials(&world, &tried);
    for (name, _) in &tried[..3] {
        assert!(screen.contains(&format!("{name} can\n")), "{name}: {screen}");
    }
    for (name, _) in tried[3..].iter().filter(|(name, _)| *name != "write-project") {
        assert!(screen.contains(&format!("{name} cannot")), "{name}: {screen}");
    }
    // Where the machine's `/tmp` is, it has one of its own.
    assert!(!world.project.join("new").exists());
    assert_eq!(git(&["rev-parse", "main"]), main);
    let branch = world.json(&["workspace", "list"])[0]["branch"].as_str().unwrap().to_owned();
    assert_eq!(git(&["log", "-1", "--format=%s", &branch]), "third");

    // Git may have packed its branch away, with the directory; it commits all the same after a restart.
    world.ok(&["agent", "stop", "one"]);
    git(&["pack-refs", "--all"]);
    world.ok(&["agent", "start", "one"]);
    let commit = "echo 3 > a && git commit -q -a -m fourth".to_owned();
    let screen = trials(&world, &[("again", commit)]);
    assert!(screen.contains("again can\n"), "{screen}");
    assert_eq!(git(&["log", "-1", "--format=%s", &branch]), "fourth");
    let merged = world.json(&["workspace", "merge", "one", "--committed"]);
    assert_eq!(merged["state"], "done", "{merged}");
}

#[test]
fn doctor_tells_by_what_means_limits_are_held() {
    let world = World::new();
    let found = world.run(&["doctor", "--json"]).out;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let told = |check: &str| {
        let finding = found.as_array().unwrap().iter().find(|one| one["check"] == check);
        finding.unwrap_or_else(|| panic!("{found}"))["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(told("limits"), Means::here().in_words());
    assert!(told("sandbox").contains("bubblewrap"));
}
