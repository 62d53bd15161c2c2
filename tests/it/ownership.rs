//! Whose files are whose: noticed by the real hub, in a real repository, of agents that really write.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::support::clock::wait_for;
use super::support::world::{PROGRAM, World};

/// Returns a world whose agents play these scripts and own these paths, in a repository.
fn crew(agents: &[(&str, &str, &str)]) -> World {
    let world = World::new();
    let mut config = "[stop]\ngrace_seconds = 1\n".to_owned();
    for (name, owns, script) in agents {
        let path = world.path(&format!("{name}.sim"));
        fs::write(&path, format!("speed 1\n{script}")).unwrap();
        let command = serde_json::to_string(&[PROGRAM, "sim", path.to_str().unwrap()]).unwrap();
        let owns = if owns.is_empty() { "[]".to_owned() } else { format!("[\"{owns}\"]") };
        write!(
            config,
            "[cli.{name}]\nlike = \"sim\"\ncommand = {command}\n\
             [[team.crew.agents]]\nname = \"{name}\"\ncli = \"{name}\"\nowns = {owns}\nworkspace = \"shared\"\n"
        )
        .unwrap();
    }
    fs::create_dir_all(file(&world, "api")).unwrap();
    fs::write(file(&world, "api/mod.rs"), "one\n").unwrap();
    git(&world, &["init", "-q"]);
    git(&world, &["add", "api"]);
    git(&world, &["commit", "-q", "-m", "one"]);
    world.write_config(&config);
    world.trust();
    world
}

fn file(world: &World, name: &str) -> PathBuf {
    world.path("project").join(name)
}

fn git(world: &World, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e@x"]).args(words);
    let status = command.current_dir(file(world, "")).status().unwrap();
    assert!(status.success(), "{words:?}");
}

fn up(world: &World, agents: &[&str]) {
    world.ok(&["up", "crew"]);
    for agent in agents {
        world.ok(&["wait", "--agent", agent, "--for", "idle", "--timeout", "60"]);
    }
}

fn add(world: &World, agent: &str, more: &[&str]) -> Value {
    let fixed = ["task", "add", "--title", "work", "--prompt", "do it", "--agent", agent];
    world.json(&[&fixed, more].concat())
}

fn conflicts(world: &World) -> Vec<Value> {
    let items = world.json(&["attention"]);
    let items = items.as_array().unwrap().iter();
    items.filter(|item| item["kind"] == "conflict").cloned().collect()
}

const TRESPASSER: &str = "on prompt containing \"Undo what\"\n  run git checkout -q -- api\n  \
     status done \"put back 1 file, 3 tests pass\"\n\
     on first prompt\n  run echo two > api/mod.rs; echo mine > web.txt\n  \
     status done \"wrote 2 files, 3 tests pass\"\n";

// A turn that nobody sees is waited for in vain, for a while.
const STUBBORN: &str = "on prompt\n  think 1s\n  run echo two > api/mod.rs\n  \
     status done \"wrote 1 file, 3 tests pass\"\n";

const QUIET: &str = "on prompt\n  status done \"nothing, 0 tests\"\n";

#[test]
fn a_claim_with_files_of_another_is_sent_back_until_they_are_put_back() {
    let world = crew(&[("web", "web.txt", TRESPASSER), ("api", "api/**", QUIET)]);
    up(&world, &["web", "api"]);
    add(&world, "web", &["--gate", "file:web.txt"]);
    world.ok(&["wait", "--task", "t1", "--for", "done", "--timeout", "120"]);
    let attempts = world.json(&["task", "show", "t1"])["attempts"].clone();
    assert_eq!((attempts.as_array().unwrap().len(), &attempts[0]["refusals"]), (1, &1.into()));
    assert_eq!(fs::read_to_string(file(&world, "api/mod.rs")).unwrap(), "one\n");
    assert_eq!(conflicts(&world), [Value::Null; 0]);
    world.ok(&["down", "--force"]);
}

#[test]
fn a_conflict_is_shown_with_its_files_and_owner_and_a_person_may_allow_it() {
    let world = crew(&[("web", "", STUBBORN), ("api", "api/**", QUIET)]);
    up(&world, &["web", "api"]);
    add(&world, "web", &["--attempts", "1"]);
    world.run(&["wait", "--task", "t1", "--for", "failed", "--timeout", "120"]);
    let items = conflicts(&world);
    let text = items[0]["text"].as_str().unwrap();
    assert!(text.contains("api/mod.rs") && text.contains("which api owns"), "{text}");
    assert!(world.agent("web").conflict && !world.agent("api").conflict);
    assert!(world.ok(&["status"]).contains("conflict: api/mod.rs"));
    let hint = items[0]["hint"].as_str().unwrap();
    assert!(hint.contains("wheelhouse task allow web"), "{hint}");
    let said = world.run(&["task", "allow", "api"]);
    assert!(said.code == Some(1) && said.err.contains("hint: "), "{said:?}");
    world.ok(&["task", "allow", "web"]);
    assert!(!world.agent("web").conflict);
    world.ok(&["task", "retry", "t1"]);
    world.ok(&["wait", "--task", "t1", "--for", "done", "--timeout", "120"]);
    world.ok(&["down", "--force"]);
}

#[test]
fn the_owner_may_write_and_nobody_is_blamed_for_what_nobody_owns() {
    let world = crew(&[
        ("web", "", "on prompt\n  run echo 1 > free.txt\n  status done \"wrote 1 file\"\n"),
        ("api", "api/**", STUBBORN),
    ]);
    up(&world, &["web", "api"]);
    add(&world, "api", &[]);
    add(&world, "web", &[]);
    for task in ["t1", "t2"] {
        world.ok(&["wait", "--task", task, "--for", "done", "--timeout", "120"]);
    }
    assert_eq!(conflicts(&world), [Value::Null; 0]);
    world.ok(&["down", "--force"]);
}

#[test]
fn a_team_whose_agents_would_own_the_same_files_is_not_started() {
    let world = crew(&[("web", "api/mod.rs", QUIET), ("api", "api/**", QUIET)]);
    let said = world.run(&["up", "crew"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    for words in ["`api/mod.rs` of web and `api/**` of api match the same files", "hint: "] {
        assert!(said.err.contains(words), "{said:?}");
    }
    assert!(world.players("keeper").is_empty());
    world.ok(&["down", "--force"]);
}

#[test]
fn gates_see_schemas_commits_and_contracts() {
    let script = "on prompt\n  contract \"users\"\n    file: api/mod.rs\n    GET /users\n  \
         run echo '{\"port\": 80}' > out.json\n  commit \"two\" out.json\n  \
         status done \"wrote out.json, 3 tests pass\"\n";
    let world = crew(&[("api", "", script)]);
    up(&world, &["api"]);
    let schema = "schema:out.json:{\"required\": [\"port\"]}";
    let gates = ["--gate", schema, "--gate", "git:commits", "--gate", "contract:users"];
    add(&world, "api", &[&gates[..], &["--gate", "limit:60:exit:1:false"]].concat());
    world.ok(&["wait", "--task", "t1", "--for", "done", "--timeout", "120"]);
    let said = world.run(&["task", "add", "--title", "x", "--prompt", "y", "--gate", "schema:a:{"]);
    assert!(said.code == Some(1) && said.err.contains("the schema is not JSON"), "{said:?}");
    world.ok(&["down", "--force"]);
}

#[test]
fn an_artifact_is_checked_against_its_schema_and_is_on_record_with_its_hash() {
    // The line that a sim would run is run by the agent itself, with its own token.
    let script = "on prompt\n  run echo '{}' > bad.json; echo '{\"port\": 1}' > good.json; \
         echo '{\"required\": [\"port\"]}' > s.json\n  \
         run \"$WHEELHOUSE_BIN\" report artifact bad.json plan --schema s.json 2> refused.txt\n  \
         run \"$WHEELHOUSE_BIN\" report artifact ../x plan 2> outside.txt\n  \
         run \"$WHEELHOUSE_BIN\" report artifact good.json plan --schema s.json > taken.txt 2>&1\n  \
         status done \"wrote good.json, 3 tests pass\"\n";
    let world = crew(&[("api", "", script)]);
    up(&world, &["api"]);
    add(&world, "api", &[]);
    world.ok(&["wait", "--task", "t1", "--for", "done", "--timeout", "120"]);
    let read = |name: &str| fs::read_to_string(file(&world, name)).unwrap();
    assert!(read("refused.txt").contains("port"), "{}", read("refused.txt"));
    assert!(read("outside.txt").contains("does not lie in the workspace"));
    assert!(read("taken.txt").contains("accepted"), "{}", read("taken.txt"));
    let artifact = || world.json(&["task", "show", "t1"])["attempts"][0]["artifacts"].clone();
    wait_for("its hash", || artifact()[0]["hash"].as_str().is_some_and(|hash| hash.len() == 64));
    assert_eq!(
        (artifact().as_array().unwrap().len(), artifact()[0]["kind"].clone()),
        (1, "plan".into())
    );
    world.ok(&["down", "--force"]);
}
