//! What is asked from anywhere: all hubs of a user, and the manual.

use std::fs;
use std::process::Command;

use super::support::world::{PROGRAM, Said, World, run};

/// Runs a command in a project of the world that is not its own.
fn run_in(world: &World, project: &str, words: &[&str]) -> Said {
    let own = world.command(&[]);
    let mut command = Command::new(PROGRAM);
    command.arg("--project").arg(world.path(project)).args(words).env_clear();
    command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir("/").stdin(std::process::Stdio::null());
    run(command).unwrap()
}

#[test]
fn all_hubs_of_a_user_are_shown_whatever_their_project() {
    let world = World::new();
    let nothing = world.ok(&["all"]);
    let is_ours = |text: &str| text.contains(world.mark());
    assert!(!is_ours(&nothing), "{nothing}");
    fs::create_dir(world.path("other")).unwrap();
    world.ok(&["up", "shell"]);
    let said = run_in(&world, "other", &["up", "shell"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let text = world.ok(&["all"]);
    for project in ["project", "other"] {
        let path = world.path(project).display().to_string();
        let line = text.lines().find(|line| line.starts_with(&path));
        assert!(line.is_some_and(|line| line.contains("  2 ")), "{text}");
    }
    let found = world.json(&["all"]);
    let hubs = found["hubs"].as_array().unwrap();
    let ours: Vec<_> = hubs
        .iter()
        .filter(|hub| hub["status"]["hub"]["project"].as_str().is_some_and(is_ours))
        .collect();
    assert_eq!(ours.len(), 2, "{found}");
    assert!(ours.iter().all(|hub| hub["status"]["agents"].as_array().unwrap().len() == 2));
    // A hub that was ended is none, and looking starts none.
    assert_eq!(run_in(&world, "other", &["down", "--force"]).code, Some(0));
    let text = run_in(&world, "other", &["all"]).out;
    let other = world.path("other").display().to_string();
    assert!(!text.contains(&other) && is_ours(&text), "{text}");
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let world = World::new();
    let page = world.ok(&["man"]);
    assert!(page.starts_with(".ie") && page.contains(".TH wheelhouse 1"), "{page}");
    assert!(page.contains("dispatch") && page.contains("events"));
    let directory = world.path("man");
    let said = world.ok(&["man", "--to", directory.to_str().unwrap()]);
    let names: Vec<String> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(said.starts_with(&format!("{} pages in ", names.len())), "{said}");
    for wanted in ["wheelhouse.1", "wheelhouse-up.1", "wheelhouse-agent-read.1"] {
        assert!(names.iter().any(|name| name == wanted), "{wanted}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("hub") || name.contains("hook")), "{names:?}");
    let page = fs::read_to_string(directory.join("wheelhouse-agent-read.1")).unwrap();
    assert!(page.contains("scrollback"), "{page}");
}
