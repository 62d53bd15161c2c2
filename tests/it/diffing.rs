//! What agents changed: from the command line and in the dashboard, with real git and a real hub.

use std::fs;
use std::process::Command;

use serde_json::Value;
use wheelhouse::model::AgentState;

use crate::support::clock::wait_for;
use crate::support::world::{PROGRAM, World};
use crate::terminal::Terminal;

fn git(world: &World, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e@x"]).args(words);
    let status = command.current_dir(&world.project).status().unwrap();
    assert!(status.success(), "{words:?}");
}

fn write(world: &World, name: &str, text: &str) {
    fs::write(world.project.join(name), text).unwrap();
}

/// Returns a world with one agent at rest, in a repository with one commit.
fn world() -> World {
    let world = World::new();
    world.write_config(&format!(
        "[cli.ready]\ncommand = ['{PROGRAM}', 'sim']\nlike = 'sim'\n\
         [[team.crew.agents]]\nname = 'ready'\ncli = 'ready'\nworkspace = 'shared'\n"
    ));
    write(&world, "main.rs", "fn main() {\n    run(1);\n}\n");
    git(&world, &["init", "-q", "-b", "main"]);
    git(&world, &["add", "--all"]);
    git(&world, &["commit", "-q", "-m", "one"]);
    world.trust();
    world.ok(&["up", "crew"]);
    world.wait_for_status("it is ready", |status| status.agents[0].state == AgentState::Idle);
    world
}

#[test]
fn the_command_tells_what_changed_and_against_what() {
    let world = world();
    assert!(world.ok(&["agent", "diff", "ready", "--stat"]).starts_with("0 files, +0 -0"));
    write(&world, "main.rs", "fn main() {\n    run(2);\n}\n");
    git(&world, &["checkout", "-q", "-b", "own"]);
    git(&world, &["commit", "-q", "-a", "-m", "two"]);
    write(&world, "evil \u{1b}[2J.txt", "a\u{1b}]0;x\u{7}b\tc\n");
    let said = world.ok(&["agent", "diff", "ready", "--against", "integration"]);
    insta::assert_snapshot!(said, @r"
    diff --git a/evil \u{1b}[2J.txt b/evil \u{1b}[2J.txt
    new file mode 100644
    --- /dev/null
    +++ b/evil \u{1b}[2J.txt
    @@ -0,0 +1,1 @@
    +a\u{1b}]0;x\u{7}b	c
    diff --git a/main.rs b/main.rs
    --- a/main.rs
    +++ b/main.rs
    @@ -1,3 +1,3 @@
     fn main() {
    -    run(1);
    +    run(2);
     }
    ");
    let head = world.json(&["agent", "diff", "ready", "--against", "head"]);
    assert_eq!(head["files"].as_array().unwrap().len(), 1);
    assert_eq!(head["files"][0]["hunks"][0]["lines"][0]["new"], 1);
    let some = world.json(&["agent", "diff", "ready", "main.rs", "--against", "main", "--stat"]);
    assert_eq!((&some["files"][0]["added"], &some["files"][0]["hunks"]), (&1.into(), &Value::Null));
    for (words, hint) in [
        (["agent", "diff", "ready", "--against", "nowhere"], "Name a commit or a branch"),
        (["agent", "diff", "ready", "--stat", "other.rs"], "List the changed files"),
        (["agent", "diff", "reddy", "--against", "base"], "Known agents: ready"),
    ] {
        let said = world.run(&words);
        assert!(said.code == Some(1) && said.err.contains(hint), "{said:?}");
    }
    world.ok(&["down", "--force"]);
}

#[test]
fn many_files_are_told_in_as_many_answers_as_it_takes() {
    let world = world();
    let long = "a line of some length, so that it adds up\n".repeat(4000);
    for number in 0..70 {
        write(&world, &format!("new{number:02}.txt"), if number < 12 { &long } else { "short\n" });
    }
    let told = world.json(&["agent", "diff", "ready"]);
    let files = told["files"].as_array().unwrap();
    assert_eq!(files.len(), 70);
    for file in files {
        let lines = file["hunks"][0]["lines"].as_array().unwrap().len();
        assert_eq!(Some(lines as u64), file["added"].as_u64(), "{}", file["path"]);
    }
    world.ok(&["down", "--force"]);
}

#[test]
fn a_directory_without_git_is_named_with_what_to_do() {
    let world = World::with_crew(&[("one", &["sleep", "600"])]);
    world.ok(&["up", "crew"]);
    let said = world.run(&["agent", "diff", "one"]);
    assert!(said.code == Some(1) && said.err.contains("hint: Git compares files"), "{said:?}");
    world.ok(&["down", "--force"]);
}

#[test]
fn a_comment_on_a_line_in_the_dashboard_reaches_the_agent() {
    let world = world();
    write(&world, "main.rs", "fn main() {\n    run(2);\n}\n");
    let mut terminal = Terminal::attach(&world, 140, 44);
    terminal.wait_for("1 ○ ready");
    terminal.press(b"D");
    terminal.wait_for("ready · 1 file +1 −1 · against base");
    terminal.wait_for("+     run(2);");
    write(&world, "main.rs", "fn main() {\n    run(3);\n}\n");
    terminal.wait_for("+     run(3);");
    write(&world, "later.py", "def later():\n\treturn 1\n");
    terminal.wait_for("? later.py");
    terminal.press(b"jjjc");
    terminal.wait_for("Comment on main.rs:2");
    terminal.press(b"Why three?\r");
    terminal.wait_for("┃ Why three?");
    terminal.press(b"s");
    terminal.wait_for("Sent to ready: r1");
    terminal.press(b"\x1b");
    terminal.wait_until("the panes again", |screen| !screen.contains("against base"));
    wait_for("the agent has it", || world.read("ready").contains("Why three?"));
    let seen = world.read("ready");
    assert!(seen.contains("main.rs:2") && seen.contains("run(3);"), "{seen}");
    terminal.press(b"q");
    terminal.wait_for("Detached. Agents keep running");
    terminal.assert_restored();
    world.ok(&["down", "--force"]);
}
