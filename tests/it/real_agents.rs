//! The real agent CLIs behind a real hub, with a scripted model in place of the network.
//!
//! `.ci/agents` installs them; where they are not installed, these tests say so and do nothing.

use rustix::process::Signal;
use wheelhouse::model::AgentState;

use super::support::process;
use super::support::real_agent::{CLAUDE, CODEX, Cli, GEMINI, OPENCODE, RealAgent};

#[test]
fn claude_is_understood_from_its_first_dialog_on() {
    live_a_day(&CLAUDE);
}

#[test]
fn codex_is_understood_from_its_first_prompt_on() {
    live_a_day(&CODEX);
}

#[test]
fn gemini_is_understood_from_its_first_dialog_on() {
    live_a_day(&GEMINI);
}

#[test]
fn opencode_is_understood_from_its_first_prompt_on() {
    live_a_day(&OPENCODE);
}

/// Takes a CLI through its dialogs, a turn, an approval, an error, and the death of the hub.
fn live_a_day(cli: &'static Cli) {
    let Some(agent) = RealAgent::ready(cli) else { return };
    let process = agent.status().pid;

    let prompt = "Morning: build „äöü“.\n[[say:I will.]][[sleep:2]][[status:DONE — 6 files]]";
    agent.say(prompt);
    agent.wait_for_state(AgentState::Working);
    agent.wait_for_state(AgentState::Done);
    assert_eq!(agent.model.turns("Morning"), 1, "{}", agent.screen());
    assert!(agent.model.got(prompt), "byte by byte");

    agent.say("Noon: run it. [[bash:touch made.txt]][[sleep:1]][[status:DONE — it ran]]");
    agent.wait_for_state(AgentState::Waiting);
    agent.wait_until_still();
    assert!(!agent.file("made.txt").exists());
    agent.press("enter");
    agent.wait_for("the approved command ran", || agent.file("made.txt").exists());
    agent.wait_for_state(AgentState::Done);

    agent.say("Afternoon: fail. [[error:400]]");
    agent.wait_for_state(AgentState::Error);

    agent.say("Evening: go on. [[sleep:6]][[say:Still here.]][[status:DONE — went on]]");
    agent.wait_for_state(AgentState::Working);
    kill_hub(&agent);
    agent.wait_for_state(AgentState::Done);
    assert_eq!(agent.status().pid, process, "the agent lives on");
    for part in ["Morning", "Noon", "Evening"] {
        assert_eq!(agent.model.turns(part), 1, "{part}");
    }
}

/// Kills the hub, and waits for the one that comes in its place.
fn kill_hub(agent: &RealAgent) {
    let hub = agent.world.running_status().unwrap().hub.pid;
    process::kill(hub, Signal::KILL);
    agent.world.wait_for_status("another hub", |status| status.hub.pid != hub);
}
