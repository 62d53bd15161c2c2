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

#[test]
fn claude_is_refused_interrupted_killed_and_resumed() {
    live_a_night(&CLAUDE);
}

#[test]
fn codex_is_refused_interrupted_killed_and_resumed() {
    live_a_night(&CODEX);
}

#[test]
fn gemini_is_refused_interrupted_killed_and_resumed() {
    live_a_night(&GEMINI);
}

#[test]
fn opencode_is_refused_interrupted_killed_and_resumed() {
    live_a_night(&OPENCODE);
}

/// Takes a CLI through its dialogs, a turn, an approval, an error, and the death of the hub.
fn live_a_day(cli: &'static Cli) {
    let Some(agent) = RealAgent::ready(cli) else { return };
    let process = agent.status().pid;

    let prompt = "Morning: build „äöü“.\n[[say:I will.]][[sleep:2]][[status:DONE — 6 files]]";
    agent.say(prompt);
    agent.wait_for_state(AgentState::Done);
    assert_eq!(agent.model.turns("Morning"), 1, "{}", agent.screen());
    assert!(agent.model.got(prompt), "byte by byte");
    println!("{}: dispatched", cli.name);

    agent.say("Noon: run it. [[bash:touch made.txt]][[sleep:1]][[status:DONE — it ran]]");
    agent.wait_for_state(AgentState::Waiting);
    assert!(!agent.file("made.txt").exists());
    agent.decide(true);
    agent.wait_for("the approved command ran", || agent.file("made.txt").exists());
    agent.wait_for_state(AgentState::Done);
    println!("{}: approved", cli.name);

    agent.say("Afternoon: fail. [[error:400]]");
    agent.wait_for_state(AgentState::Error);
    println!("{}: failed", cli.name);

    agent.say("Evening: go on. [[sleep:6]][[say:Still here.]][[status:DONE — went on]]");
    agent.wait_for_state(AgentState::Working);
    kill_hub(&agent);
    agent.wait_for_state(AgentState::Done);
    assert_eq!(agent.status().pid, process, "the agent lives on");
    for part in ["Morning", "Noon", "Evening"] {
        assert_eq!(agent.model.turns(part), 1, "{part}");
    }
}

/// Takes a CLI through a long prompt, a denial, a block, an interrupt, its own death and back.
fn live_a_night(cli: &'static Cli) {
    let Some(agent) = RealAgent::ready(cli) else { return };
    let line = |number| format!("{number:03} äöü „quoted“ {}\n", "x".repeat(40));
    let prompt: String = (0..320).map(line).collect();
    assert!(prompt.len() > 20_000);
    let prompt = format!("Dusk: read.\n{prompt}[[status:DONE — read]]");
    agent.say(&prompt);
    agent.wait_for_state(AgentState::Done);
    assert!(agent.model.got(&prompt), "byte by byte");
    assert_eq!(agent.model.turns("Dusk"), 1);
    println!("{}: long prompt", cli.name);

    agent.say("Denied: run it. [[bash:touch denied.txt]][[status:BLOCKED — the password]]");
    agent.decide(false);
    agent.wait_for("its turn is over", || {
        matches!(agent.status().state, AgentState::Idle | AgentState::Blocked | AgentState::Done)
    });
    assert!(!agent.file("denied.txt").exists());
    println!("{}: denied", cli.name);

    agent.say("Stuck: ask. [[sleep:1]][[status:BLOCKED — the password]]");
    agent.wait_for_state(AgentState::Blocked);
    println!("{}: blocked", cli.name);

    if cli.asks {
        agent.say("Choice: ask. [[ask:Which colour?|Blue|Red]][[sleep:1]][[status:DONE — chosen]]");
        agent.answer("Red");
        agent.wait_for_state(AgentState::Done);
        println!("{}: question answered", cli.name);
    }

    agent.say("Endless: think. [[sleep:120]][[status:DONE — never]]");
    agent.wait_for_state(AgentState::Working);
    agent.wait_for("it rests", || {
        // A key that comes while it draws may be lost on it.
        agent.world.run(&["agent", "interrupt", "real"]).code == Some(0)
            || matches!(agent.status().state, AgentState::Idle | AgentState::Error)
    });
    println!("{}: interrupted", cli.name);

    process::kill(agent.status().pid.unwrap(), Signal::KILL);
    agent.wait_for_state(AgentState::Exited);
    agent.world.ok(&["agent", "resume", "real"]);
    agent.wait_until_still();
    agent.world.ok(&["wait", "--agent", "real", "--for", "idle,done,blocked", "--timeout", "35"]);
    agent.say("Dawn: go on. [[sleep:1]][[status:DONE — went on]]");
    // The screen may still show the end of an earlier turn.
    agent.wait_for("one conversation", || {
        agent.model.got_together(&["Dusk: read.", "Dawn: go on."])
    });
    agent.wait_for_state(AgentState::Done);
    println!("{}: resumed", cli.name);
}

/// Kills the hub, and waits for the one that comes in its place.
fn kill_hub(agent: &RealAgent) {
    let hub = agent.world.running_status().unwrap().hub.pid;
    process::kill(hub, Signal::KILL);
    agent.world.wait_for_status("another hub", |status| status.hub.pid != hub);
}
