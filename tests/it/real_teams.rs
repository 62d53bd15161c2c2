//! The real agent CLIs held to their tools, and two of them in one team, with a scripted model.
//!
//! As the tests of `real_agents`, these are run by name alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use wheelhouse::model::AgentState;

use super::support::clock::wait_within;
use super::support::model::Model;
use super::support::real_agent::{CLAUDE, CODEX, Cli, PATIENCE, RealAgent, search_path};
use super::support::world::World;

/// Returns where a home of Codex may lie, wherever this clone does: it refuses its helper programs below `/tmp`.
fn homes() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let is_usable = |home: &PathBuf| !home.starts_with("/tmp") && TempDir::new_in(home).is_ok();
    home.filter(is_usable).unwrap_or_else(|| PathBuf::from("/var/tmp"))
}

/// How the scripted model plays the feature build: what a prompt has in it, and what is done then.
const FEATURE_BUILD: &[(&str, &str)] = &[
    (
        "Another agent says that it has finished a task",
        "[[say:STATUS({tag}): DONE — the claim holds + 1 of 1 checks passed]]",
    ),
    (
        "Task interface:",
        "[[write:docs/interface.md:# Interface\\n\\n## Requests\\n\\nPOST /session answers 201\\n\\n## Errors\\n\\n401\\n]]\
         [[say:CONTRACT({tag}): Sessions\\nPOST /session answers 201\\nEND CONTRACT\\n\\n\
         ARTIFACT({tag}): docs/interface.md — markdown\\n\\n\
         STATUS({tag}): DONE — the interface is agreed + docs/interface.md, 1 request, 1 error]]",
    ),
    (
        "Task backend:",
        "[[write:server/session.js:exports.session = () => 201\\n]]\
         [[say:BUILD({tag}): PASS\\n\\nSTATUS({tag}): DONE — the backend answers + server/session.js, 3 of 3 tests pass]]",
    ),
    (
        "Task frontend:",
        "[[write:web/app.js:fetch(\"/session\")\\n]]\
         [[say:BUILD({tag}): PASS\\n\\nSTATUS({tag}): DONE — the form is there + web/app.js, 2 of 2 tests pass]]",
    ),
    (
        "Task tests:",
        "[[write:tests/session.sh:grep -q 201 server/session.js\\n]]\
         [[say:STATUS({tag}): DONE — tests from outside + tests/session.sh, 2 cases]]",
    ),
    (
        "Task whole:",
        "[[tool:exec_command:{\"cmd\": \"sh tests/session.sh\"}]]\
         [[say:BUILD({tag}): PASS\\n\\nSTATUS({tag}): DONE — all of it runs + 2 of 2 tests pass]]",
    ),
    (
        "Task review:",
        "[[write:docs/review.md:# Review\\n\\nVerdict: accept\\n\\n- nothing\\n]]\
         [[say:ARTIFACT({tag}): docs/review.md — markdown\\n\\n\
         STATUS({tag}): DONE — reviewed + docs/review.md, 3 files read, 0 findings]]",
    ),
];

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_kit_it_runs_what_it_may_and_nothing_else() {
    let home = TempDir::new_in(homes()).unwrap();
    let agent = held(
        &CLAUDE,
        &[],
        home.path(),
        "tools = ['read', 'shell(touch *)']\ndeny_tools = ['shell(touch secret.txt)']\nmcp = ['probe']\n",
    );
    agent.say("One. [[bash:touch made.txt]][[status:DONE — made it]]");
    agent.wait_for_report(AgentState::Done, "made it");
    assert!(agent.file("made.txt").exists(), "without a dialog");
    agent.say("Two. [[bash:mkdir other]][[write:written.txt:x]][[bash:touch secret.txt]][[status:DONE — was refused]]");
    agent.wait_for_report(AgentState::Done, "was refused");
    for name in ["other", "written.txt", "secret.txt"] {
        assert!(!agent.file(name).exists(), "{name}");
    }
    use_the_server(&agent);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn codex_kit_it_runs_what_it_may_and_nothing_else() {
    let home = TempDir::new_in(homes()).unwrap();
    let kit = "tools = ['read']\nmcp = ['*', 'probe']\n";
    let agent = held(&CODEX, &["--no-daemon"], home.path(), kit);
    agent.say(
        "One. [[tool:exec_command:{\"cmd\": \"touch made.txt\"}]][[bash:touch asked.txt]]\
         [[write:written.txt:x]][[status:DONE — was refused]]",
    );
    agent.wait_for_report(AgentState::Done, "was refused");
    for name in ["made.txt", "asked.txt", "written.txt"] {
        assert!(!agent.file(name).exists(), "{name}");
    }
    use_the_server(&agent);
    let kit = "tools = ['read', 'edit', 'shell']\n";
    let agent = held(&CODEX, &["--no-daemon"], home.path(), kit);
    agent.say(
        "One. [[tool:exec_command:{\"cmd\": \"touch made.txt\"}]][[write:written.txt:x]]\
         [[status:DONE — made it]]",
    );
    agent.wait_for_report(AgentState::Done, "made it");
    assert!(agent.file("made.txt").exists() && agent.file("written.txt").exists());
}

/// Starts a CLI that is held to its tools, with a server of one tool in reach.
fn held(cli: &'static Cli, arguments: &[&str], home: &Path, kit: &str) -> RealAgent {
    let probe = Path::new("tests/model/probe.py").canonicalize().unwrap();
    let settings = format!(
        "{kit}[mcp.probe]\ncommand = ['python3', '{}']\nenv = {{ PROBE_WORD = 'hush' }}\n",
        probe.display()
    );
    let prompt = "Brief: be ready. [[status:DONE — ready]]";
    let agent = RealAgent::start_with(cli, arguments, Some(home), prompt, &settings);
    agent.wait_for_report(AgentState::Done, "— ready");
    agent
}

/// Lets the CLI use the server that it was given.
fn use_the_server(agent: &RealAgent) {
    let path = agent.file("served.txt");
    let call = format!("[[tool:mcp__probe__touch:{{\"path\": \"{}\"}}]]", path.display());
    agent.say(&format!("Three. {call}[[status:DONE — was served]]"));
    agent.wait_for_report(AgentState::Done, "was served");
    assert_eq!(fs::read_to_string(path).unwrap(), "hush", "by the server, which has its variable");
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_and_codex_build_a_feature_together() {
    let mut world = World::new();
    world.set_variable("PATH", &search_path(&CLAUDE));
    search_path(&CODEX);
    let model = Model::start_with(&world.root, FEATURE_BUILD);
    let home = world.path("home");
    let codex_home = TempDir::new_in(homes()).unwrap();
    let settings = [
        "[stop]\ngrace_seconds = 1\n[role.worker]\ntools = ['read', 'edit', 'shell']\n\
         [role.verifier]\ntools = ['read', 'edit', 'shell']\n",
        &CLAUDE.settle(&[], &home, &model.url),
        &CODEX.settle(&["--no-daemon"], codex_home.path(), &model.url),
    ];
    world.write_config(&settings.concat());
    world.trust();
    // A folder that is trusted already, and a key that is known.
    let project = world.project.display();
    let known = format!(
        r#"{{"hasCompletedOnboarding": true, "customApiKeyResponses": {{"approved": ["sk-ant-dummy"]}},
            "projects": {{"{project}": {{"hasTrustDialogAccepted": true}}}}}}"#
    );
    fs::write(home.join(".claude/.claude.json"), known).unwrap();

    let mut playbook = fs::read_to_string("assets/playbooks/feature-build.toml").unwrap();
    for (name, cli) in
        [("backend", "claude"), ("frontend", "codex"), ("tests", "codex"), ("reviewer", "claude")]
    {
        let named = format!("name = \"{name}\"\ncli = ");
        playbook = playbook.replace(&format!("{named}\"agent\""), &format!("{named}\"{cli}\""));
    }
    assert!(!playbook.contains("cli = \"agent\""));
    let file = world.path("feature-build.toml");
    fs::write(&file, playbook).unwrap();
    let words =
        ["run", file.to_str().unwrap(), "--headless", "--json", "--var", "feature=Sessions"];
    let gate = "test_command=test -s docs/interface.md";
    let mut run = world.command(&[&words[..], &["--var", gate]].concat());
    let said = fs::File::create(world.path("said")).unwrap();
    let mut run = run.stdout(said).stderr(Stdio::inherit()).spawn().unwrap();
    let mut ended = None;
    wait_within(PATIENCE * 3, "the end of the run", || {
        ended = run.try_wait().unwrap();
        ended.is_some()
    });
    let said = fs::read_to_string(world.path("said")).unwrap();
    assert_eq!(ended.unwrap().code(), Some(0), "{said}");
    let last: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(last["state"], "done", "{said}");
    for file in ["docs/interface.md", "server/session.js", "web/app.js", "docs/review.md"] {
        assert!(world.project.join(file).exists(), "{file}");
    }
    let kinds = |task: &str| format!("Task {task}: ");
    for task in ["interface", "backend", "frontend", "tests", "whole", "review"].map(kinds) {
        assert!(model.got(&task), "{task}");
    }
    let report = world.ok(&["history", "r1", "--format", "md"]);
    for part in ["backend", "frontend", "Sessions", "docs/interface.md"] {
        assert!(report.contains(part), "{part} in\n{report}");
    }
}
