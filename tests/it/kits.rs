//! What agents work with, from the settings to the command and the files of their clis.

use std::fs;

use serde_json::Value;

use super::support::clock::wait_for;
use super::support::world::World;

/// Writes down what it was called with and what it finds, then waits.
const WITNESS: &str = r#"#!/bin/sh
printf '%s\n' "$@" > "$0.args.new"
env > "$0.env"
mv "$0.args.new" "$0.args"
exec sleep 1000
"#;

/// Returns a world in which a program that writes down how it is called is the cli of this name.
fn world(cli: &str, settings: &str) -> World {
    let world = World::new();
    let program = world.path("witness");
    fs::write(&program, WITNESS).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let program = program.display();
    world.write_config(&format!(
        "[stop]\ngrace_seconds = 1\n[cli.{cli}]\ncommand = [\"{program}\"]\n{settings}"
    ));
    world
}

fn arguments(world: &World) -> String {
    let file = world.path("witness.args");
    wait_for("the program was called", || file.exists());
    fs::read_to_string(file).unwrap()
}

fn kit_file(world: &World, agent: &str, name: &str) -> String {
    let directory = world.paths().agent_kit(&agent.parse().unwrap());
    fs::read_to_string(directory.join(name)).unwrap()
}

#[test]
fn claude_gets_its_tools_in_flags_and_its_servers_in_a_file_without_any_value() {
    let world = world(
        "claude",
        "[mcp.notes]\ncommand = ['notes', '--stdio']\nenv = { NOTES_KEY = 'hush' }\n\
         [role.worker]\nmcp = ['wheelhouse', 'notes']\n\
         [[team.crew.agents]]\nname = 'a'\ncli = 'claude'\ntools = ['read', 'shell(cargo *)']\n",
    );
    world.trust();
    world.ok(&["up", "crew"]);
    let told = arguments(&world);
    assert!(told.contains("--tools=Read,Glob,Grep,Bash\n"), "{told}");
    let allowed =
        "--allowedTools=Read,Glob,Grep,Bash(cargo),Bash(cargo *),mcp__wheelhouse,mcp__notes\n";
    assert!(told.contains(allowed), "{told}");
    assert!(told.contains("--strict-mcp-config\n"), "{told}");
    let file = kit_file(&world, "a", "mcp.json");
    let servers: Value = serde_json::from_str(&file).unwrap();
    let own = &servers["mcpServers"]["wheelhouse"];
    assert_eq!(own["args"], serde_json::json!(["mcp"]));
    assert_eq!(own["env"]["WHEELHOUSE_TOKEN"], "${WHEELHOUSE_TOKEN}");
    assert_eq!(servers["mcpServers"]["notes"]["env"]["NOTES_KEY"], "${NOTES_KEY}");
    let found = fs::read_to_string(world.path("witness.env")).unwrap();
    assert!(found.contains("NOTES_KEY=hush\n"), "{found}");
    let token = found.lines().find_map(|line| line.strip_prefix("WHEELHOUSE_TOKEN=")).unwrap();
    for told in [&told, &file] {
        assert!(!told.contains(token) && !told.contains("hush"), "{told}");
    }
    let mode = fs::metadata(world.paths().agent_kit(&"a".parse().unwrap()).join("mcp.json"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&mode.unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    world.ok(&["down", "--force"]);
}

#[test]
fn what_a_cli_cannot_be_held_to_is_refused_before_anything_starts() {
    let asked = "[[team.crew.agents]]\nname = 'a'\ncli = 'codex'\ntools = ['shell(cargo *)']\n";
    let world = world("codex", asked);
    let said = world.run(&["config", "check"]);
    assert_ne!(said.code, Some(0));
    let message = "The cli `codex` cannot be allowed `shell(cargo *)`";
    assert!(said.out.contains(message) && said.out.contains("hint: "), "{said:?}");

    // Who joins later is held to it as well, or does not join.
    let asked = "[role.worker]\ntools = ['read']\n[cli.loop]\ncommand = ['sleep', '1000']\n\
                 [[team.crew.agents]]\nname = 'a'\ncli = 'claude'\n";
    let world = self::world("claude", asked);
    world.trust();
    world.ok(&["up", "crew"]);
    assert!(arguments(&world).contains("--permission-mode=dontAsk\n"));
    let said = world.run(&["agent", "add", "b", "--cli", "loop"]);
    assert!(said.err.contains("The cli `loop` cannot be told which tools it may use"), "{said:?}");
    let said = world.run(&["agent", "add", "b", "--cli", "claude", "--", "sleep", "1000"]);
    assert!(said.err.contains("cannot be told which tools it may use"), "{said:?}");
    world.ok(&["down", "--force"]);
}

#[test]
fn a_command_that_says_it_already_is_not_told_twice() {
    let world = world("claude", "[[team.crew.agents]]\nname = 'a'\ncli = 'claude'\nmode = 'ask'\n");
    let config = fs::read_to_string(world.project.join("wheelhouse.toml")).unwrap();
    let command =
        format!("[\"{}\", \"--permission-mode\", \"plan\"]", world.path("witness").display());
    let own = format!("command = [\"{}\"]", world.path("witness").display());
    world.write_config(&config.replace(&own, &format!("command = {command}")));
    world.trust();
    let said = world.run(&["up", "crew"]);
    assert!(said.err.contains("has a `--permission-mode` of its own"), "{said:?}");
    assert!(said.err.contains("hint: "), "{said:?}");
}

#[test]
fn a_playbook_says_what_its_agents_work_with_and_scripted_ones_need_no_telling() {
    let playbook = "[playbook]\nname = 'p'\npurpose = 'x'\npattern = 'hub'\n\
         [[agents]]\nname = 'a'\ncli = 'claude'\ntools = ['read']\nmcp = ['wheelhouse']\n\
         [[tasks]]\nid = 'x'\ntitle = 'x'\nagent = 'a'\n";
    let world = world("claude", "[role.worker]\ndeny_tools = ['web']\n");
    world.trust();
    let file = world.path("p.toml");
    fs::write(&file, playbook).unwrap();
    let file = file.to_str().unwrap();
    let plan = world.json(&["run", file, "--dry-run"]);
    assert_eq!(plan["agents"][0]["tools"], serde_json::json!(["read"]));
    assert_eq!(plan["agents"][0]["deny_tools"], serde_json::json!(["web"]));
    let said = world.run(&["run", file, "--with", "sim", "--headless", "--timeout", "35"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!world.path("witness.args").exists(), "scripted agents took all parts");

    let mut run = world.command(&["run", file, "--headless", "--timeout", "1"]);
    run.output().unwrap();
    let told = arguments(&world);
    assert!(told.contains("--tools=Read,Glob,Grep\n"), "{told}");
    assert!(told.contains("--disallowedTools=WebFetch,WebSearch\n"), "{told}");
    world.ok(&["down", "--force"]);
}
