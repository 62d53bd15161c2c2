//! The demo as a newcomer without a terminal meets it.

use std::fs;
use std::process::{Command, Stdio};

use super::support::clock::now;

#[test]
fn the_demo_tells_its_story_and_leaves_nothing_behind() {
    let world = tempfile::tempdir().unwrap();
    let place = |name: &str| {
        let place = world.path().join(name);
        fs::create_dir(&place).unwrap();
        place
    };
    let (home, temporary) = (place("home"), place("tmp"));
    let began = now();
    let output = Command::new(env!("CARGO_BIN_EXE_wheelhouse"))
        .args(["demo", "--headless"])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", &home)
        .env("TMPDIR", &temporary)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let story = String::from_utf8(output.stdout).unwrap();
    println!("the demo took {:?}", began.elapsed());
    assert!(output.status.success(), "{story}\n{}", String::from_utf8_lossy(&output.stderr));
    for part in ["blocked", "waiting", "answered  yes", "PROGRESS: [3/3]", "STATUS: DONE", "STUCK"]
    {
        assert!(story.contains(part), "no {part} in\n{story}");
    }
    assert!(story.trim_end().lines().last().unwrap().contains("3 done, 1 stuck"), "{story}");
    for directory in [home, temporary] {
        let left: Vec<_> = fs::read_dir(&directory).unwrap().flatten().collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}
