//! What an agent prints is recorded, and handed out without its secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use wheelhouse::recording::{Cast, CastEvent};

use super::support::clock::wait_for;
use super::support::process;
use super::support::world::World;

/// Prints a secret in two pieces, says so, and then echoes what is typed.
const TALKER: &[&str] = &[
    "bash",
    "--norc",
    "-c",
    "printf 'use ghp_a1B2c3D4e5'; printf '\\033[1mF6g7H8i9J0k1\\033[0m\\n'; \
     read -rp 'Overwrite it? [y/N] ' answer; echo \"you said $answer\"; exec cat",
];

fn outputs(cast: &Cast) -> String {
    let mut text = String::new();
    for (_, event) in &cast.events {
        if let CastEvent::Output(output) = event {
            text.push_str(output);
        }
    }
    text
}

fn recorded(world: &World, agent: &str) -> Cast {
    Cast::read(&world.ok(&["agent", "record", agent])).unwrap()
}

#[test]
fn the_last_minutes_are_handed_out_without_secrets_and_can_be_tested() {
    let world = World::with_crew(&[("talker", TALKER)]);
    world.ok(&["up", "crew"]);
    world.wait_for_status("the dialog", |status| status.agents[0].state.to_string() == "waiting");
    let raw = world.paths().agent_casts(&"talker".parse().unwrap())[0].clone();
    let file = world.path("out.cast");
    let said = world.json(&["agent", "record", "talker", "--output", file.to_str().unwrap()]);
    let handed_out = fs::read_to_string(&file).unwrap();
    assert_eq!(said["agent"], "talker");
    assert_eq!(said["blanked"], 22, "{handed_out}");
    assert!(fs::read_to_string(&raw).unwrap().contains("ghp_a1B2c3D4e5"));
    for file in [&raw, &file] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("a1B2") && !text.contains("F6g7") && text.contains("ghp_•"), "{text}");
    let found = world.ok(&["rules", "test", file.to_str().unwrap(), "--agent", "talker", "--json"]);
    assert!(found.contains("\"state\":\"waiting\""), "{found}");
    assert!(text.contains("state waiting by "), "the recording tells what was seen: {text}");
}

#[test]
fn recording_goes_on_after_the_hub_is_killed_and_without_one() {
    let world = World::with_crew(&[("talker", TALKER)]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("talker", "Overwrite");
    world.ok(&["agent", "record", "talker"]);
    process::kill(world.status().hub.pid, Signal::KILL);
    wait_for("the next hub", || world.running_status().is_some());
    world.ok(&["agent", "keys", "talker", "--text", "maybe", "enter"]);
    world.wait_for_text("talker", "you said maybe");
    let whole = outputs(&recorded(&world, "talker"));
    assert!(whole.contains("Overwrite") && whole.contains("you said maybe"), "{whole}");
    let typed_only = recorded(&world, "talker").write();
    assert!(!typed_only.contains("\"i\""), "what is typed is not recorded");

    world.ok(&["down", "--force"]);
    assert!(world.running_status().is_none());
    assert!(outputs(&recorded(&world, "talker")).contains("you said maybe"));
    assert!(world.running_status().is_none(), "reading a recording starts no hub");
}

#[test]
fn a_removed_agent_leaves_no_recording_and_an_unknown_one_is_told() {
    let world = World::with_crew(&[("talker", TALKER)]);
    world.ok(&["up", "crew"]);
    world.wait_for_text("talker", "Overwrite");
    world.ok(&["agent", "record", "talker"]);
    assert!(world.ok(&["doctor"]).contains("1 recordings take"));
    world.ok(&["agent", "stop", "talker"]);
    let files = world.paths().agent_casts(&"talker".parse().unwrap());
    assert!(files[0].exists());
    world.ok(&["agent", "remove", "talker"]);
    wait_for("an end of the recordings", || files.iter().all(|file| !file.exists()));
    let said = world.run(&["agent", "record", "talker"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    world.ok(&["down", "--force"]);
    let said = world.run(&["agent", "record", "talker"]);
    assert!(said.err.contains("Agent `talker` has no recording"), "{said:?}");
}

#[test]
fn nothing_is_recorded_where_nobody_wants_it() {
    let world = World::new();
    world.write_config(&format!("[casts]\nenabled = false\n{}", world.crew(&[("talker", TALKER)])));
    world.trust();
    world.ok(&["up", "crew"]);
    world.wait_for_text("talker", "Overwrite");
    let said = world.run(&["agent", "record", "talker"]);
    assert!(said.err.contains("enabled = false"), "{said:?}");
    assert_eq!(fs::read_dir(world.paths().casts()).unwrap().count(), 0);
}
