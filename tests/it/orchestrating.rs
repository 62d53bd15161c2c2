//! An agent that directs others through the tools of the MCP server, from the goal to its end.

use serde_json::{Value, json};

use super::support::clock::wait_for;
use super::support::squad::plan;
use super::support::world::World;

/// Does what is typed into it.
const SHELL: &str = "[cli.sh]\ncommand = [\"sh\", \"-c\", \"stty -echo; while read line; do eval \\\"$line\\\"; done\"]\n";

#[test]
fn an_orchestrator_brings_four_workers_to_the_end_of_a_goal() {
    let world = World::new();
    world.write_config(&format!("{SHELL}{}", world.squad("name = \"lead\"\ncli = \"sh\"")));
    world.trust();
    world.ok(&["up", "squad"]);
    let lead = world.mcp(Some("lead"));
    let agents = lead.ok("list_agents", json!({}));
    assert_eq!(agents["total"], 5);
    let added = lead.ok("add_tasks", json!({ "tasks": plan() }));
    let id = |at: usize| added["tasks"][at]["id"].clone();
    let wait = |at: usize, states: &[&str]| -> Value {
        for _ in 0..10 {
            let asked = json!({ "tasks": [id(at)], "states": states, "timeout_seconds": 20 });
            let answer = lead.ok("wait", asked);
            if answer["reached"] == true {
                return answer["tasks"][0]["state"].clone();
            }
        }
        panic!("{}", lead.ok("show_task", json!({ "task": id(at) })));
    };

    assert_eq!(wait(1, &["blocked"]), "blocked");
    let shown = lead.ok("show_task", json!({ "task": id(1) }));
    assert!(shown["note"].as_str().unwrap().contains("the name of the database"), "{shown}");
    lead.ok("retry_task", json!({ "task": id(1), "advice": "It is called orders_db" }));

    let failed = json!({ "task": id(2), "kind": "gate.failed" });
    wait_for("a gate that did not pass", || {
        lead.ok("list_events", failed.clone())["events"][0]["text"] == "file:three.txt"
    });
    let shown = lead.ok("show_task", json!({ "task": id(2) }));
    assert_eq!(shown["gates"][0], "file:three.txt", "{shown}");
    lead.ok("retry_task", json!({ "task": id(2), "advice": "Write three.txt in the root" }));

    for at in 0..4 {
        assert_eq!(wait(at, &["done"]), "done");
    }
    let said = lead.ok(
        "report_status",
        json!({ "status": "done", "text": "All four parts stand", "evidence": "4 tasks, 4 gates passed" }),
    );
    assert_eq!(said["outcome"], "accepted", "{said}");
    let events = world.ok(&["events", "--json"]);
    for kind in ["agent.retry", "task.blocked", "task.done", "report.status"] {
        assert!(events.contains(&format!("\"{kind}\"")), "{kind}");
    }
    for name in ["one", "two", "three", "four"] {
        assert!(world.project.join(format!("{name}.txt")).exists(), "{name}");
    }
}
