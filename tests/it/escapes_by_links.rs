//! Links that agents put in the place of what the hub has looked at: none is followed outside, neither
//! one that stands there nor one that comes between the look and the deed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::json;
use wheelhouse::api::{AgentStatus, NewAgent, Request};
use wheelhouse::model::Environment;
use wheelhouse::protocol::ReportKind;

use super::support::clock::wait_for;
use super::support::outside::{Outside, SECRET};
use super::support::plots;
use super::support::visitor::Visitor;
use super::support::world::{PROGRAM, World};
use super::support::yard::Yard;

/// Returns a world with a repository, an orchestrator `top` with these settings, and a worker `work` that
/// share it.
fn world(top: &str) -> (World, Outside) {
    let world = World::new();
    let outside = Outside::beside(&world.root);
    for folder in ["real", "sub"] {
        fs::create_dir(world.project.join(folder)).unwrap();
        fs::write(world.project.join(folder).join("f"), "inside").unwrap();
    }
    let script = "speed 10\non prompt containing \"agent add\"\n  run $PROMPT\n\
                  on prompt\n  status done \"wrote 6 files, 12 tests pass\"\n";
    fs::write(world.project.join("hands.sim"), script).unwrap();
    plots::git(&world.project, &["init", "-q", "-b", "main"]);
    plots::git(&world.project, &["add", "--all"]);
    plots::git(&world.project, &["commit", "-q", "-m", "first"]);
    let hands = json!([PROGRAM, "sim", world.project.join("hands.sim")]);
    world.write_config(&format!(
        "[stop]\ngrace_seconds = 1\n[workspace]\ndefault = \"shared\"\n[cli.hands]\nlike = \"sim\"\ncommand = {hands}\n\
         [team.crew.spawn]\nclis = [\"hands\"]\nagents_max = 60\nper_hour_max = 200\n\
         [[team.crew.agents]]\nname = \"top\"\ncli = \"hands\"\nrole = \"orchestrator\"\n\
         workspace = \"shared\"\n{top}\n\
         [[team.crew.agents]]\nname = \"work\"\ncli = \"hands\"\nowns = [\"sub/**\"]\n\
         workspace = \"shared\"\n"
    ));
    world.trust();
    world.ok(&["up", "crew"]);
    outside.happened();
    (world, outside)
}

/// Lets a path lead inside and outside by turns until it is dropped.
struct Swapper {
    is_over: Arc<AtomicBool>,
    swapping: Option<JoinHandle<()>>,
}

impl Swapper {
    fn start(path: PathBuf, targets: [PathBuf; 2]) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = is_over.clone();
        let draft = path.with_extension("draft");
        let swap = move || {
            for target in targets.iter().cycle() {
                symlink(target, &draft).unwrap();
                fs::rename(&draft, &path).unwrap();
                if ended.load(Ordering::Relaxed) {
                    return;
                }
            }
        };
        Self { is_over, swapping: Some(thread::spawn(swap)) }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let swapped = self.swapping.take().unwrap().join();
        assert!(swapped.is_ok() || thread::panicking());
    }
}

/// Puts a link in the place of a directory.
fn replace(path: &Path, target: &Path) {
    fs::rename(path, path.with_extension("away")).unwrap();
    symlink(target, path).unwrap();
}

fn report(call: &str, kind: ReportKind, text: &str) -> Request {
    let (call, text) = (call.to_owned(), text.to_owned());
    Request::Report { call, kind, text, schema: None, tag: None }
}

fn kid(name: &str, cwd: &str) -> Request {
    let agent = json!({ "name": name, "cli": "hands", "cwd": cwd });
    let agent: NewAgent = serde_json::from_value(agent).unwrap();
    Request::Add { agent, environment: Environment(std::env::vars().collect()) }
}

/// Gives an agent a task, which it claims to have done, and returns which gates have passed and which
/// not.
fn claimed(world: &World, agent: &str, gates: &[&str]) -> String {
    let mut words = vec!["task", "add", "--title", "x", "--prompt", "x", "--agent", agent];
    words.extend(gates.iter().flat_map(|gate| ["--gate", gate]));
    let id = world.json(&words)["id"].as_str().unwrap().to_owned();
    let mut events = String::new();
    wait_for("the gates", || {
        events = world.ok(&["events", "--task", &id]);
        gates.iter().all(|gate| {
            let is_told = |line: &str| line.contains("gate.") && line.contains(gate);
            events.lines().any(is_told)
        })
    });
    events
}

fn says(events: &str, kind: &str, gate: &str) -> bool {
    events.lines().any(|line| line.contains(kind) && line.contains(gate))
}

#[test]
fn a_file_that_is_swapped_for_a_link_is_never_read_outside() {
    let (world, outside) = world("");
    let door = world.project.join("door");
    let _swapper = Swapper::start(door, [world.project.join("real"), outside.path.clone()]);
    let mut work = Visitor::speaking(&world, "work");
    let mut outcomes = (0, 0);
    for number in 0..300 {
        let call = format!("call-{number}");
        match work.answer(report(&call, ReportKind::Artifact, "door/f — report")) {
            Ok(_) => outcomes.0 += 1,
            Err(fault) => {
                assert!(fault.message.starts_with("The artifact is refused: "), "{fault:?}");
                outcomes.1 += 1;
            }
        }
    }
    println!("{} taken, {} refused", outcomes.0, outcomes.1);
    assert!(outcomes.1 > 0);
    outside.assert_untouched("artifacts behind a link that comes and goes");
}

#[test]
fn a_folder_of_the_repository_that_became_a_link_is_not_looked_into() {
    let (world, outside) = world("");
    replace(&world.project.join("sub"), &outside.path);
    let events = claimed(&world, "work", &["file:sub/f", "git:clean", "exit:0:true"]);
    assert!(says(&events, "gate.failed", "file:sub/f"), "{events}");
    assert!(says(&events, "gate.passed", "exit:0:true"), "{events}");
    for words in [&["agent", "diff", "work"][..], &["status"], &["events"], &["task", "list"]] {
        assert!(!world.ok(words).contains(SECRET), "{words:?}");
    }
    world.ok(&["agent", "restart", "work"]);
    outside.assert_untouched("a claim");
}

#[test]
fn nothing_is_read_or_run_where_a_link_has_taken_the_place_of_an_agents_directory() {
    let (world, outside) = world("");
    let mut top = Visitor::speaking(&world, "top");
    top.answer(kid("kid", "sub")).unwrap();
    wait_for("a kid", || world.agent("kid").pid.is_some());
    replace(&world.project.join("sub"), &outside.path);
    let fault = Visitor::speaking(&world, "kid")
        .answer(report("a", ReportKind::Artifact, "f — report"))
        .unwrap_err();
    assert!(fault.message.contains("a link leads there"), "{fault:?}");
    // A person's own gate, which may run commands, is not run elsewhere either.
    let gates = ["touch made; cat secret.txt", "file:f", "git:commits"];
    let events = claimed(&world, "kid", &gates);
    for gate in gates {
        assert!(says(&events, "gate.failed", gate), "{gate}: {events}");
    }
    assert!(!world.ok(&["agent", "read", "kid", "--scrollback"]).contains(SECRET));
    let _ = world.run(&["agent", "diff", "kid"]);
    let _ = world.run(&["agent", "restart", "kid"]);
    assert!(world.run(&["agent", "read", "kid"]).code.is_some());
    outside.assert_untouched("a claim");
}

#[test]
fn an_agent_that_another_starts_never_runs_behind_a_link_that_comes_and_goes() {
    let (world, outside) = world("");
    let door = world.project.join("door");
    let swapper = Swapper::start(door, [world.project.join("real"), outside.path.clone()]);
    let mut top = Visitor::speaking(&world, "top");
    let mut refused = 0;
    for number in 0..12 {
        if let Err(fault) = top.answer(kid(&format!("kid{number}"), "door")) {
            assert!(fault.message.contains("is not a directory of the project"), "{fault:?}");
            refused += 1;
        }
    }
    drop(swapper);
    let agents = world.status().agents;
    for pid in agents.iter().filter_map(|agent| agent.pid) {
        let cwd = fs::read_link(format!("/proc/{pid}/cwd")).unwrap();
        assert!(cwd.starts_with(&world.project), "{}", cwd.display());
    }
    println!("{refused} refused, {} agents", agents.len());
    // Where an agent runs is entered, never listed: nothing was opened there.
    outside.assert_untouched("twelve starts");
}

#[test]
fn a_workspace_that_became_a_link_is_neither_read_nor_brought_back_nor_removed() {
    let idle = "on prompt\n  status done \"x\"\n";
    let yard = Yard::new(&[("a.txt", "one\n"), ("f", "inside\n")], &[("one", idle)], "");
    let outside = Outside::beside(&yard.world.root);
    yard.up(&["one"]);
    let root = yard.root("one");
    replace(&root, &outside.path);
    // A git that was started before is in that directory by its path, and is let end.
    let mut calm = 0;
    wait_for("the end of what was under way", || {
        calm = if outside.happened().is_empty() { calm + 1 } else { 0 };
        calm > 200
    });
    let world = &yard.world;
    assert_eq!(world.run(&["agent", "diff", "one"]).code, Some(1));
    for words in [
        &["workspace", "list"][..],
        &["workspace", "merge", "one"],
        &["workspace", "rescue", "one"],
        &["agent", "stop", "one"],
        &["workspace", "clean", "one", "--rescue"],
    ] {
        let said = world.run(words);
        assert!(!said.text().contains(SECRET), "{said:?}");
        outside.assert_untouched(&format!("{words:?} of a workspace that is a link"));
    }
    assert!(!yard.workspace("one").unwrap()["note"].is_null(), "it is kept, and why is said");
    assert_eq!(plots::git(&yard.project(), &["rev-list", "--all", "--count"]), "1");
    assert!(root.is_symlink() && root.with_extension("away").join("a.txt").exists());
    outside.assert_untouched("a workspace that is a link");
}

#[test]
fn a_branch_of_an_agent_is_a_name_and_no_option() {
    let idle = "on prompt\n  status done \"x\"\n";
    let yard = Yard::new(&[("a.txt", "one\n")], &[("one", idle)], "");
    let outside = Outside::beside(&yard.world.root);
    yard.up(&["one"]);
    let root = yard.root("one");
    for name in ["--output=made", "-u", "$(id>made)", "`id`", "gpj.\u{202e}txt", "a;id", "|id"] {
        let name = name.replace("made", &outside.file("made"));
        plots::git(&root, &["update-ref", &format!("refs/heads/{name}"), "HEAD"]);
        plots::git(&root, &["symbolic-ref", "HEAD", &format!("refs/heads/{name}")]);
        fs::write(root.join("a.txt"), &name).unwrap();
        for words in [
            &["status"][..],
            &["workspace", "list"],
            &["agent", "diff", "one"],
            &["agent", "diff", "one", "--against", "main"],
            &["workspace", "merge", "one", "--into", "landing", "--dry-run"],
        ] {
            let said = yard.world.run(words);
            let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!said.text().contains(is_bad), "{words:?}: {said:?}");
        }
        outside.assert_untouched(&name);
    }
}

#[test]
fn an_agent_in_a_sandbox_gets_out_of_it_by_no_other_that_it_starts() {
    if !std::process::Command::new("bwrap")
        .args(["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"])
        .status()
        .is_ok_and(|status| status.success())
    {
        println!("SKIPPED: bubblewrap does not run here");
        return;
    }
    let (world, _outside) = world("sandbox = \"bubblewrap\"");
    world.ok(&["wait", "--agent", "top", "--for", "idle", "--timeout", "35"]);
    world.ok(&["dispatch", "top", &format!("'{PROGRAM}' agent add kid --cli hands"), "--wait"]);
    let is_kid = |agent: &AgentStatus| agent.name == "kid" && agent.pid.is_some();
    wait_for("a kid", || world.status().agents.iter().any(is_kid));
    let tree = world.ok(&["agent", "tree", "kid"]);
    assert!(tree.contains("bwrap"), "{tree}");
    world.ok(&["agent", "restart", "kid"]);
    wait_for("its sandbox", || world.ok(&["agent", "tree", "kid"]).contains("bwrap"));
}
