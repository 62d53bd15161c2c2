//! A hub that is killed while an agent reports tells each report once.

use std::fmt::Write as _;
use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use wheelhouse::api::{FromHub, Notice, Request};

use super::support::chance::Chance;
use super::support::clock::wait_for;
use super::support::process;
use super::support::world::{PROGRAM, World};

const REPORTS: usize = 40;

#[test]
fn each_report_is_told_once_however_often_the_hub_is_killed() {
    for (seed, tag) in [(1, " The tag is k7f3."), (2, "")] {
        let world = reporting_world();
        world.ok(&["up", "crew"]);
        world.wait_for_text("one", "? for shortcuts");
        world.ok(&["agent", "keys", "one", "--text", &format!("Report.{tag}")]);
        world.wait_for_text("one", "Report.");
        world.ok(&["agent", "keys", "one", "enter"]);
        world.wait_for_status("work", |status| status.agents[0].state.to_string() == "working");
        let mut chance = Chance::new(seed);
        let mut kills = 0;
        while !world.read("one").contains("all of them") {
            thread::park_timeout(Duration::from_millis(chance.below(400)));
            let Some(status) = world.running_status() else { continue };
            process::kill(status.hub.pid, Signal::KILL);
            kills += 1;
            wait_for("the next hub", || world.running_status().is_some());
        }
        let wanted = REPORTS as u64 + 1;
        world.wait_for_status("the last report", |status| status.agents[0].reports >= wanted);
        // A hub that takes over once more has nothing to add.
        process::kill(world.status().hub.pid, Signal::KILL);
        let settled =
            |status: &wheelhouse::api::Status| status.agents[0].state.to_string() == "done";
        let status = world.wait_for_status("the end", settled);
        let told = told(&world);
        assert_eq!(status.agents[0].reports, wanted, "after {kills} kills: {told:?}");
        assert!(kills > 3, "{kills} kills");
        let pieces = (1..=REPORTS).map(|number| format!("piece number {number}"));
        assert_eq!(told, pieces.chain(["all of them".to_owned()]).collect::<Vec<_>>());
    }
}

#[test]
fn a_subscriber_hears_each_report_with_its_number() {
    let world = reporting_world();
    world.ok(&["up", "crew"]);
    world.wait_for_text("one", "? for shortcuts");
    let mut connection = world.connect().unwrap();
    connection.send(Request::Subscribe).unwrap();
    world.ok(&["agent", "keys", "one", "--text", "Report. The tag is k7f3."]);
    world.wait_for_text("one", "Report.");
    world.ok(&["agent", "keys", "one", "enter"]);
    let mut heard = Vec::new();
    while heard.len() <= REPORTS {
        if let FromHub::Notice(Notice::Report { number, report, .. }) =
            connection.receive().unwrap()
        {
            heard.push((number, report.text));
        }
    }
    let numbers: Vec<u64> = heard.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=REPORTS as u64 + 1).collect::<Vec<_>>());
    assert_eq!(heard[0].1, "piece number 1");
}

/// Returns a world with an agent that reports many things in one turn.
fn reporting_world() -> World {
    let world = World::new();
    let mut script = "on prompt\n  think 1s\n".to_owned();
    for number in 1..=REPORTS {
        write!(script, "  progress {number}/{REPORTS} \"piece number {number}\"\n  wait 100ms\n")
            .unwrap();
    }
    script.push_str("  status done \"all of them\"\n");
    let path = world.path("agent.sim");
    fs::write(&path, script).unwrap();
    let command = serde_json::to_string(&[PROGRAM, "sim", path.to_str().unwrap()]).unwrap();
    world.write_config(&format!(
        "[cli.own]\ncommand = {command}\nlike = \"sim\"\n[[team.crew.agents]]\nname = \"one\"\ncli = \"own\"\n"
    ));
    world.trust();
    world
}

/// Returns the words of the reports that are on file.
fn told(world: &World) -> Vec<String> {
    let path = world.paths().agent_reports(&"one".parse().unwrap());
    let file: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let told = file["told"].as_array().unwrap();
    told.iter().map(|told| told["report"]["text"].as_str().unwrap().to_owned()).collect()
}
