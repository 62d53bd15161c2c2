//! Bounds that go with an agent wherever it comes from: one that another starts, one of a playbook,
//! and one elsewhere.

use std::fs;

use serde_json::{Value, json};

use super::confined::has_sandbox;
use super::support::sshd::Sshd;
use super::support::world::{PROGRAM, World};

/// The words that say that a shell may write a file, or not.
fn try_to_write(world: &World, agent: &str, file: &std::path::Path) -> bool {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let path = file.display();
    let text =
        format!("clear; (echo x > {path}) 2>&- && echo {name} 'c'an || echo {name} 'c'annot");
    world.ok(&["agent", "keys", agent, "--text", &text, "enter"]);
    world.wait_for_text(agent, &format!("{name} can"));
    !world.read(agent).contains(&format!("{name} cannot"))
}

/// Returns a world whose agent `top` may start others, with these settings of its own.
fn with_top(world: &World, more: &str, top: &str) {
    let crew = world.crew(&[("hands", &["bash", "--norc"])]);
    let crew = crew
        .replace("name = \"hands\"", &format!("name = \"top\"\nrole = \"orchestrator\"\n{top}"));
    world.write_config(&format!(
        "{more}{crew}[team.crew.spawn]\nclis = [\"hands\"]\nagents_max = 4\n"
    ));
    world.trust();
    world.ok(&["up", "crew"]);
}

/// Lets `top` start another by itself, and returns what the record has of it.
fn started_by_top(world: &World) -> Value {
    let text = "\"$WHEELHOUSE_BIN\" agent add helper --cli hands";
    world.ok(&["agent", "keys", "top", "--text", text, "enter"]);
    world.wait_for_text("top", "Started helper");
    assert_eq!(world.agent("helper").started_by.as_deref(), Some("top"));
    world.seat("helper")["member"]["added"]["posting"].clone()
}

#[test]
fn one_that_an_agent_starts_is_in_the_same_sandbox_and_within_the_same_limits() {
    if !has_sandbox() {
        return;
    }
    let world = World::new();
    let own = world.path("own");
    fs::create_dir(&own).unwrap();
    let bounds = format!(
        "sandbox = \"bubblewrap\"\nwritable = [\"{}\"]\nlimits = {{ processes = 400 }}",
        own.display()
    );
    with_top(&world, "", &bounds);
    let posting = started_by_top(&world);
    assert_eq!(posting["confinement"]["limits"]["processes"], 400, "{posting}");
    let writable = json!([own]);
    assert_eq!(posting["confinement"]["sandbox"]["writable"], writable, "{posting}");
    for agent in ["top", "helper"] {
        assert!(try_to_write(&world, agent, &own.join(format!("{agent}-own"))), "{agent}");
        let outside = world.path("home").join(format!("{agent}-home"));
        assert!(!try_to_write(&world, agent, &outside), "{agent}");
        assert!(!outside.exists());
    }
    assert!(own.join("helper-own").exists());
    // A person may give another place; an agent may not get out by asking for one.
    let text =
        "\"$WHEELHOUSE_BIN\" agent add other --cli hands --workspace shared --limit processes=9";
    world.ok(&["agent", "keys", "top", "--text", text, "enter"]);
    world.wait_for_text("top", "Started other");
    let posting = world.seat("other")["member"]["added"]["posting"].clone();
    assert_eq!(posting["confinement"]["limits"]["processes"], 400, "{posting}");
    assert!(!try_to_write(&world, "other", &world.path("home/other-home")));
}

#[test]
fn a_sandbox_elsewhere_holds_there_and_goes_with_those_that_are_started_there() {
    let world = World::new();
    let Some(server) = Sshd::start(&world) else { return };
    if !has_sandbox() {
        return;
    }
    let box_of = format!("{}directory = \"work\"\n", server.runner("box"));
    let work = world.path("elsewhere/work");
    fs::create_dir(&work).unwrap();
    with_top(&world, &box_of, "runner = \"box\"\nsandbox = \"bubblewrap\"");
    let posting = started_by_top(&world);
    assert_eq!(posting["runner"]["name"], "box", "{posting}");
    assert!(posting["confinement"]["sandbox"].is_object(), "{posting}");
    for agent in ["top", "helper"] {
        assert_eq!(world.agent(agent).runner.as_deref(), Some("box"));
        let own = work.join(format!("{agent}-own"));
        assert!(try_to_write(&world, agent, &own) && own.exists(), "{agent}");
        // Where the machine's `/tmp` is, it has one of its own: there it may write what nobody sees.
        for folder in ["elsewhere", "home", "project"] {
            let outside = world.path(folder).join(format!("{agent}-{folder}"));
            try_to_write(&world, agent, &outside);
            assert!(!outside.exists(), "{agent} in {folder}");
        }
    }
    // Whoever starts it again, it is where it was.
    world.ok(&["agent", "restart", "helper"]);
    let again = work.join("helper-again");
    assert!(try_to_write(&world, "helper", &again) && again.exists());
}

#[test]
fn agents_of_a_playbook_run_where_and_within_what_it_says() {
    let world = World::new();
    let Some(server) = Sshd::start(&world) else { return };
    if !has_sandbox() {
        return;
    }
    let home = world.path("home");
    let script = format!(
        "speed 10\non prompt\n  run pwd > where-$WHEELHOUSE_AGENT.txt; echo x > {}/$WHEELHOUSE_AGENT\n  \
         status done \"wrote where.txt + 1 of 1 checks passed\"\n",
        home.display()
    );
    fs::write(world.path("hands.sim"), script).unwrap();
    let command = json!([PROGRAM, "sim", world.path("hands.sim")]);
    let cli = format!("[cli.hands]\nlike = \"sim\"\ncommand = {command}\n");
    world.write_config(&format!("{}{cli}", server.runner("box")));
    world.trust();
    // What stands in a sandbox is seen there: its script, too.
    let shown = world.path("hands.sim");
    let agent =
        |name: &str, more: &str| format!("[[agents]]\nname = '{name}'\ncli = 'hands'\n{more}\n");
    let task = |id: &str| format!("[[tasks]]\nid = '{id}'\ntitle = 'Do {id}'\nagent = '{id}'\n");
    let playbook = "[playbook]\nname = 'own'\npurpose = 'x'\npattern = 'hub'\n".to_owned()
        + &agent(
            "boxed",
            &format!(
                "sandbox = 'bubblewrap'\nwritable = ['{}']\nlimits = {{ processes = 400 }}",
                shown.display()
            ),
        )
        + &agent("far", "runner = 'box'")
        + &task("boxed")
        + &task("far");
    fs::write(world.path("own.toml"), playbook).unwrap();
    let path = world.path("own.toml");
    let told = world.performed(&[path.to_str().unwrap(), "--keep"]);
    assert_eq!((told.code, told.state()), (Some(0), "done"), "{:?}", told.last());
    assert!(world.project.join("where-boxed.txt").exists());
    assert!(!home.join("boxed").exists(), "nothing but its workspace can be changed");
    let posting = |agent: &str| world.seat(agent)["member"]["added"]["posting"].clone();
    assert_eq!(posting("boxed")["confinement"]["limits"]["processes"], 400);
    let there = fs::read_to_string(world.path("elsewhere/where-far.txt")).unwrap();
    assert_eq!(there.trim(), world.path("elsewhere").to_str().unwrap());
    assert!(home.join("far").exists(), "and one without bounds can");
    assert_eq!(world.agent("far").runner.as_deref(), Some("box"));
}
