//! The real agent CLIs as clients of the MCP server: each calls its tools as its model says.
//!
//! `.ci/real-agents` runs these tests, which nothing else does.

use serde_json::json;
use wheelhouse::model::AgentState;

use super::support::real_agent::{CLAUDE, CODEX, Cli, GEMINI, OPENCODE, RealAgent};

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn claude_lists_agents_and_reports_through_the_tools() {
    call_tools(&CLAUDE);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn codex_lists_agents_and_reports_through_the_tools() {
    call_tools(&CODEX);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn gemini_lists_agents_and_reports_through_the_tools() {
    call_tools(&GEMINI);
}

#[test]
#[ignore = "needs the real CLIs: `.ci/real-agents`"]
fn opencode_lists_agents_and_reports_through_the_tools() {
    call_tools(&OPENCODE);
}

/// Lets a CLI ask who it is and who else there is, take and release a lock, give a worker a task and
/// wait for it, and report the end: all of it by tools, and without anyone being asked.
fn call_tools(cli: &'static Cli) {
    let agent = RealAgent::lead(cli);
    agent.wait_for_state(AgentState::Idle);
    let task = json!({ "tasks": [{
        "title": "Build the first part", "prompt": "Build it", "agent": "one",
        "gates": ["file:one.txt"],
    }] });
    let wait = json!({ "tasks": ["{{t.tasks.0.id}}"], "states": ["done"], "timeout_seconds": 20 });
    let end =
        json!({ "status": "done", "text": "Through the tools", "evidence": "1 task, 1 gate" });
    agent.say(&format!(
        "Use your tools. [[mcp:me=whoami:{{}}]][[mcp:all=list_agents:{{}}]]\
         [[mcp:l=take_lock:{{\"name\":\"merge\"}}]][[mcp:t=add_tasks:{task}]]\
         [[until:d=wait:tasks.0.state~done:{wait}]][[mcp:read_screen:{{\"agent\":\"one\",\"lines\":5}}]]\
         [[mcp:u=release_lock:{{\"name\":\"merge\"}}]][[mcp:end=report_status:{end}]][[say:Reported.]]"
    ));
    agent.wait_for("the end is reported", || {
        agent.world.ok(&["events", "--agent", "real"]).contains("Through the tools")
    });
    assert!(agent.file("one.txt").exists(), "its worker has done its part");
    let events = agent.world.ok(&["events"]);
    for kind in ["lock.taken", "lock.released", "task.done", "gate.passed", "report.status"] {
        assert!(events.contains(kind), "{kind}: {events}");
    }
    assert!(agent.model.got("orchestrator"), "it was told who it is");
    assert!(agent.model.got("squad"), "it was told who there is");
    // What its worker came to is its next prompt, and may be taken at once.
    agent.wait_for("its turn is over, and done", || {
        let states = agent.world.ok(&["events", "--agent", "real", "--kind", "agent.state"]);
        states.lines().any(|line| line.ends_with(" done"))
    });
    assert_eq!(agent.model.turns("Use your tools."), 1);
    agent.tell("called tools");
}
