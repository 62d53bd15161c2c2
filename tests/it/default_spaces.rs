//! Where agents work of which nothing is said: who writes in a repository has a tree of its own, and
//! nobody whom one would not help.

use std::fs;
use std::path::Path;

use wheelhouse::model::WorkspaceKind;

use super::support::clock::wait_for;
use super::support::plots;
use super::support::sshd::Sshd;
use super::support::world::{PROGRAM, World};

/// Says where it is, and stays.
const REST: &[&str] = &["sh", "-c", "pwd; exec cat", "ROOT"];

/// Makes a directory a repository that tracks these files.
fn repository(directory: &Path, files: &[&str]) {
    plots::git(directory, &["init", "-q", "-b", "main"]);
    for name in files {
        let file = directory.join(name);
        if !file.is_dir() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "one\n").unwrap();
        }
        plots::git(directory, &["add", "--force", name]);
    }
    plots::git(directory, &["commit", "-q", "-m", "first"]);
}

/// Returns a world with a team `crew` of agents that rest, each with more settings.
fn crew(agents: &[(&str, &str)]) -> World {
    let world = World::new();
    settle(&world, "", agents);
    world
}

/// Writes such a team into a world, after more settings.
fn settle(world: &World, settings: &str, agents: &[(&str, &str)]) {
    let names: Vec<(&str, &[&str])> = agents.iter().map(|(name, _)| (*name, REST)).collect();
    let mut config = world.crew(&names);
    for (name, more) in agents {
        let name = format!("name = \"{name}\"\n");
        config = config.replace(&name, &format!("{name}{}\n", more.replace("ROOT", world.mark())));
    }
    world.write_config(&format!("{settings}{config}"));
    world.trust();
}

fn kind(world: &World, agent: &str) -> WorkspaceKind {
    world.agent(agent).workspace
}

#[test]
fn who_writes_in_a_repository_has_a_tree_of_its_own_and_is_said_to() {
    let world = crew(&[
        ("api", ""),
        ("away", "cwd = \"ROOT/home\""),
        ("check", "role = \"verifier\""),
        ("inner", "cwd = \"sub\"\nrole = \"lead\""),
        ("module", "cwd = \"module\""),
        ("said", "workspace = \"shared\""),
        ("scratch", "cwd = \"scratch\""),
    ]);
    let inside = world.project.join("module");
    fs::create_dir(&inside).unwrap();
    repository(&inside, &["m.txt"]);
    fs::create_dir(world.project.join("scratch")).unwrap();
    repository(&world.project, &["a.txt", "sub/b.txt", "module"]);
    let home = world.path("home");
    let said = world.ok(&["up", "crew"]);
    let expected = format!(
        "Started api, away, check, inner, module, said, scratch\n\
         \u{20} in its own worktree: api, inner\n\
         \u{20} in {}: away\n\
         \u{20} in the project itself: check, module, said, scratch\n\
         Merge their work with `wheelhouse workspace merge NAME`\n",
        home.display()
    );
    assert_eq!(said.lines().collect::<std::collections::BTreeSet<_>>(), expected.lines().collect());
    world.ok(&["agent", "add", "extra", "--cli", "api"]);
    assert_eq!(kind(&world, "extra"), WorkspaceKind::Worktree);
    let sub = world.project.join("sub");
    world.ok(&["agent", "add", "under", "--cli", "api", "--cwd", sub.to_str().unwrap()]);
    for (agent, cwd) in [("extra", "extra"), ("under", "under/sub")] {
        let root = world.paths().state_dir.join("workspaces");
        assert_eq!(world.agent(agent).cwd, root.join(cwd));
        // Its empty tree goes, and comes again.
        world.ok(&["agent", "stop", agent]);
        wait_for("no tree", || !root.join(agent).exists());
        world.ok(&["agent", "start", agent]);
        assert_eq!(world.agent(agent).cwd, root.join(cwd));
    }
    world.ok(&["agent", "add", "beside", "--cli", "api", "--workspace", "shared"]);
    assert_eq!(kind(&world, "beside"), WorkspaceKind::Shared);

    let spaces = world.paths().state_dir.join("workspaces");
    let cwd = |agent: &str| world.agent(agent).cwd;
    assert_eq!((cwd("api"), cwd("inner")), (spaces.join("api"), spaces.join("inner/sub")));
    assert_eq!((cwd("away"), cwd("module")), (home, inside));
    assert_eq!((cwd("said"), cwd("check")), (world.project.clone(), world.project.clone()));
    let listed = world.ok(&["status"]);
    let line = |agent: &str| listed.lines().find(|line| line.starts_with(agent)).unwrap();
    assert!(line("api").contains(" worktree") && line("check").contains(" shared"), "{listed}");
}

#[test]
fn what_a_file_says_of_all_is_respected() {
    let world = crew(&[("one", ""), ("two", "workspace = \"auto\"")]);
    repository(&world.project, &["a.txt"]);
    let config = fs::read_to_string(world.project.join("wheelhouse.toml")).unwrap();
    world.write_config(&format!("[workspace]\ndefault = \"shared\"\n{config}"));
    world.trust();
    world.ok(&["up", "crew"]);
    assert_eq!(kind(&world, "one"), WorkspaceKind::Shared);
    assert_eq!(kind(&world, "two"), WorkspaceKind::Worktree);
}

#[test]
fn an_agent_elsewhere_works_where_its_runner_says_and_else_in_a_tree_there() {
    let world = World::new();
    let Some(server) = Sshd::start(&world) else { return };
    fs::create_dir(world.path("elsewhere/work")).unwrap();
    let runners =
        format!("{}directory = \"work\"\n{}", server.runner("named"), server.runner("bare"));
    let agents = [
        ("asks", "runner = \"named\"\nworkspace = \"auto\""),
        ("bare", "runner = \"bare\""),
        ("named", "runner = \"named\""),
    ];
    settle(&world, &runners, &agents);
    repository(&world.project, &["a.txt"]);
    let said = world.ok(&["up", "crew"]);
    for line in [
        "on bare, in its own worktree: bare",
        "on named, in its own worktree: asks",
        "on named: named",
    ] {
        assert!(said.contains(&format!("  {line}\n")), "{said}");
    }
    world.wait_for_text("named", "/elsewhere/work");
    let listed = world.json(&["workspace", "list"]);
    let places = listed.as_array().unwrap().iter().map(|one| one["root_there"].as_str().unwrap());
    let elsewhere = world.path("elsewhere");
    assert!(places.clone().all(|place| Path::new(place).starts_with(&elsewhere)), "{listed}");
    assert_eq!(places.count(), 2, "{listed}");
}

#[test]
fn a_project_that_only_lies_in_the_tree_of_another_is_worked_in_itself() {
    let world = crew(&[("one", "")]);
    repository(&world.root, &["home/notes.txt"]);
    assert!(world.ok(&["up", "crew"]).contains("in the project itself: one"));
    assert_eq!(kind(&world, "one"), WorkspaceKind::Shared);
}

#[test]
fn who_is_at_work_in_the_project_stays_there_when_the_first_commit_comes() {
    let world = crew(&[("one", "")]);
    plots::git(&world.project, &["init", "-q", "-b", "main"]);
    world.ok(&["up", "crew"]);
    assert_eq!(kind(&world, "one"), WorkspaceKind::Shared);
    repository(&world.project, &["a.txt"]);
    world.ok(&["agent", "restart", "one"]);
    assert_eq!((kind(&world, "one"), world.agent("one").run), (WorkspaceKind::Shared, 2));
    // It begins anew, and then where everybody begins.
    world.ok(&["agent", "stop", "one"]);
    world.ok(&["agent", "start", "one"]);
    assert_eq!(kind(&world, "one"), WorkspaceKind::Worktree);
    world.ok(&["agent", "restart", "one"]);
    assert_eq!(kind(&world, "one"), WorkspaceKind::Worktree);
}

/// Makes a file, and then another out of it.
const STAGES: &str = "speed 10\non prompt containing \"Task first:\"\n  run pwd > first.txt\n  \
     status done \"wrote first.txt + 1 of 1 checks passed\"\n\
     on prompt containing \"Task second:\"\n  run cat first.txt > second.txt\n  \
     status done \"wrote second.txt + 1 of 1 checks passed\"\n";

#[test]
fn stages_of_a_playbook_hand_their_files_on_in_the_project() {
    let world = World::new();
    repository(&world.project, &["a.txt"]);
    fs::write(world.path("stages.sim"), STAGES).unwrap();
    let command = serde_json::json!([PROGRAM, "sim", world.path("stages.sim")]);
    let cli = format!("[cli.stage]\nlike = \"sim\"\ncommand = {command}\n");
    let agent = |name: &str| format!("[[team.crew.agents]]\nname = \"{name}\"\ncli = \"stage\"\n");
    world.write_config(&(cli + &agent("one") + &agent("two")));
    world.trust();
    let task = |id: &str, agent: &str, more: &str| {
        format!("[[tasks]]\nid = '{id}'\ntitle = 'Do {id}'\nagent = '{agent}'\n{more}\n")
    };
    let playbook = "[playbook]\nname = 'own'\npurpose = 'x'\npattern = 'hub'\nteam = 'crew'\n"
        .to_owned()
        + &task(
            "first",
            "one",
            "[[tasks.artifacts]]\npath = 'first.txt'\nformat = 'text'\nwhat = 'x'",
        )
        + &task("second", "two", "needs = ['first']\ngates = ['test -s second.txt']");
    fs::write(world.path("own.toml"), playbook).unwrap();
    let path = world.path("own.toml");
    let told = world.performed(&[path.to_str().unwrap(), "--keep"]);
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{:?}", told.last());
    let second = fs::read_to_string(world.project.join("second.txt")).unwrap();
    assert_eq!(Path::new(second.trim()), world.project);
    assert_eq!(kind(&world, "one"), WorkspaceKind::Shared);
    // The same team has trees of its own when nobody hands anything on.
    world.ok(&["down", "--force"]);
    wait_for("an end of all", || world.running_status().is_none());
    world.ok(&["up", "crew"]);
    assert_eq!(kind(&world, "one"), WorkspaceKind::Worktree);
}
