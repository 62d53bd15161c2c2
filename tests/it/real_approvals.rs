//! The examples of approval rules against the dialogs of real agent CLIs: what was not read whole is never approved.
//!
//! As the tests of `real_agents`, these are run by name alone.

use wheelhouse::model::AgentState;

use super::support::real_agent::{CLAUDE, CODEX, Cli, RealAgent};

/// The patterns that our own pages show.
const RULES: &str = "[[approve]]\ncommand = 'cargo test*'\n[[approve]]\ncommand = 'npm test*'\n\
    [[approve]]\ncommand = 'python3 -m pytest*'\n[[approve]]\ncommand = 'git commit*'\n";

/// What such a rule approves.
const PLAIN: [&str; 4] =
    ["cargo test --lib", "npm test -- --ci", "python3 -m pytest -q tests", "git commit -m Mend"];

/// What begins like it and does something else.
const OTHERS: [&str; 5] = [
    "cargo test; touch stolen",
    "npm test && touch stolen",
    "git commit -m \"$(touch stolen)\"",
    "cargo test > stolen",
    "cargo test\ntouch stolen",
];

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_approvals_are_what_the_rules_say_and_nothing_else() {
    approve_by_rules(&CLAUDE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn codex_approvals_are_what_the_rules_say_and_nothing_else() {
    approve_by_rules(&CODEX);
}

fn approve_by_rules(cli: &'static Cli) {
    let prompt = "Brief: be ready. [[status:DONE — ready]]";
    let agent = RealAgent::start_with(cli, cli.arguments, None, prompt, RULES);
    agent.wait_for_report(AgentState::Done, "— ready");
    for (number, command) in PLAIN.into_iter().enumerate() {
        agent.say(&format!("Plain {number}. [[bash:{command}]][[status:DONE — plain {number}]]"));
        agent.wait_for_report(AgentState::Done, &format!("plain {number}"));
    }
    assert_eq!(decided(&agent), PLAIN.len(), "each by a rule, once");
    for (number, command) in OTHERS.into_iter().enumerate() {
        refuse(&agent, &format!("Other {number}"), command);
    }
    // One that does not fit into a row is approved where the program tells it word for word, or a person is asked;
    // with a tail that is another command never.
    let long = format!("cargo test --package {}", "long-name-".repeat(12));
    refuse(&agent, "Long", &format!("{long}; touch stolen"));
    assert_eq!(decided(&agent), PLAIN.len(), "nothing else was approved");
    assert!(!agent.file("stolen").exists());
    agent.tell("approved what the rules say");
}

/// Lets the CLI ask for a command that no rule approves, and says no.
fn refuse(agent: &RealAgent, name: &str, command: &str) {
    agent.say(&format!("{name}. [[bash:{command}]][[say:Well.]]"));
    agent.wait_for_state(AgentState::Waiting);
    agent.decide(false);
    agent.wait_for("its turn is over", || {
        matches!(agent.status().state, AgentState::Idle | AgentState::Done | AgentState::Blocked)
    });
}

/// Returns how many dialogs a rule has answered.
fn decided(agent: &RealAgent) -> usize {
    agent.world.ok(&["events", "--kind", "approval.decided"]).lines().count()
}
