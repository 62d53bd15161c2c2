//! The real agent CLIs behind a real hub, with a scripted model in place of the network.
//!
//! `.ci/real-agents` installs them and runs these tests, which nothing else does.

use rustix::process::Signal;
use serde_json::{Value, json};
use wheelhouse::api::TaskStatus;
use wheelhouse::model::{AgentState, TaskState};

use super::support::burner::Burners;
use super::support::process;
use super::support::real_agent::{CLAUDE, CODEX, Cli, GEMINI, OPENCODE, RealAgent};
use super::support::squad::plan;

/// How many prompts a CLI gets while the machine is busy.
const CROWD: usize = 20;

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_day_it_is_understood_from_its_first_dialog_on() {
    live_a_day(&CLAUDE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn codex_day_it_is_understood_from_its_first_prompt_on() {
    live_a_day(&CODEX);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn gemini_day_it_is_understood_from_its_first_dialog_on() {
    live_a_day(&GEMINI);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn opencode_day_it_is_understood_from_its_first_prompt_on() {
    live_a_day(&OPENCODE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_night_it_is_refused_interrupted_killed_and_resumed() {
    live_a_night(&CLAUDE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn codex_night_it_is_refused_interrupted_killed_and_resumed() {
    live_a_night(&CODEX);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn gemini_night_it_is_refused_interrupted_killed_and_resumed() {
    live_a_night(&GEMINI);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn opencode_night_it_is_refused_interrupted_killed_and_resumed() {
    live_a_night(&OPENCODE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_load_it_gets_each_prompt_once_on_a_busy_machine() {
    live_in_a_crowd(&CLAUDE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn codex_load_it_gets_each_prompt_once_on_a_busy_machine() {
    live_in_a_crowd(&CODEX);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn gemini_load_it_gets_each_prompt_once_on_a_busy_machine() {
    live_in_a_crowd(&GEMINI);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn opencode_load_it_gets_each_prompt_once_on_a_busy_machine() {
    live_in_a_crowd(&OPENCODE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_orchestrator_brings_four_workers_to_the_end_of_a_goal() {
    orchestrate(&CLAUDE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_words_it_takes_what_looks_like_a_command_for_words() {
    take_words(&CLAUDE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn codex_words_it_takes_what_looks_like_a_command_for_words() {
    take_words(&CODEX);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn gemini_words_it_takes_what_looks_like_a_command_for_words() {
    take_words(&GEMINI);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn opencode_words_it_takes_what_looks_like_a_command_for_words() {
    take_words(&OPENCODE);
}

/// Tells a CLI what it could take for commands of its own, and for a file to fill in.
fn take_words(cli: &'static Cli) {
    let agent = briefed(cli);
    for (number, words) in
        ["!touch ran.txt is words", "/etc/hosts is a path", "#7 is open"].into_iter().enumerate()
    {
        let prompt = format!("{words}. [[sleep:1]][[status:DONE — {number} words]]");
        agent.say(&prompt);
        agent.wait_for_report(AgentState::Done, &format!("{number} words"));
        assert!(agent.model.got(&prompt), "as it was written");
    }
    std::fs::write(agent.file("README.md"), "x").unwrap();
    agent.say("[[sleep:1]][[status:DONE — not filled in]] Say nothing of @READ");
    agent.wait_for_report(AgentState::Done, "not filled in");
    assert!(!agent.model.got("nothing of @README"), "no list filled it in");
    assert!(!agent.file("ran.txt").exists(), "no command ran");
    agent.tell("words");
}

/// Lets a CLI direct four scripted workers through the tools of the MCP server: it cuts a goal into
/// tasks, waits, answers one that is blocked and one whose gate failed, and reports the end.
fn orchestrate(cli: &'static Cli) {
    let agent = RealAgent::lead(cli);
    agent.wait_for_state(AgentState::Idle);
    agent.say(&format!(
        "Goal: build four parts. [[mcp:me=whoami:{{}}]][[mcp:all=list_agents:{{}}]]\
         [[mcp:t=add_tasks:{{\"tasks\":{}}}]]\
         [[until:b=wait:tasks.0.state~blocked:{}]][[mcp:show_task:{{\"task\":\"{{{{t.tasks.1.id}}}}\"}}]]\
         [[mcp:retry_task:{}]][[until:g=list_events:events.0.kind~gate.failed:{}]]\
         [[mcp:show_task:{{\"task\":\"{{{{t.tasks.2.id}}}}\"}}]][[mcp:retry_task:{}]]\
         [[until:d0=wait:tasks.0.state~done:{}]][[until:d1=wait:tasks.0.state~done:{}]]\
         [[until:d2=wait:tasks.0.state~done:{}]][[until:d3=wait:tasks.0.state~done:{}]]\
         [[mcp:end=report_status:{}]][[say:The goal is reached.]]",
        plan(),
        awaited(1, "blocked"),
        advised(1, "It is called orders_db"),
        json!({ "task": named(2), "kind": "gate.failed" }),
        advised(2, "Write three.txt in the root"),
        awaited(0, "done"),
        awaited(1, "done"),
        awaited(2, "done"),
        awaited(3, "done"),
        json!({ "status": "done", "text": "Four parts stand", "evidence": "4 tasks, 4 gates" }),
    ));
    for name in ["one", "two", "three", "four"] {
        agent.wait_for(&format!("{name}.txt"), || agent.file(&format!("{name}.txt")).exists());
    }
    agent.wait_for("the end is reported", || {
        agent.world.ok(&["events", "--agent", "real"]).contains("Four parts stand")
    });
    let tasks = agent.world.status().tasks;
    let is_done = |task: &TaskStatus| task.state == TaskState::Done;
    assert!(tasks.len() == 4 && tasks.iter().all(is_done), "{tasks:?}");
    let events = agent.world.ok(&["events"]);
    for kind in ["agent.retry", "task.blocked", "gate.failed", "gate.passed", "report.status"] {
        assert!(events.contains(kind), "{kind}: {events}");
    }
    assert!(agent.model.got("the name of the database"), "it was told what was needed");
    assert!(!events.contains("You have not reported"), "no report was lost: {events}");
    agent.tell("orchestrated");
}

/// Returns the place of a task's id in what `add_tasks` answered.
fn named(at: usize) -> String {
    format!("{{{{t.tasks.{at}.id}}}}")
}

fn awaited(at: usize, state: &str) -> Value {
    json!({ "tasks": [named(at)], "states": [state], "timeout_seconds": 20 })
}

fn advised(at: usize, advice: &str) -> Value {
    json!({ "task": named(at), "advice": advice })
}

/// Takes a CLI through its first dialogs, a brief, turns, an approval, a question, an error, and
/// the death of the hub.
fn live_a_day(cli: &'static Cli) {
    let agent = briefed(cli);
    let process = agent.status().pid;

    agent.say("Sunrise: one line. [[sleep:1]][[status:DONE — one line]]");
    agent.wait_for_report(AgentState::Done, "one line");
    let prompt = "Morning: build „äöü“.\n\n  It has lines.\n[[say:I will.]][[sleep:2]][[status:DONE — 6 files]]";
    agent.say(prompt);
    agent.wait_for_report(AgentState::Done, "6 files");
    assert!(agent.model.got(prompt), "byte by byte");
    agent.tell("dispatched");

    agent.say("Noon: run it. [[bash:touch made.txt]][[sleep:1]][[status:DONE — it ran]]");
    agent.wait_for_state(AgentState::Waiting);
    assert!(!agent.file("made.txt").exists());
    agent.decide(true);
    agent.wait_for("the approved command ran", || agent.file("made.txt").exists());
    agent.wait_for_report(AgentState::Done, "it ran");
    agent.tell("approved");

    agent.say("Choice: ask. [[ask:Which colour?|Blue|Red]][[sleep:1]][[status:DONE — chosen]]");
    agent.answer("Red");
    agent.wait_for_report(AgentState::Done, "chosen");
    assert!(agent.model.got("Red"), "{}", agent.screen());
    agent.tell("question answered");

    agent.say("Afternoon: fail. [[error:400]]");
    agent.wait_for_state(AgentState::Error);
    agent.tell("failed");

    agent.say("Evening: go on. [[gate:hub]][[say:Still here.]][[status:DONE — went on]]");
    agent.wait_for_state(AgentState::Working);
    kill_hub(&agent);
    agent.model.open("hub");
    agent.wait_for_report(AgentState::Done, "went on");
    assert_eq!(agent.status().pid, process, "the agent lives on");
    for part in ["Brief", "Sunrise", "Morning", "Noon", "Choice", "Evening"] {
        agent.assert_once(part);
    }
    agent.tell("went on without a hub");
}

/// Takes a CLI through a long prompt, a denial, a block, an interrupt, its own death and back.
fn live_a_night(cli: &'static Cli) {
    let agent = briefed(cli);
    let line = |number| format!("{number:03} äöü „quoted“ {}\n", "x".repeat(40));
    let prompt: String = (0..320).map(line).collect();
    assert!(prompt.len() > 20_000);
    let prompt = format!("Dusk: read.\n{prompt}[[status:DONE — 20 KB read]]");
    agent.say(&prompt);
    agent.wait_for_report(AgentState::Done, "20 KB read");
    assert!(agent.model.got(&prompt), "byte by byte");
    agent.assert_once("Dusk");
    agent.tell("long prompt");

    agent.say("Denied: run it. [[bash:touch denied.txt]][[status:BLOCKED — the password]]");
    agent.decide(false);
    agent.wait_for("its turn is over", || {
        matches!(agent.status().state, AgentState::Idle | AgentState::Blocked | AgentState::Done)
    });
    assert!(!agent.file("denied.txt").exists());
    agent.tell("denied");

    agent.say("Stuck: ask. [[sleep:1]][[status:BLOCKED — the key]]");
    agent.wait_for_report(AgentState::Blocked, "the key");
    agent.tell("blocked");

    agent.say("Endless: think. [[sleep:120]][[status:DONE — never]]");
    agent.wait_for_state(AgentState::Working);
    agent.interrupt();
    agent.wait_for("it rests", || {
        matches!(agent.status().state, AgentState::Idle | AgentState::Error)
    });
    agent.tell("interrupted");

    // Events tell it, and a server that has just come up may be asked twice.
    agent.wait_for("its conversation is known", || {
        agent.world.seat("real")["member"]["conversation"].is_string()
    });
    agent.say("Midnight: think. [[sleep:120]][[status:DONE — never]]");
    agent.wait_for("its model was asked", || agent.model.turns("Midnight") == 1);
    process::kill(agent.status().pid.unwrap(), Signal::KILL);
    agent.wait_for_state(AgentState::Exited);
    agent.world.ok(&["agent", "resume", "real"]);
    agent.wait_for("it has come up again", || {
        matches!(agent.status().state, AgentState::Idle | AgentState::Blocked | AgentState::Done)
    });
    agent.say("Dawn: go on. [[sleep:1]][[status:DONE — went on]]");
    agent.wait_for("one conversation", || {
        agent.model.got_together(&["Dusk: read.", "Dawn: go on."])
    });
    agent.wait_for_report(AgentState::Done, "went on");
    for part in ["Stuck", "Midnight", "Dawn"] {
        agent.assert_once(part);
    }
    agent.tell("resumed");
}

/// Hands many prompts to a CLI while something else takes both cores.
fn live_in_a_crowd(cli: &'static Cli) {
    let agent = briefed(cli);
    let _burners = Burners::start();
    let prompt = |number| format!("Load-{number:02}. [[say:Well.]][[status:DONE — load {number}]]");
    let receipts: Vec<String> = (0..CROWD).map(|number| agent.dispatch(&prompt(number))).collect();
    for receipt in &receipts {
        agent.wait_until_taken(receipt);
    }
    agent.wait_for_report(AgentState::Done, &format!("load {}", CROWD - 1));
    for number in 0..CROWD {
        agent.assert_once(&format!("Load-{number:02}."));
    }
    agent.tell("took every prompt once");
}

/// Starts a CLI, and waits until it has taken what its team tells it first.
fn briefed(cli: &'static Cli) -> RealAgent {
    let agent = RealAgent::start(cli, "Brief: be ready. [[sleep:1]][[status:DONE — ready]]");
    agent.wait_for_report(AgentState::Done, "— ready");
    agent.assert_once("Brief");
    assert!(agent.model.got("Report in single lines"), "the protocol is told with it");
    agent.tell("briefed");
    agent
}

/// Kills the hub, and waits for the one that comes in its place.
fn kill_hub(agent: &RealAgent) {
    let hub = agent.world.running_status().unwrap().hub.pid;
    process::kill(hub, Signal::KILL);
    agent.world.wait_for_status("another hub", |status| status.hub.pid != hub);
}
