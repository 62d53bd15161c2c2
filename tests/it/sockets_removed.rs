//! A hub whose sockets were removed, as a logout may do, is reached again without anyone's help.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::Path;

use wheelhouse::api::{PROTOCOL, Request, Response};

use super::confined::has_sandbox;
use super::support::clock::wait_for;
use super::support::visitor::Visitor;
use super::support::world::World;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn every_command_finds_the_hub_again_after_its_directory_was_removed() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let before = world.status();
    let paths = world.paths();
    let all = paths.runtime_dir.parent().unwrap().to_owned();
    for words in [&["status", "--json"][..], &["agent", "read", "one"], &["config", "reload"]] {
        fs::remove_dir_all(&all).unwrap();
        world.ok(words);
        let after = world.status();
        assert_eq!(after.hub.pid, before.hub.pid, "the same hub serves");
        assert_eq!(after.agents.len(), 2);
    }
    assert_eq!((mode(&all), mode(&paths.runtime_dir)), (0o700, 0o700));
    assert_eq!(mode(&paths.hub_socket()), 0o600);
}

#[test]
fn the_door_of_an_agent_is_opened_again_too() {
    if !has_sandbox() {
        return;
    }
    let world = World::new();
    let crew = world.crew(&[("one", &["bash", "--norc"])]);
    let sandbox = "\nsandbox = \"bubblewrap\"\ncli = ";
    world.write_config(&crew.replace("\ncli = ", sandbox));
    world.trust();
    world.ok(&["up", "crew"]);
    let door = world.paths().agent_door(&"one".parse().unwrap());
    wait_for("the door", || door.exists());
    fs::remove_dir_all(world.paths().runtime_dir).unwrap();
    wait_for("the next door", || door.exists() && mode(&door) == 0o600);
    let mut guest = Visitor::connect_to(&door);
    let (protocol, version, token) = (PROTOCOL, String::new(), None);
    guest.ask(Request::Hello { protocol, version, token });
    let me = guest.ask(Request::Me);
    assert!(matches!(&me, Response::Me(me) if me.agent.as_deref() == Some("one")), "{me:?}");
}

#[test]
fn a_directory_that_is_not_ours_alone_is_not_used_in_place_of_the_one_that_was_removed() {
    let world = World::new();
    world.ok(&["up", "shell"]);
    let paths = world.paths();
    let all = paths.runtime_dir.parent().unwrap().to_owned();
    let elsewhere = world.path("elsewhere");
    let log = || fs::read_to_string(paths.hub_log()).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir_all(&all).unwrap();
    symlink(&elsewhere, &all).unwrap();
    wait_for("the refusal of a link", || log().contains("is a symbolic link or not a directory"));
    fs::remove_file(&all).unwrap();
    DirBuilder::new().mode(0o700).create(&all).unwrap();
    fs::set_permissions(&all, fs::Permissions::from_mode(0o777)).unwrap();
    wait_for("the refusal of what others write", || {
        log().contains("can be written by other users")
    });
    assert!(!paths.hub_socket().exists());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_dir_all(&all).unwrap();
    assert_eq!(world.status().agents.len(), 2);
}
